#include "net/env.h"

#include <sys/random.h>

#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "event/epoll_loop.h"
#include "event/standby.h"
#include "net/posix_network.h"

namespace weft::inline v0::net {
namespace {

class RealEnv final : public Env {
 public:
  const event::Clock& clock() const override { return clock_; }

  absl::StatusOr<std::unique_ptr<event::Loop>> NewLoop(int index,
                                                       std::atomic<uint64_t>* slow_turns) override {
    absl::StatusOr<std::shared_ptr<event::Standby>> standby = GetStandby();
    if (!standby.ok()) return standby.status();
    absl::StatusOr<std::unique_ptr<event::EpollLoop>> loop =
        event::EpollLoop::Start(absl::StrCat("weft-loop-", index), slow_turns, *std::move(standby));
    if (!loop.ok()) return loop.status();
    return std::unique_ptr<event::Loop>(*std::move(loop));
  }

  Network& network() override { return network_; }

  uint64_t NewSeed() override {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) == static_cast<ssize_t>(sizeof seed)) return seed;
    // No secret depends on it: where the kernel denies chance, that seeds differ must do.
    return static_cast<uint64_t>(clock_.Now().time_since_epoch().count()) ^
           (fallback_.fetch_add(1) << 48);
  }

 private:
  // One for all loops, from the first on.
  absl::StatusOr<std::shared_ptr<event::Standby>> GetStandby() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (standby_ == nullptr) {
      absl::StatusOr<std::shared_ptr<event::Standby>> standby = event::Standby::Start();
      if (!standby.ok()) return standby;
      standby_ = *std::move(standby);
    }
    return standby_;
  }

  std::mutex mutex_;
  std::shared_ptr<event::Standby> standby_;
  const event::SystemClock clock_{};
  PosixNetwork network_;
  std::atomic<uint64_t> fallback_{0};
};

}  // namespace

std::shared_ptr<Env> SystemEnv() { return std::make_shared<RealEnv>(); }

}  // namespace weft::inline v0::net
