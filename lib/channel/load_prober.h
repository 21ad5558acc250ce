// LoadProber: asks a channel's hosts for their load, so many times for each call
// (weft/load_probe_options.h).
//
//   calls ── count ──▶ the loop, each millisecond while calls come: draws hosts, sends probes
//                                                 │
//   Cluster::OnReport ◀── report in its answer ◀──┘
//
// A call costs an addition, and a post to the loop where none came in the last millisecond.
#ifndef WEFT_LIB_CHANNEL_LOAD_PROBER_H_
#define WEFT_LIB_CHANNEL_LOAD_PROBER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/ref.h"
#include "base/time.h"
#include "call/target.h"
#include "cluster/cluster.h"
#include "event/loop.h"
#include "event/timer_heap.h"
#include "telemetry/counters.h"
#include "weft/load_probe_options.h"

namespace weft::inline v0::channel {

// INVALID_ARGUMENT names the field that is out of range.
absl::Status Validate(const LoadProbeOptions& options);

class LoadProber final : public base::RefCounted,
                         public call::BeginListener,
                         private event::Task,
                         private event::Timer {
 public:
  static constexpr base::MonoDuration kTick = std::chrono::milliseconds(1);

  struct Setup {
    LoadProbeOptions options = {};  // valid, with a path
    base::Ref<cluster::Cluster> cluster = {};
    std::string authority = {};  // empty: the host's
    // Keeps the loops and the counters: what runs keeps it in turn.
    std::shared_ptr<void> factory = {};
    telemetry::Counters* counters = nullptr;
    uint64_t seed = 0;
  };

  explicit LoadProber(Setup setup);

  void OnCallBegun() override;
  // On the loop. What runs is cancelled.
  void Close();

 private:
  class Probe;

  ~LoadProber() override;

  void Run() override;  // a call has come after a while without
  void Drop() override { Release(); }
  void OnTimer() override { Tick(); }
  void Tick();
  void Send(uint64_t calls);
  // Null: the few that were drawn are being asked.
  base::Ref<cluster::Member> Draw();

  const Setup setup_;
  event::Loop& loop_;

  std::atomic<uint64_t> calls_{0};   // that nobody has looked at
  std::atomic<bool> active_{false};  // somebody will look

  // The loop's.
  base::Random random_;
  double owed_ = 0;  // a fraction of a probe
  std::vector<base::Ref<Probe>> running_;
  bool closed_ = false;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_LOAD_PROBER_H_
