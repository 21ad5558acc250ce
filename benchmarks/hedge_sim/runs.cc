#include "hedge_sim/runs.h"

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace weft::hedge_sim {

void RunAll(const std::vector<Setup>& setups, int jobs,
            const std::function<void(size_t index, const Result& result)>& each) {
  std::mutex mutex;
  std::condition_variable ended;
  std::vector<std::optional<Result>> results(setups.size());
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < jobs; ++i) {
    threads.emplace_back([&] {
      for (size_t index = next++; index < setups.size(); index = next++) {
        Result result = Simulate(setups[index]);
        std::lock_guard<std::mutex> lock(mutex);
        results[index] = std::move(result);
        ended.notify_one();
      }
    });
  }
  for (size_t index = 0; index < setups.size(); ++index) {
    std::unique_lock<std::mutex> lock(mutex);
    ended.wait(lock, [&] { return results[index].has_value(); });
    const Result result = *std::move(results[index]);
    results[index] = Result();
    lock.unlock();
    each(index, result);
  }
  for (std::thread& thread : threads) thread.join();
}

double Spread::mean() const {
  double sum = 0;
  for (const double value : values_) sum += value;
  return values_.empty() ? 0 : sum / static_cast<double>(values_.size());
}

double Spread::deviation() const {
  if (values_.size() < 2) return 0;
  const double middle = mean();
  double sum = 0;
  for (const double value : values_) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values_.size() - 1));
}

}  // namespace weft::hedge_sim
