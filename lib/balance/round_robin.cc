#include "balance/round_robin.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace weft::inline v0::balance {
namespace {

// Half of the hosts down: one call in 256 has to count them.
constexpr int kDraws = 8;

// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

class RoundRobinBalancer::RoundRobinPicker final : public Picker {
 public:
  RoundRobinPicker(const std::vector<PickerHost>& hosts, std::shared_ptr<Counter> counter)
      : counter_(std::move(counter)) {
    hosts_.reserve(hosts.size());
    for (const PickerHost& host : hosts) hosts_.push_back(host.host);
  }
  PickResult Pick(const PickFacts& facts) const override;

 private:
  // What a host can do for one call.
  enum class Use { kFresh, kTried, kHopeful, kBackoff, kClosed };
  static constexpr int kUses = 5;
  Use UseOf(size_t index, const PickFacts& facts) const;
  PickResult PickByCount(uint64_t random, const PickFacts& facts) const;

  std::vector<std::shared_ptr<HostView>> hosts_;
  const std::shared_ptr<Counter> counter_;
};

RoundRobinBalancer::RoundRobinPicker::Use RoundRobinBalancer::RoundRobinPicker::UseOf(
    size_t index, const PickFacts& facts) const {
  const HostView* const host = hosts_[index].get();
  switch (host->state()) {
    case HostState::kReady:
      return std::find(facts.tried.begin(), facts.tried.end(), host) == facts.tried.end()
                 ? Use::kFresh
                 : Use::kTried;
    case HostState::kIdle:
    case HostState::kConnecting:
      return Use::kHopeful;
    case HostState::kBackoff:
      return Use::kBackoff;
    case HostState::kClosed:
      break;
  }
  return Use::kClosed;
}

PickResult RoundRobinBalancer::RoundRobinPicker::Pick(const PickFacts& facts) const {
  const size_t size = hosts_.size();
  if (size == 0) {
    return PickResult::Fail(absl::UnavailableError("the service has no endpoints"));
  }
  const uint64_t call = counter_->next.fetch_add(1, std::memory_order_relaxed);
  if (UseOf(call % size, facts) == Use::kFresh) return PickResult::Host(call % size);
  uint64_t random = Mix(call);
  // Of few hosts the count costs no more than the draws.
  for (int draw = size > kDraws ? kDraws : 0; draw > 0; --draw, random = Mix(random)) {
    if (UseOf(random % size, facts) == Use::kFresh) return PickResult::Host(random % size);
  }
  return PickByCount(random, facts);
}

PickResult RoundRobinBalancer::RoundRobinPicker::PickByCount(uint64_t random,
                                                             const PickFacts& facts) const {
  size_t count[kUses] = {};
  for (size_t i = 0; i < hosts_.size(); ++i) ++count[static_cast<int>(UseOf(i, facts))];
  for (const Use wanted : {Use::kFresh, Use::kTried}) {
    const size_t candidates = count[static_cast<int>(wanted)];
    if (candidates == 0) continue;
    // Hosts may have changed since they were counted: the last one found stands in for one that has
    // gone.
    size_t left = random % candidates;
    size_t found = hosts_.size();
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (UseOf(i, facts) != wanted) continue;
      found = i;
      if (left-- == 0) break;
    }
    return found < hosts_.size() ? PickResult::Host(found) : PickResult::Queue();
  }
  if (count[static_cast<int>(Use::kHopeful)] > 0) return PickResult::Queue();

  const size_t closed = count[static_cast<int>(Use::kClosed)];
  std::string why =
      "no host can be reached: " + std::to_string(count[static_cast<int>(Use::kBackoff)]) + " of " +
      std::to_string(hosts_.size()) + " in back-off";
  if (closed > 0) why += ", " + std::to_string(closed) + " closed";
  return PickResult::Fail(absl::UnavailableError(why));
}

RoundRobinBalancer::RoundRobinBalancer(uint64_t start)
    : counter_(std::make_shared<Counter>(start)) {}

std::shared_ptr<const Picker> RoundRobinBalancer::Update(const std::vector<PickerHost>& hosts) {
  return std::make_shared<RoundRobinPicker>(hosts, counter_);
}

}  // namespace weft::inline v0::balance

namespace weft::inline v0 {

BalancerFactory RoundRobin() {
  return [](uint64_t seed) { return std::make_unique<balance::RoundRobinBalancer>(seed); };
}

}  // namespace weft::inline v0
