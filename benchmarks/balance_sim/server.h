// Server: workers, a queue, and what it says of its load.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_SERVER_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_SERVER_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "balance_sim/event_queue.h"
#include "balance_sim/last_second.h"
#include "weft/load_report.h"

namespace weft::balance_sim {

struct Server {
  uint32_t number = 0;
  std::string address;
  uint32_t workers = 1;
  double speed = 1;      // its own
  double speed_now = 1;  // of the work that begins
  bool slowed = false;   // a neighbour is there
  Nanos restarted = -1000 * kSecond;
  uint32_t working = 0;
  std::deque<uint32_t> queue;  // calls
  Nanos side_work = 0;         // of probes and bounces, not yet done

  uint32_t in_flight() const { return working + static_cast<uint32_t>(queue.size()); }
  // A request is done that took so much of a worker's time, `cpu` of it on a processor, and so long
  // in all since `in_flight_then` were in flight.
  void Learn(Nanos worked, double cpu, Nanos took, uint32_t in_flight_then, Nanos now);
  LoadReport Report(Nanos now) const;

 private:
  // The mean of about the last 30, and for each number in flight (larger ones together) of about
  // the last 10: Prequal's latency (NSDI 2024, section 4) with a mean for its median.
  static constexpr double kNews = 1.0 / 30;
  static constexpr double kNewsAtCount = 1.0 / 10;
  double service_time_ = 0;
  std::array<double, 64> latency_ = {};
  LastSecond last_second_;
};

inline void Server::Learn(Nanos worked, double cpu, Nanos took, uint32_t in_flight_then,
                          Nanos now) {
  const auto add = [](double* mean, double value, double news) {
    *mean = *mean == 0 ? value : *mean + (value - *mean) * news;
  };
  add(&service_time_, static_cast<double>(worked), kNews);
  const size_t count = std::min<size_t>(in_flight_then, latency_.size() - 1);
  add(&latency_[count], static_cast<double>(took), kNewsAtCount);
  last_second_.Add(cpu, now);
}

inline LoadReport Server::Report(Nanos now) const {
  // The nearest number for which anything is known.
  const size_t count = std::min<size_t>(in_flight(), latency_.size() - 1);
  double latency = 0;
  for (size_t off = 0; off < latency_.size() && latency == 0; ++off) {
    if (count >= off) latency = latency_[count - off];
    if (latency == 0 && count + off < latency_.size()) latency = latency_[count + off];
  }
  const LastSecond::Sum last = last_second_.Get(now);
  return {.in_flight = in_flight(),
          .workers = workers,
          .service_time = std::chrono::nanoseconds(static_cast<Nanos>(service_time_)),
          .latency = std::chrono::nanoseconds(static_cast<Nanos>(latency)),
          .utilization = static_cast<float>(last.cpu / static_cast<double>(kSecond) / workers),
          .qps = static_cast<float>(last.done)};
}

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_SERVER_H_
