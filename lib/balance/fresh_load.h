// Fresh load: among hosts that have just reported their load, to that with the least.
//
// Why: each of 2,000 clients meets a given host every half minute, while queues change in tens of
// milliseconds. What such a client has measured itself says nothing of now, and what a host
// reported is old as soon as it is used. So the client does not look for reports of random hosts,
// but for hosts with fresh reports. A report goes to the one client that was answered, so that not
// all of them run to the host that has just become idle.
//
//   candidates   two hosts drawn by speed, and the hosts of the last 16 reports
//                (of a host of less weight than the mean: that part of its reports, once each)
//   drawn by     weight * workers / (service time)^2, as reported: squared, so that the slow rest
//                while there is room
//   load         mean + (reported - lead - mean) * e^(-age / T) + sent since, each by worker;
//   `mean`
//                is that of the last reports, T the client's own gap between reports, from 50 to
//                250 ms, and `lead` a fifth of a request each time that a host is twice as fast as
//                the median
//   score        (load + 1) * penalty of a host that fails (slow_penalty.h), the least is best; nor
//                does such a host's service time count where it is below the median
//   bounce       a host with more than `bounce_at` times the mean in flight may refuse the call
//
// The lead is small and ends with the freshness of the report. Speed at its full weight in the
// score, or a lead that lasts, makes a fixed ranking of small errors, and overloads the "best": at
// 200 clients, one worker and 90 % load that costs 15 % of p99, while this costs nothing, and gains
// 10 % where speeds differ (benchmarks/balance_sim).
//
// A report counts for 10 s, after which only this client's requests in flight do, as with a host
// that does not report. The balancer keeps what it needs of the reports beside each other, in a few
// bytes a host, because a pick looks at 18 of them.
//
// Thread-safe without locks: each number is an atomic of its own, and whichever of two reports at
// the same time is kept is as good as the other.
#ifndef WEFT_LIB_BALANCE_FRESH_LOAD_H_
#define WEFT_LIB_BALANCE_FRESH_LOAD_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "balance/running_median.h"
#include "balance/slow_penalty.h"
#include "weft/balancer.h"
#include "weft/reported_load.h"

namespace weft::inline v0::balance {

class FreshLoadBalancer final : public Balancer {
 public:
  // `local` picks where no host has reported, and where none of the candidates can take the call.
  // PeakEwma() by default, by simulation (p99 at 90 % load, 200 clients): ten times better than
  // LeastRequest() where speeds differ (96 against 998 ms), but a third worse where hosts are
  // alike, and up to 1.8 times where neighbours slow them down for seconds.
  FreshLoadBalancer(const FreshLoadOptions& options, std::unique_ptr<Balancer> local);
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override;

 private:
  // What the client has learnt of all hosts together; outlives pickers.
  struct alignas(64) Typical {
    std::atomic<float> load{0};  // mean, by worker
    RunningMedian service_time;  // ns
    SlowPenalty penalty;
  };
  class FreshLoadPicker;

  const FreshLoadOptions options_;
  const std::unique_ptr<Balancer> local_;
  const std::shared_ptr<Typical> typical_ = std::make_shared<Typical>();
  std::shared_ptr<const FreshLoadPicker> last_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_FRESH_LOAD_H_
