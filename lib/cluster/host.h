// Host: the runtime record of one address, shared by every channel of a factory that reaches it
// with the same identity. What it needs of sockets is in its one subclass, pool::HostPool.
#ifndef WEFT_LIB_CLUSTER_HOST_H_
#define WEFT_LIB_CLUSTER_HOST_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/ref.h"
#include "base/time.h"
#include "cluster/last_report.h"
#include "cluster/latency_average.h"
#include "weft/balancer.h"

namespace weft::inline v0::cluster {

// Told when a host's state changed. Called with the host's strand held, on its loop: must not
// block, nor call back into the host.
class HostListener {
 public:
  virtual void OnHostState() = 0;

 protected:
  ~HostListener() = default;
};

class Host : public base::RefCounted, public HostView {
 public:
  explicit Host(std::string address) : address_(std::move(address)) {}

  const std::string& address() const final { return address_; }
  HostState state() const final { return state_.load(std::memory_order_acquire); }
  // Exits first: who came in between is counted, never one who went.
  uint32_t in_flight() const final {
    const uint32_t exited = exited_.load(std::memory_order_acquire);
    return entered_.load(std::memory_order_relaxed) - exited;
  }
  // An attempt was given to this host; it has ended.
  void Enter() { entered_.fetch_add(1, std::memory_order_relaxed); }
  void Exit() { exited_.fetch_add(1, std::memory_order_release); }

  std::chrono::nanoseconds latency(MonoTime now) const final { return latency_.Get(now); }
  // What attempts take. Any thread.
  LatencyAverage& latency_average() { return latency_; }

  Reported reported() const final {
    const LastReport::Stamped last = last_report_.Get();
    return {last.report, last.at, entered_.load(std::memory_order_relaxed) - last.entered};
  }
  // It has just said this. Any thread.
  void SetReport(const LoadReport& report, base::MonoTime now) {
    last_report_.Set({report, now, entered_.load(std::memory_order_relaxed)});
  }

  // About the time that a packet takes to the host and back: the least that connecting took (TCP's
  // handshake), at most 250 ms. Zero where it was never connected.
  base::MonoDuration rtt() const { return rtt_.load(std::memory_order_relaxed); }

  // Why the host could not be reached the last time; OK where it could.
  absl::Status last_error() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return last_error_;
  }

  // Has the host dialled if it is idle.
  virtual void Connect() = 0;

  void AddListener(HostListener* listener) {
    std::lock_guard<std::mutex> lock(mutex_);
    listeners_.push_back(listener);
  }
  // After it the listener is not called any more.
  void RemoveListener(HostListener* listener) {
    std::lock_guard<std::mutex> lock(mutex_);
    listeners_.erase(std::find(listeners_.begin(), listeners_.end(), listener));
  }

 protected:
  void SetState(HostState state, absl::Status why = absl::OkStatus()) {
    std::lock_guard<std::mutex> lock(mutex_);
    last_error_ = std::move(why);
    state_.store(state, std::memory_order_release);
    for (HostListener* listener : listeners_) listener->OnHostState();
  }

  // One thread at a time.
  void SetConnectTime(base::MonoDuration took) {
    took = std::clamp(took, base::MonoDuration(1), kMaxRtt);
    const base::MonoDuration known = rtt();
    if (known == base::MonoDuration::zero() || took < known)
      rtt_.store(took, std::memory_order_relaxed);
  }

 private:
  // What takes longer lost its SYN, or met a machine that is busy.
  static constexpr base::MonoDuration kMaxRtt = std::chrono::milliseconds(250);

  const std::string address_;
  std::atomic<HostState> state_{HostState::kIdle};
  std::atomic<base::MonoDuration> rtt_{base::MonoDuration::zero()};
  LastReport last_report_;
  LatencyAverage latency_;
  alignas(64) std::atomic<uint32_t> entered_{0};
  std::atomic<uint32_t> exited_{0};
  mutable std::mutex mutex_;
  absl::Status last_error_;
  std::vector<HostListener*> listeners_;  // one for each cluster that the host is in
};

}  // namespace weft::inline v0::cluster

#endif  // WEFT_LIB_CLUSTER_HOST_H_
