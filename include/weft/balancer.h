// Balancer and Picker: the seam that chooses a host for each attempt.
//
// A balancer (control half) is told the host set whenever it changes and makes a picker; a picker
// (data half) is asked by many threads at once, on the path of every call: no lock, no allocation,
// no blocking. Facts that change all the time (state, requests in flight, latency, what a host
// reports) are read from the hosts themselves.
#ifndef WEFT_BALANCER_H_
#define WEFT_BALANCER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "weft/endpoint.h"
#include "weft/load_report.h"

namespace weft::inline v0 {

// The clock that calls go by; in a simulation, its.
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

enum class HostState : uint8_t {
  kIdle,        // never dialled, or let go
  kConnecting,  // being dialled
  kReady,       // connected
  kBackoff,     // the last dial failed; waiting before the next
  kClosed,      // shut down
};
std::string_view HostStateName(HostState state);

// The runtime record of one host. Thread-safe; shared by all channels of a factory that reach the
// same address.
class HostView {
 public:
  virtual const std::string& address() const = 0;
  virtual HostState state() const = 0;
  // Requests in flight from this process, waiting ones included, and for up to 2 s more those that
  // were cancelled because another attempt of their call was answered first: a host that is too
  // slow to win must not look idle.
  virtual uint32_t in_flight() const = 0;
  // Peak EWMA of what attempts took here, as of `now`: one that took longer than the average takes
  // its place, one that was faster, and time, let it fall by and by (time constant 10 s). What
  // failed counts as slow. Zero: nothing was ever measured.
  virtual std::chrono::nanoseconds latency(MonoTime now) const = 0;
  // What the host last said of its load, when that came (MonoTime::min(): never), and how many
  // attempts this process has sent it since.
  struct Reported {
    LoadReport report;
    MonoTime at = MonoTime::min();
    uint32_t sent_since = 0;
  };
  virtual Reported reported() const = 0;

 protected:
  ~HostView() = default;
};

// A host that may be picked. Whoever makes pickers may copy it: both objects are there for as long
// as a picker is used that was made of a set with them. A host that stays, or an endpoint that says
// nothing new, is the same object as in the set before.
struct PickerHost {
  const Endpoint* endpoint = nullptr;
  HostView* host = nullptr;
  // > 0, relative to the others: the endpoint's, less while the host starts slowly.
  double weight = 1.0;
};

// What a pick may depend on.
struct PickFacts {
  MonoTime now{};
  uint64_t random = 0;                          // drawn anew for each pick
  uint64_t hash_key = 0;                        // of CallOptions::hash_key; 0: none
  std::span<const HostView* const> tried = {};  // hosts that this call's earlier attempts used
  int bounces = 0;                              // hosts that refused it because of their load
};

struct PickResult {
  enum class Kind {
    kHost,   // start the attempt on hosts[index]
    kQueue,  // nothing yet: ask again when the host set or a host's state changes
    kFail,   // no host can be reached: fail with `status` (a wait_for_ready call queues)
  };
  Kind kind = Kind::kQueue;
  size_t index = 0;
  absl::Status status = absl::OkStatus();
  // With kHost: the host may refuse the attempt if it has more than that in flight
  // (weft/serving.h); it was not processed then, and another host is picked. 0: it must take it.
  uint32_t bounce_above = 0;

  static PickResult Host(size_t index) { return {.kind = Kind::kHost, .index = index}; }
  static PickResult Queue() { return {}; }
  static PickResult Fail(absl::Status status) {
    return {.kind = Kind::kFail, .status = std::move(status)};
  }
};

class Picker {
 public:
  virtual ~Picker() = default;
  virtual PickResult Pick(const PickFacts& facts) const = 0;
  // hosts[index] has just reported its load. Called like Pick, on the way of the answer. While the
  // set changes, the index may be one of the set before: check that it is in range.
  virtual void OnReport(size_t index, MonoTime now) const {
    (void)index;
    (void)now;
  }
};

// `hosts` in the order of the endpoint set, without those that drain, are ejected or not for this
// client. Weights change as hosts start slowly, so the same hosts may come again. Never called
// twice at a time; the picker is used until after the next one is in place, so the hosts of the set
// before are still there.
class Balancer {
 public:
  virtual ~Balancer() = default;
  virtual std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) = 0;
};

// Makes one balancer for each set of hosts that is balanced over. Where the balancer begins depends
// on `seed`, or all clients of a service that start together would call the same host first.
// weft/balancers.h has all that Weft has.
using BalancerFactory = std::function<std::unique_ptr<Balancer>(uint64_t seed)>;

}  // namespace weft::inline v0

#endif  // WEFT_BALANCER_H_
