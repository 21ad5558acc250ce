// A detector, its hosts' records and the time, as a cluster would keep them.
//
//   OutlierRig rig(4);                // hosts
//   rig.End(2, Kind::kError, 5);      // five attempts at one of them ended, now
//   rig.Until(rig.now + 30s);         // the detector is called whenever it wants to be
//   rig.Intervals(3, 100);            // so many intervals, so many successes everywhere in each
//   rig.set.pop_back(); rig.Tell();   // a host leaves
//   CHECK(rig.seen.back().text == "");
#ifndef WEFT_TEST_CLUSTER_OUTLIER_RIG_H_
#define WEFT_TEST_CLUSTER_OUTLIER_RIG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "cluster/outlier_detector.h"

namespace weft::testing {

using cluster::HostHealth;
using cluster::Outcome;
using cluster::OutlierDetector;

inline constexpr base::MonoTime kStart{std::chrono::seconds(1000)};

// Without jitter, so that times are by hand.
inline OutlierOptions Plain() { return {.max_ejection_time_jitter = absl::ZeroDuration()}; }

class OutlierRig {
 public:
  static constexpr base::MonoDuration kInterval = std::chrono::seconds(10);

  explicit OutlierRig(size_t hosts, const OutlierOptions& options = Plain(), uint64_t seed = 1)
      : options_(options), detector(options, base::Random(seed), kStart) {
    for (size_t i = 0; i < hosts; ++i) AddHost();
    Tell();
  }
  void AddHost() {
    records.emplace_back(options_.consecutive_failures);
    names_.push_back("host-" + std::to_string(names_.size()));
    set.push_back({.health = &records.back(), .address = names_.back()});
  }
  void Tell() {
    std::vector<const void*> there;
    for (const OutlierDetector::Subject& subject : set) there.push_back(subject.health);
    const std::vector<size_t> places = base::PlacesBefore(told_, there);
    for (size_t i = 0; i < set.size(); ++i) set[i].before = places[i];
    told_ = std::move(there);
    Note(detector.OnHostsChanged(set, now));
  }

  void End(size_t host, Outcome outcome) {
    HostHealth& health = *set[host].health;
    if (health.Add(outcome, now)) Note(detector.OnTrip(health, now));
  }
  void End(size_t host, Outcome::Kind kind, int times = 1) {
    for (int i = 0; i < times; ++i) End(host, Outcome{.kind = kind});
  }
  // As the owner's alarm does.
  void Until(base::MonoTime end) {
    while (detector.next() <= end) {
      now = detector.next();
      Note(detector.OnTime(now));
    }
    now = end;
  }
  // To the end of so many intervals, having answered `each` at every host in all of them.
  void Intervals(int count, int each = 0) {
    for (int i = 0; i < count; ++i) {
      for (size_t host = 0; host < set.size(); ++host) End(host, Outcome::Kind::kSuccess, each);
      Until(kStart + kInterval * ((now - kStart) / kInterval + 1));
    }
  }
  OutlierDetector::State StateOf(size_t host) const { return detector.standing(host).state; }
  int Count(OutlierDetector::Event::Kind kind) const {
    return static_cast<int>(std::count_if(
        seen.begin(), seen.end(), [&](const OutlierDetector::Event& e) { return e.kind == kind; }));
  }

  const OutlierOptions options_;
  OutlierDetector detector;
  std::deque<HostHealth> records;
  std::vector<OutlierDetector::Subject> set;
  OutlierDetector::Events seen;
  base::MonoTime now = kStart;

 private:
  void Note(OutlierDetector::Events events) {
    for (OutlierDetector::Event& event : events) seen.push_back(std::move(event));
  }
  std::deque<std::string> names_;
  std::vector<const void*> told_;
};

}  // namespace weft::testing

#endif  // WEFT_TEST_CLUSTER_OUTLIER_RIG_H_
