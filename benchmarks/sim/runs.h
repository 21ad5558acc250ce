// Runs of a simulation side by side, and what is kept of each.
#ifndef WEFT_BENCHMARKS_SIM_RUNS_H_
#define WEFT_BENCHMARKS_SIM_RUNS_H_

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace weft::sim {

// `Simulate(setup)` of all setups, `jobs` at a time. `each(index, result)` gets the results in the
// order of the setups, whatever the order in which they end.
template <typename Setup, typename Each>
void RunAll(const std::vector<Setup>& setups, int jobs, Each each) {
  using Result = decltype(Simulate(setups.front()));
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

// Of one number, over seeds.
class Spread {
 public:
  void Add(double value) { values_.push_back(value); }
  size_t count() const { return values_.size(); }
  double operator[](size_t seed) const { return values_[seed]; }
  double mean() const {
    double sum = 0;
    for (const double value : values_) sum += value;
    return values_.empty() ? 0 : sum / static_cast<double>(values_.size());
  }
  // 0 where there are less than two.
  double deviation() const {
    if (values_.size() < 2) return 0;
    const double middle = mean();
    double sum = 0;
    for (const double value : values_) sum += (value - middle) * (value - middle);
    return std::sqrt(sum / static_cast<double>(values_.size() - 1));
  }
  double last() const { return values_.back(); }

 private:
  std::vector<double> values_;
};

}  // namespace weft::sim

#endif  // WEFT_BENCHMARKS_SIM_RUNS_H_
