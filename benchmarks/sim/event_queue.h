// EventQueue: what happens next, under virtual time.
//
// Most events of a simulation come a constant time after they are asked for (a message's way, a
// deadline): they are queued in lanes, where adding and taking cost nothing, and only the others in
// a heap. Of events at the same time, that which was asked for first comes first.
#ifndef WEFT_BENCHMARKS_SIM_EVENT_QUEUE_H_
#define WEFT_BENCHMARKS_SIM_EVENT_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

namespace weft::sim {

using Nanos = int64_t;
inline constexpr Nanos kMicro = 1000;
inline constexpr Nanos kMilli = 1000 * kMicro;
inline constexpr Nanos kSecond = 1000 * kMilli;

// `Kind`: an enumeration of what may happen.
template <typename Kind, size_t kLanes>
class EventQueue {
 public:
  struct Event {
    Nanos at = 0;
    uint64_t order = 0;
    Kind kind = {};
    uint32_t subject = 0;  // what it happens to, by a number that the simulation gave

    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  void At(Nanos at, Kind kind, uint32_t subject) { heap_.push({at, ++order_, kind, subject}); }
  // Never earlier than the one before it in the lane.
  void InLane(size_t lane, Nanos at, Kind kind, uint32_t subject) {
    lanes_[lane].push_back({at, ++order_, kind, subject});
  }
  bool empty() const {
    for (const std::deque<Event>& lane : lanes_) {
      if (!lane.empty()) return false;
    }
    return heap_.empty();
  }
  // Not empty.
  Event Pop() {
    const Event* first = heap_.empty() ? nullptr : &heap_.top();
    std::deque<Event>* from = nullptr;
    for (std::deque<Event>& lane : lanes_) {
      if (lane.empty() || (first != nullptr && lane.front() > *first)) continue;
      first = &lane.front();
      from = &lane;
    }
    const Event event = *first;
    if (from == nullptr) {
      heap_.pop();
    } else {
      from->pop_front();
    }
    return event;
  }

 private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> heap_;
  std::array<std::deque<Event>, kLanes> lanes_;
  uint64_t order_ = 0;
};

}  // namespace weft::sim

#endif  // WEFT_BENCHMARKS_SIM_EVENT_QUEUE_H_
