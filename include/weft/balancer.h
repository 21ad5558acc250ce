// Balancer and Picker: the seam that chooses a host for each attempt.
//
// A balancer (control half) is told the host set whenever it changes and makes a picker; a picker
// (data half) is immutable and is asked by many threads at once, on the path of every call: no
// lock, no allocation, no blocking. Facts that change all the time (state, requests in flight) are
// read from the hosts themselves.
#ifndef WEFT_BALANCER_H_
#define WEFT_BALANCER_H_

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

namespace weft::inline v0 {

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

 protected:
  ~HostView() = default;
};

struct PickerHost {
  std::shared_ptr<const Endpoint> endpoint;
  std::shared_ptr<HostView> host;
};

// What a pick may depend on.
struct PickFacts {
  uint64_t hash_key = 0;                        // 0: none
  std::span<const HostView* const> tried = {};  // hosts that this call's earlier attempts used
};

struct PickResult {
  enum class Kind {
    kHost,   // start the attempt on hosts[index]
    kQueue,  // nothing yet: ask again when the host set or a host's state changes
    kFail,   // no host can be reached: fail with `status` (a wait_for_ready call queues)
  };
  Kind kind = Kind::kQueue;
  size_t index = 0;
  absl::Status status;

  static PickResult Host(size_t index) { return {Kind::kHost, index, absl::OkStatus()}; }
  static PickResult Queue() { return {}; }
  static PickResult Fail(absl::Status status) { return {Kind::kFail, 0, std::move(status)}; }
};

class Picker {
 public:
  virtual ~Picker() = default;
  virtual PickResult Pick(const PickFacts& facts) const = 0;
};

// `hosts` in the order of the endpoint set, those that drain left out. Never called twice at a
// time; the picker is used until after the next one is in place.
class Balancer {
 public:
  virtual ~Balancer() = default;
  virtual std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) = 0;
};

// Makes one balancer for each cluster. Null where options take one: round robin.
using BalancerFactory = std::function<std::unique_ptr<Balancer>()>;

// Each call to the next host that is connected.
BalancerFactory RoundRobin();

}  // namespace weft::inline v0

#endif  // WEFT_BALANCER_H_
