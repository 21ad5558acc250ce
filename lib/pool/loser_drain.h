// LoserDrain: takes the place of an abandoned exchange on its stream where the connection's reset
// budget is used up. It discards what is still answered, returning the windows at once, until the
// stream ends by itself or its time is up; then it is reset, whatever the budget says.
#ifndef WEFT_LIB_POOL_LOSER_DRAIN_H_
#define WEFT_LIB_POOL_LOSER_DRAIN_H_

#include <cstddef>
#include <string_view>

#include "base/time.h"
#include "cluster/host.h"
#include "event/timer_heap.h"
#include "http/session.h"

namespace weft::inline v0::pool {

// Owns itself: it is gone when the stream has ended, which the end of the session does at the
// latest. The host's strand is held in all it does.
class LoserDrain final : private http::StreamUser, private event::Timer {
 public:
  // The request was sent whole. `host` has counted it as one in flight, and does until it is gone.
  static void Begin(http::Session& session, http::OpenStream* stream, cluster::Host& host,
                    event::TimerHeap& timers, base::MonoTime until);

 private:
  LoserDrain(http::Session& session, http::OpenStream* stream, cluster::Host& host,
             event::TimerHeap& timers)
      : session_(session), stream_(stream), host_(host), timers_(timers) {}
  ~LoserDrain() = default;

  // http::StreamUser
  http::BodyPiece ReadBody(char*, size_t) override { return {}; }
  void OnHead(int, Headers) override {}
  void OnData(std::string_view bytes) override { session_.Consume(stream_, bytes.size()); }
  void OnTrailers(Headers) override {}
  void OnEnd(http::StreamEnd) override { Gone(); }
  // event::Timer
  void OnTimer() override;

  void Gone();

  http::Session& session_;
  http::OpenStream* const stream_;
  cluster::Host& host_;
  event::TimerHeap& timers_;
};

}  // namespace weft::inline v0::pool

#endif  // WEFT_LIB_POOL_LOSER_DRAIN_H_
