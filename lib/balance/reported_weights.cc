#include "balance/reported_weights.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "balance/weighted_round_robin.h"

namespace weft::inline v0::balance {

ReportedWeights::ReportedWeights(const std::vector<PickerHost>& hosts,
                                 const WeightedRoundRobinOptions& options)
    : options_(options), known_(hosts.size()) {
  given_.reserve(hosts.size());
  for (const PickerHost& host : hosts)
    given_.push_back({host.weight, std::min(1.0, host.weight / host.endpoint->weight)});
}

void ReportedWeights::Inherit(const HostSet& hosts, const HostSet& last_hosts,
                              const ReportedWeights& last) {
  // Most updates leave most hosts in their places.
  absl::flat_hash_map<const HostView*, size_t> moved;
  for (size_t i = 0; i < last_hosts.size(); ++i) {
    if (i < hosts.size() && &hosts[i] == &last_hosts[i]) {
      known_[i] = last.known_[i];
    } else {
      moved.emplace(&last_hosts[i], i);
    }
  }
  for (size_t i = 0; i < hosts.size() && !moved.empty(); ++i) {
    const auto found = moved.find(&hosts[i]);
    if (found != moved.end()) known_[i] = last.known_[found->second];
  }
}

void ReportedWeights::Read(size_t index, const HostView& host, MonoTime now) {
  Known& known = known_[index];
  const HostView::Reported said = host.reported();
  const double weight = WeightOf(said.report, options_.error_utilization_penalty);
  if (weight > 0) {
    known.weight = weight;
    known.at = said.at;
    if (known.since == MonoTime::min()) known.since = said.at;
  }
  known.usable = false;
  if (known.at == MonoTime::min()) return;
  if (absl::FromChrono(now - known.at) >= options_.weight_expiration_period) {
    known.since = MonoTime::min();
    return;
  }
  known.usable = absl::FromChrono(now - known.since) >= options_.blackout_period;
}

std::vector<double> ReportedWeights::Get() const {
  double sum = 0;
  size_t usable = 0;
  for (const Known& known : known_) {
    if (!known.usable) continue;
    sum += known.weight;
    ++usable;
  }
  std::vector<double> weights;
  weights.reserve(known_.size());
  const double mean = usable == 0 ? 0 : sum / static_cast<double>(usable);
  for (size_t i = 0; i < known_.size(); ++i) {
    if (usable == 0) {
      weights.push_back(given_[i].weight);
    } else {
      weights.push_back((known_[i].usable ? known_[i].weight : mean) * given_[i].start);
    }
  }
  return weights;
}

}  // namespace weft::inline v0::balance
