// Member: what one cluster knows of one of its hosts. A host may be in several clusters, and fail
// in one of them only: another service behind the same address, other timeouts.
#ifndef WEFT_LIB_CLUSTER_MEMBER_H_
#define WEFT_LIB_CLUSTER_MEMBER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/ref.h"
#include "cluster/host.h"
#include "cluster/host_health.h"

namespace weft::inline v0::cluster {

// Kept by the cluster while the host is in it, and by every attempt; keeps the host, but is no use
// of it that keeps it from draining. Thread-safe.
class Member final : public base::RefCounted {
 public:
  // Which group's balancer it was given to last, and at which index there.
  struct Place {
    static constexpr uint32_t kNowhere = UINT32_MAX;
    uint32_t group = kNowhere;
    uint32_t index = 0;
  };

  // `failures_in_row`: OutlierOptions::consecutive_failures.
  Member(base::Ref<Host> of, int failures_in_row) : host(std::move(of)), health(failures_in_row) {}

  const base::Ref<Host> host;

 private:
  std::atomic<Place> place_{Place()};  // beside the count of references

 public:
  HostHealth health;

  // An attempt ended. True: the rule of failures in a row has tripped.
  [[nodiscard]] bool Add(const Outcome& outcome, base::MonoTime now);

  Place place() const { return place_.load(std::memory_order_relaxed); }
  void SetPlace(Place place) { place_.store(place, std::memory_order_relaxed); }
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_MEMBER_H_
