// FakeHost: a host of which a test says everything that a balancer may look at.
#ifndef WEFT_TEST_SUPPORT_FAKE_HOST_H_
#define WEFT_TEST_SUPPORT_FAKE_HOST_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "weft/balancer.h"

namespace weft::testing {

class FakeHost final : public HostView {
 public:
  explicit FakeHost(std::string address) : address_(std::move(address)) {}
  const std::string& address() const override { return address_; }
  HostState state() const override { return now.load(std::memory_order_relaxed); }
  uint32_t in_flight() const override { return running.load(std::memory_order_relaxed); }
  std::chrono::nanoseconds latency(MonoTime) const override {
    return takes.load(std::memory_order_relaxed);
  }
  Reported reported() const override { return said; }

  // Also while picks run.
  std::atomic<HostState> now{HostState::kReady};
  std::atomic<uint32_t> running{0};
  std::atomic<std::chrono::nanoseconds> takes{std::chrono::nanoseconds(0)};
  // Not while picks run.
  Reported said = {};

 private:
  const std::string address_;
};

}  // namespace weft::testing

#endif  // WEFT_TEST_SUPPORT_FAKE_HOST_H_
