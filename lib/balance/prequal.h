// Prequal (Wydrowski et al., "Load is not what you should balance: Introducing Prequal", NSDI
// 2024): a pool of what hosts said last, and of these the one with the least latency among those
// that have not too much in flight.
//
//   pool     16 reports, none older than `max_age`, one of a host; a new one takes the place of the
//            host's own, else a free place, else the oldest's
//   hot      more in flight than the 2^-0.25 quantile (0.84) of the last 64 reports
//   choice   of those not hot the one with the least latency; where all are hot, with the least in
//            flight. What the client sends to a host since counts as in flight
//   reuse    a report is used max(1, (1 + d) / ((1 - m / n) r_probe - r_remove)) times, rounded at
//            random; d = 1, m the size of the pool, n the number of hosts, r_probe reports a call
//   removal  r_remove of them for each call, by turns the oldest and the worst
//   fewer than two reports: the local policy's
//
// What differs from the paper: its clients probe hosts at random, three times for each call. Here
// reports come with answers, one for each call, from hosts that were chosen, and only where that is
// asked for from probes too (channel/load_prober). So r_probe, PrequalOptions::reports_per_call, is
// 1 or 4 or so, and r_remove a third of it as there, at most 1. Latency is the mean, not the
// median, of what the host saw. And there is a penalty for hosts that fail (slow_penalty.h): they
// count as hot.
#ifndef WEFT_LIB_BALANCE_PREQUAL_H_
#define WEFT_LIB_BALANCE_PREQUAL_H_

#include <memory>
#include <vector>

#include "weft/balancer.h"
#include "weft/reported_load.h"

namespace weft::inline v0::balance {

class PrequalBalancer final : public Balancer {
 public:
  PrequalBalancer(const PrequalOptions& options, std::unique_ptr<Balancer> local);
  ~PrequalBalancer() override;
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override;

 private:
  struct Learnt;
  class PrequalPicker;

  const PrequalOptions options_;
  const std::unique_ptr<Balancer> local_;
  const std::shared_ptr<Learnt> learnt_;
  std::shared_ptr<const PrequalPicker> last_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_PREQUAL_H_
