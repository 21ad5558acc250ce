// Env: all that is outside: time, threads, network, chance. One object, so that a whole client can
// run in a simulation.
#ifndef WEFT_LIB_NET_ENV_H_
#define WEFT_LIB_NET_ENV_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "event/clock.h"
#include "event/loop.h"
#include "net/network.h"

namespace weft::inline v0::net {

// Thread-safe. Outlives what it made.
class Env {
 public:
  virtual ~Env() = default;
  virtual const event::Clock& clock() const = 0;
  virtual absl::StatusOr<std::unique_ptr<event::Loop>> NewLoop(
      int index, std::atomic<uint64_t>* slow_turns) = 0;
  virtual Network& network() = 0;
  virtual uint64_t NewSeed() = 0;
  // False where loops only run when the caller lets them: nobody must wait for one then.
  virtual bool has_threads() const { return true; }
};

// EpollLoop, PosixNetwork, the system's clock and randomness.
std::shared_ptr<Env> SystemEnv();

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_ENV_H_
