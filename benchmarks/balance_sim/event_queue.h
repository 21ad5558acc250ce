// What can happen in this simulation, and the lanes of its queue.
#ifndef WEFT_BENCHMARKS_BALANCE_SIM_EVENT_QUEUE_H_
#define WEFT_BENCHMARKS_BALANCE_SIM_EVENT_QUEUE_H_

#include <cstddef>
#include <cstdint>

#include "sim/event_queue.h"

namespace weft::balance_sim {

using sim::kMicro;
using sim::kMilli;
using sim::kSecond;
using sim::Nanos;

enum class Kind : uint8_t {
  kCall,        // the next one arrives
  kRequest,     // a call's request, or a probe, arrives at its server
  kDone,        // … a worker has done it
  kAnswer,      // … its answer arrives at its client
  kAntagonist,  // a server's neighbour begins, or ends
  kRestart,     // the next servers start anew, cold
  kRefresh,     // a client looks again at which servers it has
};

enum Lane : size_t { kNetwork, kFastFailures, kLanes };

using EventQueue = sim::EventQueue<Kind, kLanes>;
using Event = EventQueue::Event;

}  // namespace weft::balance_sim

#endif  // WEFT_BENCHMARKS_BALANCE_SIM_EVENT_QUEUE_H_
