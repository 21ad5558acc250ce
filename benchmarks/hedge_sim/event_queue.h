// What can happen in this simulation, and the lanes of its queue.
#ifndef WEFT_BENCHMARKS_HEDGE_SIM_EVENT_QUEUE_H_
#define WEFT_BENCHMARKS_HEDGE_SIM_EVENT_QUEUE_H_

#include <cstddef>
#include <cstdint>

#include "sim/event_queue.h"

namespace weft::hedge_sim {

using sim::kMicro;
using sim::kMilli;
using sim::kSecond;
using sim::Nanos;

// The subject is a call, an attempt or a host.
enum class Kind : uint8_t {
  kCall,      // the next one arrives
  kRequest,   // an attempt's request arrives at its host
  kReset,     // … and its reset
  kDone,      // … a worker has done it
  kAnswer,    // … its answer arrives at its client
  kForget,    // … a cancelled one no longer counts as in flight
  kHedge,     // a call's hedge is due, or looks again
  kRetry,     // a call's pause before its retry is over
  kDeadline,  // a call's time is over
  kPause,     // a host stands still
};

enum Lane : size_t { kNetwork, kForgetting, kDeadlines, kLanes };

using EventQueue = sim::EventQueue<Kind, kLanes>;
using Event = EventQueue::Event;

}  // namespace weft::hedge_sim

#endif  // WEFT_BENCHMARKS_HEDGE_SIM_EVENT_QUEUE_H_
