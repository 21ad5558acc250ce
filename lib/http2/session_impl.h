// The class behind NewClientSession. Its work is spread over three files by direction:
// client_session.cc has what its owner and users call, session_events.cc what nghttp2 reports of
// the peer, session_output.cc what is collected.
#ifndef WEFT_LIB_HTTP2_SESSION_IMPL_H_
#define WEFT_LIB_HTTP2_SESSION_IMPL_H_

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/intrusive_list.h"
#include "base/time.h"
#include "http/session.h"
#include "http2/client_session.h"
#include "http2/first_bytes.h"
#include "http2/flood_guard.h"
#include "http2/flow_tuner.h"
#include "http2/frame_scanner.h"
#include "http2/header_block.h"
#include "http2/ping_book.h"
#include "http2/pool_allocator.h"
#include "http2/stream.h"

namespace weft::inline v0::http2 {

class ClientSession final : public http::Session {
 public:
  ClientSession(const SessionOptions& options, http::SessionOwner& owner);
  ~ClientSession() override;

  absl::Status Feed(std::string_view bytes, base::MonoTime now) override;
  void Collect(std::string& out, size_t limit) override;
  bool wants_to_send() const override;
  size_t capacity() const override;
  bool accepting() const override;
  bool nearing_end() const override;
  size_t open_streams() const override { return open_; }
  bool HeadSent(const http::OpenStream* handle, uint64_t bytes_sent) const override {
    return StreamOf(handle).head_end <= bytes_sent;
  }
  http::Sent RequestSent(const http::OpenStream* handle) const override;
  bool settings_acknowledged() const override { return settings_acknowledged_; }
  http::OpenStream* Open(http::StreamUser& user, const http::RequestHead& head) override;
  void Reset(http::OpenStream* handle, http::ResetReason reason) override;
  void HandOver(http::OpenStream* handle, http::StreamUser& to) override;
  void ResumeBody(http::OpenStream* handle) override;
  void Consume(http::OpenStream* handle, size_t bytes) override;
  void Ping(uint64_t payload) override;
  void Goaway(uint32_t code, std::string_view debug) override;
  void EndAll(const absl::Status& status, uint64_t bytes_sent) override;

  // What nghttp2 reports; each returns 0 or an error of nghttp2's that stops it.
  int OnBeginHeaders(const nghttp2_frame& frame);
  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  int OnFrameReceived(const nghttp2_frame& frame);
  int OnInvalidFrame(const nghttp2_frame& frame, int error);
  int OnDataChunk(int32_t id, std::string_view bytes);
  int OnStreamClosed(int32_t id, uint32_t code);
  int OnFrameSent(const nghttp2_frame& frame);
  int OnFrameNotSent(const nghttp2_frame& frame, int error);
  ssize_t ReadBody(Stream& stream, char* to, size_t size, uint32_t* flags);

 private:
  using Streams = base::IntrusiveList<Stream>;
  struct SessionDeleter {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };

  // client_session.cc
  int Start(const SessionOptions& options);
  void BuildHead(const http::RequestHead& head);
  Stream* Find(int32_t id) const;
  http::StreamUser* Forget(Stream& stream);
  void End(Stream& stream, http::StreamEnd end);
  // Ends the streams that `doomed` picks, oldest first. The picked ones are set aside before the
  // first event, since events may reset others.
  void EndWhere(const std::function<bool(Stream&)>& doomed,
                const std::function<http::StreamEnd(const Stream&)>& make_end);
  void EndEvery(const absl::Status& status, uint64_t bytes_sent);
  void Fail(absl::Status failure, uint32_t code);
  int Check(int error);
  void TakeIn(std::string_view bytes);
  void ResetStream(Stream& stream, uint32_t code);
  void NoteReset(Stream& stream);

  // session_events.cc
  void OnHeadComplete(Stream& stream);
  void OnGoaway(const nghttp2_goaway& goaway);
  int OnPingReceived(const nghttp2_ping& ping);
  int OnSettingsReceived(const nghttp2_settings& settings);
  int OnHeaderRefused(Stream* stream, HeaderBlock::Verdict verdict);
  int GrowWindows();
  int SendPing(PingBook::Kind kind, uint64_t payload);

  // session_output.cc
  void Pump(std::string& out, size_t limit);
  void EndUnopened();
  void RetryBodies();
  ssize_t EndBody(Stream& stream, size_t filled, uint32_t* flags);

  http::SessionOwner& owner_;
  PoolAllocator allocator_;  // before ng_, which gives back to it
  std::unique_ptr<nghttp2_session, SessionDeleter> ng_;

  StreamPool pool_;
  Streams live_;         // in the order of their ids
  Streams stillborn_;    // Open failed; they end at the next Collect
  size_t open_ = 0;      // both lists
  size_t unsent_ = 0;    // those of live_ whose head was not collected
  int32_t last_id_ = 0;  // the highest stream id used, or first_stream_id - 2

  base::MonoTime now_{};
  absl::Status failure_;       // the end of the connection; OK while it lives
  bool failure_told_ = false;  // Feed returned it
  bool dead_ = false;          // nghttp2 cannot be used any more
  bool ended_ = false;         // EndAll
  bool settings_received_ = false;
  bool settings_acknowledged_ = false;
  bool goaway_received_ = false;
  bool goaway_said_ = false;
  int own_goaways_ = 0;    // submitted by this side and not collected yet
  int invalid_frame_ = 0;  // nghttp2's error of the last invalid frame

  FirstBytes first_bytes_;
  FrameScanner scanner_;
  FloodGuard guard_;
  FlowTuner tuner_;
  size_t announced_stream_window_ = 0;
  uint64_t probes_ = 0;
  PingBook pings_;
  HeaderBlock block_;
  std::vector<nghttp2_nv> fields_;  // of the head that Open builds

  std::string pending_;         // collected while feeding
  uint64_t produced_ = 0;       // bytes ever collected, pending_ included
  std::string* out_ = nullptr;  // during Pump
  size_t limit_ = 0;
  Stream* head_sent_ =
      nullptr;  // whose HEADERS are complete with the bytes that nghttp2 is about to give
  bool retry_bodies_ = false;  // some stream has `retry`
};

// Makes nghttp2 call the functions above. NGHTTP2_ERR_NOMEM where there is no memory.
int NewNghttp2Session(ClientSession& session, nghttp2_mem* mem, nghttp2_session** out);
// The body of a request, through ReadBody.
nghttp2_data_provider BodyOf(Stream& stream);

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_SESSION_IMPL_H_
