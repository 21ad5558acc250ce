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

class Member;

// Told when the state of a member's host has changed. Called with the host's strand held, on its
// loop: must not block, nor call back into the host.
class MemberListener {
 public:
  virtual void OnHostState(Member& member) = 0;

 protected:
  ~MemberListener() = default;
};

// Kept by the cluster while the host is in it, and by every attempt; keeps the host, but is no use
// of it that keeps it from draining. Thread-safe.
class Member final : public base::RefCounted, private HostListener {
 public:
  // Which group's balancer it was given to last, and at which index there.
  struct Place {
    static constexpr uint32_t kNowhere = UINT32_MAX;
    uint32_t group = kNowhere;
    uint32_t index = 0;
    bool operator==(const Place&) const = default;
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

  // The membership's
  // ------------------------------------------------------------------------------------------------
  void Listen(MemberListener* listener) {
    listener_ = listener;
    host->AddListener(this);
  }
  // After it the listener is not called any more.
  void StopListening() { host->RemoveListener(this); }
  size_t entry = 0;  // where it is in the membership, while it is

  Place place() const { return place_.load(std::memory_order_relaxed); }
  void SetPlace(Place place) { place_.store(place, std::memory_order_relaxed); }

 private:
  void OnHostState() override { listener_->OnHostState(*this); }

  MemberListener* listener_ = nullptr;
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_MEMBER_H_
