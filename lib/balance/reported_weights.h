// ReportedWeights: what weighted round robin knows of each host's weight. See there.
#ifndef WEFT_LIB_BALANCE_REPORTED_WEIGHTS_H_
#define WEFT_LIB_BALANCE_REPORTED_WEIGHTS_H_

#include <cstddef>
#include <vector>

#include "balance/host_set.h"
#include "weft/balancers.h"

namespace weft::inline v0::balance {

// Not thread-safe.
class ReportedWeights {
 public:
  ReportedWeights(const std::vector<PickerHost>& hosts, const WeightedRoundRobinOptions& options);
  // Takes over what `last` knows of the same hosts.
  void Inherit(const HostSet& hosts, const HostSet& last_hosts, const ReportedWeights& last);

  // Looks at hosts[index].
  void Read(size_t index, const HostView& host, MonoTime now);
  // One for each host, > 0, as of the last look at each.
  std::vector<double> Get() const;

 private:
  struct Known {
    double weight = 0;
    MonoTime at = MonoTime::min();     // when it was reported; min(): never
    MonoTime since = MonoTime::min();  // there have been reports since; min(): there are none
    bool usable = false;
  };
  struct Given {
    double weight;  // as the endpoint set and slow start have it
    double start;   // the part of it that slow start gives, up to 1
  };

  const WeightedRoundRobinOptions options_;
  std::vector<Given> given_;
  std::vector<Known> known_;
};

}  // namespace weft::inline v0::balance

#endif  // WEFT_LIB_BALANCE_REPORTED_WEIGHTS_H_
