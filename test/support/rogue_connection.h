// RogueConnection: the server's side of one HTTP/2 connection, right by default and wrong wherever
// a test wants it: bytes in, bytes out. A RogueServer runs it on the simulated network; a test of a
// session pairs it with the session directly:
//
//   RogueConnection peer;
//   peer.options().handler = [](const RogueRequest&) { return RogueAnswer{.body = "hi"}; };
//   for (;;) {  // until neither has anything to say
//     std::string out;
//     session->Collect(out, 1 << 20);
//     peer.Receive(out);  // the first one also starts it: SETTINGS
//     const std::string in = peer.TakeOutput();
//     if (in.empty() && out.empty()) break;
//     REQUIRE(session->Feed(in, now).ok());
//   }
//   CHECK(peer.violations() == std::vector<std::string>{});
//
// rogue_server.h shows what can be scripted.
#ifndef WEFT_TEST_SUPPORT_ROGUE_CONNECTION_H_
#define WEFT_TEST_SUPPORT_ROGUE_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "support/h2_frames.h"
#include "support/sim_network.h"

namespace weft::inline v0::testing {

class RogueConnection;
class SimEnv;

struct RogueRequest {
  std::string_view method() const { return Find(headers, ":method"); }
  std::string_view path() const { return Find(headers, ":path"); }
  std::string_view authority() const { return Find(headers, ":authority"); }
  std::string_view header(std::string_view name) const { return Find(headers, name); }
  std::string_view id() const { return Find(headers, "x-id"); }

  uint64_t connection = 0;
  uint32_t stream = 0;
  base::MonoTime time;  // of the head
  HeaderList headers;
  std::string body;
  HeaderList trailers;
  bool complete = false;          // END_STREAM came
  bool ignored = false;           // above the last stream of a GOAWAY that was sent
  bool answered = false;          // END_STREAM was sent
  std::optional<uint32_t> reset;  // the client's RST_STREAM
};

// What is sent in answer, in this order.
struct RogueAnswer {
  int status = 200;
  HeaderList headers = {};  // x-id of the request is added
  std::string body = {};
  HeaderList trailers = {};
  base::MonoDuration delay{0};  // before all of it; needs a RogueServer
  std::vector<std::pair<int, HeaderList>> informational = {};  // 1xx
  size_t piece = 0;           // body in pieces of so many bytes …
  base::MonoDuration gap{0};  // … with that between them; needs a RogueServer
  bool head = true;           // false: nothing but `reset`
  bool end = true;            // false: END_STREAM never comes
  // RST_STREAM after all that; in place of END_STREAM where `end` is false.
  std::optional<uint32_t> reset = {};

  static RogueAnswer Reset(uint32_t code) { return {.head = false, .end = false, .reset = code}; }
  static RogueAnswer Refused() { return Reset(kRefusedStream); }
  static RogueAnswer Silence() { return {.head = false, .end = false}; }
  // application/grpc with one message and grpc-status.
  static RogueAnswer Grpc(std::string_view message, int grpc_status = 0);
};

// May be changed at any time, and holds from then on.
struct RogueOptions {
  SettingList settings = {{kMaxConcurrentStreams, 100}};  // the first ones
  std::optional<std::string> greeting = {};               // raw bytes in place of the SETTINGS
  bool send_settings = true;
  bool acknowledge_settings = true;
  bool acknowledge_pings = true;
  bool answer = true;                  // false: requests are only recorded
  bool answer_at_head = false;         // the handler is asked before the body is there
  bool return_windows = true;          // WINDOW_UPDATE for all DATA, at once
  bool honour_windows = true;          // false: sends bodies past the client's windows
  uint32_t connection_window = 65535;  // granted at the start
  bool record = true;                  // false: no frames, no requests that are done; for long runs

  // Null: 200 and the request's body.
  std::function<RogueAnswer(const RogueRequest&)> handler = {};
  // Before the SETTINGS go out.
  std::function<void(RogueConnection&)> on_connection = {};
  // For every frame, after it was recorded and checked. True: the connection does not act on it.
  std::function<bool(RogueConnection&, const Frame&)> on_frame = {};
};

struct ReceivedFrame {
  base::MonoTime time;
  Frame frame;
};

class RogueConnection {
 public:
  // `env` and `stream` are for RogueServer. Without `env` delays are nought.
  explicit RogueConnection(std::shared_ptr<RogueOptions> options = nullptr, SimEnv* env = nullptr,
                           SimServerStream stream = {});
  RogueConnection(const RogueConnection&) = delete;
  RogueConnection& operator=(const RogueConnection&) = delete;

  RogueOptions& options() { return *options_; }
  // The transport, for StopReading, Reset, CloseWrite, SetBlackHole and the like. Empty without a
  // RogueServer.
  SimServerStream& stream() {
    WriteOutput();  // so that what was sent before a Close is before it on the wire too
    return stream_;
  }
  uint64_t id() const { return id_; }

  void Start();  // says the greeting; the first Receive does it too
  void Receive(std::string_view bytes);
  std::string TakeOutput() { return std::exchange(output_, {}); }

  // Sending: anything at any time. What Send is given is also taken into account (windows, ends of
  // streams, settings); raw bytes are not.
  void Send(const Frame& frame);
  void SendRaw(std::string_view bytes);
  void SendSettings(const SettingList& settings) { Send(SettingsFrame(settings)); }
  void SendGoaway(uint32_t last_stream, uint32_t code = kNoError, std::string_view debug = {}) {
    Send(GoawayFrame(last_stream, code, debug));
  }
  // A graceful end: GOAWAY(2³¹−1), after `wait` GOAWAY(last stream), a close when all is answered.
  void Drain(base::MonoDuration wait = std::chrono::milliseconds(10));

  // Answering: a request that the handler did not, or another time than it would.
  void Answer(uint32_t stream, RogueAnswer answer);
  void SendHead(uint32_t stream, int status, const HeaderList& headers = {}, bool end = false);
  // As the client's windows allow.
  void SendBody(uint32_t stream, std::string_view bytes, bool end = false);
  // After the body.
  void SendTrailers(uint32_t stream, const HeaderList& trailers);
  void SendReset(uint32_t stream, uint32_t code) { Send(RstStreamFrame(stream, code)); }

  // What came.
  const std::map<uint32_t, RogueRequest>& requests() const { return requests_; }
  const RogueRequest* request(uint32_t stream) const;
  const std::vector<ReceivedFrame>& frames() const { return frames_; }
  size_t CountFrames(uint8_t type) const;  // recorded
  // Breaches of the protocol by the client, streams above the limit and bytes beyond the windows
  // among them.
  const std::vector<std::string>& violations() const { return violations_; }
  const SettingList& client_settings() const { return client_settings_; }  // the last
  uint64_t request_count() const { return request_count_; }
  uint32_t last_stream() const { return last_stream_; }
  size_t open_streams() const { return open_; }
  size_t most_open_streams() const { return most_open_; }
  size_t settings_unacknowledged() const { return settings_sent_.size(); }
  const std::vector<uint64_t>& ping_acks() const { return ping_acks_; }
  const std::optional<Frame>& client_goaway() const { return client_goaway_; }
  // Body bytes that wait for the client's windows.
  size_t blocked_bytes() const;
  bool got_preface() const { return got_preface_; }
  // Called by RogueServer: the transport is gone.
  void Closed() { closed_ = true; }

 private:
  struct Stream {
    bool client_ended = false;
    bool server_ended = false;
    bool reset = false;
    bool counted = false;  // in open_
    bool handled = false;  // the handler was asked
    int64_t send_window = 0;
    int64_t receive_window = 0;
    std::string body;             // waits for windows
    bool end_after_body = false;  // with the trailers, where there are any
    HeaderList trailers;
    std::optional<uint32_t> reset_after_body;
  };
  // Around all that may send: what it sends is written to the transport at once, when the outermost
  // one ends.
  class Batch {
   public:
    explicit Batch(RogueConnection& of) : of_(of) { ++of_.batches_; }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch();

   private:
    RogueConnection& of_;
  };

  void Violation(const std::string& what) { violations_.push_back(what); }
  void OnFrame(const Frame& frame);
  void CheckFrame(const Frame& frame);
  void OnHeadersPart(const Frame& frame);
  void OnTrailers(uint32_t id, bool end, const HeaderList& headers);
  void OpenStream(uint32_t id, bool end, const HeaderList& headers);
  void OnData(const Frame& frame);
  void ReturnWindow(uint32_t id, size_t bytes);
  void OnReset(const Frame& frame);
  void OnSettings(const Frame& frame);
  void OnSettingsAck();
  void OnWindowUpdate(const Frame& frame);
  void OnClientEnd(uint32_t id);
  void Account(const Frame& frame);
  void AccountGoaway(uint32_t last_stream);
  // The other fields of a stream are set; looks whether it is closed now.
  void MaybeClosed(uint32_t id);
  void CallHandler(uint32_t id);
  void SendBlock(uint32_t stream, const HeaderList& headers, bool end);
  void AnswerNow(uint32_t stream, const RogueAnswer& answer);
  void SendPieces(uint32_t stream, const RogueAnswer& answer, size_t from);
  void FinishAnswer(uint32_t stream, const RogueAnswer& answer);
  void Flush();
  // False where there is nothing more that may be sent now.
  bool FlushStream(Stream& stream, uint32_t id);
  void WriteOutput();  // to the transport, where there is one
  void After(base::MonoDuration delay, std::function<void()> function);
  base::MonoTime Now() const;
  // The value in force of one of our settings, or the largest that is on its way.
  uint32_t Allowed(uint16_t setting) const;
  uint32_t ClientSetting(uint16_t setting, uint32_t otherwise) const;

  const std::shared_ptr<RogueOptions> options_;
  SimEnv* const env_;
  SimServerStream stream_;
  const uint64_t id_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::string output_;
  int batches_ = 0;
  bool started_ = false;
  bool closed_ = false;
  bool got_preface_ = false;
  bool bad_preface_ = false;
  bool saw_frame_ = false;
  bool close_when_idle_ = false;
  FrameParser parser_;
  HpackDecoder decoder_;
  std::optional<Frame> block_;     // HEADERS with the CONTINUATIONs so far
  bool suppressed_ = false;        // the hook did not want the default for the frame at hand
  bool block_suppressed_ = false;  // nor for one of block_
  std::vector<uint32_t> done_;     // closed, to be forgotten
  std::map<uint32_t, Stream> streams_;
  std::set<uint32_t> sending_;  // streams with something that waits to be sent
  std::map<uint32_t, RogueRequest> requests_;
  std::vector<ReceivedFrame> frames_;
  std::vector<std::string> violations_;
  std::map<uint16_t, uint32_t> settings_in_force_;  // acknowledged
  std::deque<SettingList> settings_sent_;           // not acknowledged
  SettingList client_settings_;
  std::map<uint16_t, uint32_t> client_values_;
  std::vector<uint64_t> ping_acks_;
  std::optional<Frame> client_goaway_;
  int64_t send_window_ = 65535;
  int64_t receive_window_ = 65535;
  uint32_t last_stream_ = 0;
  uint32_t goaway_last_ = UINT32_MAX;
  uint64_t request_count_ = 0;
  size_t open_ = 0;
  size_t most_open_ = 0;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_ROGUE_CONNECTION_H_
