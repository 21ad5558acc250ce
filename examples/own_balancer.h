// A balancer of one's own, through the seam of weft/balancer.h: of two hosts drawn at random, the
// one that says that it has less to do. `balancing --own` uses it.
#ifndef WEFT_EXAMPLES_OWN_BALANCER_H_
#define WEFT_EXAMPLES_OWN_BALANCER_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "weft/weft.h"

// The data half: never changes, so that any number of threads may ask it without a lock.
class OwnPicker final : public weft::Picker {
 public:
  explicit OwnPicker(std::vector<weft::PickerHost> hosts) : hosts_(std::move(hosts)) {
    double sum = 0;
    for (const weft::PickerHost& host : hosts_) weights_up_to_.push_back(sum += host.weight);
  }

  weft::PickResult Pick(const weft::PickFacts& facts) const override {
    if (hosts_.empty()) return weft::PickResult::Fail(absl::UnavailableError("no hosts"));
    // One number has chance enough for two draws.
    const size_t one = Draw(static_cast<uint32_t>(facts.random));
    const size_t other = Draw(static_cast<uint32_t>(facts.random >> 32));
    if (!IsFresh(one, facts)) return IsFresh(other, facts) ? Host(other) : PickAny(facts);
    if (!IsFresh(other, facts)) return Host(one);
    return Host(LoadOf(other, facts) < LoadOf(one, facts) ? other : one);
  }

 private:
  static weft::PickResult Host(size_t index) { return weft::PickResult::Host(index); }

  // By weight, of which a host that starts slowly has little.
  size_t Draw(uint32_t random) const {
    const double at = random / 4294967296.0 * weights_up_to_.back();
    const auto found = std::upper_bound(weights_up_to_.begin(), weights_up_to_.end() - 1, at);
    return static_cast<size_t>(found - weights_up_to_.begin());
  }

  bool IsReady(size_t index) const {
    return hosts_[index].host->state() == weft::HostState::kReady;
  }
  // Connected, and no earlier attempt of this call was there.
  bool IsFresh(size_t index, const weft::PickFacts& facts) const {
    const weft::HostView* const host = hosts_[index].host;
    return IsReady(index) &&
           std::find(facts.tried.begin(), facts.tried.end(), host) == facts.tried.end();
  }

  // What it said that it has in flight, all its clients' requests, and what it was sent since; what
  // this process has there, where it has not said anything for a while.
  uint32_t LoadOf(size_t index, const weft::PickFacts& facts) const {
    const weft::HostView& host = *hosts_[index].host;
    const weft::HostView::Reported said = host.reported();
    if (said.at < facts.now - std::chrono::seconds(1)) return host.in_flight();
    return said.report.in_flight + said.sent_since;
  }

  // Neither of the two can take the call. One that was tried is better than none; while a host is
  // being dialled the call waits for that.
  weft::PickResult PickAny(const weft::PickFacts& facts) const {
    bool hope = false;
    size_t tried = hosts_.size();
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (IsFresh(i, facts)) return Host(i);
      if (IsReady(i)) tried = i;
      const weft::HostState state = hosts_[i].host->state();
      hope |= state == weft::HostState::kIdle || state == weft::HostState::kConnecting;
    }
    if (tried < hosts_.size()) return Host(tried);
    if (hope) return weft::PickResult::Queue();
    return weft::PickResult::Fail(absl::UnavailableError("no host can be reached"));
  }

  const std::vector<weft::PickerHost> hosts_;
  std::vector<double> weights_up_to_;  // of the hosts up to this one
};

// The control half: a new picker whenever hosts or weights change.
class OwnBalancer final : public weft::Balancer {
 public:
  std::shared_ptr<const weft::Picker> Update(const std::vector<weft::PickerHost>& hosts) override {
    return std::make_shared<OwnPicker>(hosts);
  }
};

#endif  // WEFT_EXAMPLES_OWN_BALANCER_H_
