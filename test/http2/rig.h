// A client session with a hand-made peer: bytes in, events out, all written down.
#ifndef WEFT_TEST_HTTP2_RIG_H_
#define WEFT_TEST_HTTP2_RIG_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "http/session.h"
#include "http2/client_session.h"

namespace weft::test::http2 {

using Fields = std::vector<std::pair<std::string, std::string>>;

// RFC 9113 section 6 and 7.
enum Type : uint8_t {
  kData,
  kHeaders,
  kPriority,
  kRstStream,
  kSettings,
  kPushPromise,
  kPing,
  kGoaway,
  kWindowUpdate,
  kContinuation,
};
constexpr uint8_t kEndStream = 1, kAck = 1, kEndHeaders = 4, kPadded = 8;
enum Code : uint32_t {
  kNoError,
  kProtocolError,
  kInternalError,
  kFlowControlError,
  kSettingsTimeout,
  kStreamClosed,
  kFrameSizeError,
  kRefusedStream,
  kCancel,
  kCompressionError,
  kConnectError,
  kEnhanceYourCalm,
  kInadequateSecurity,
  kHttp11Required,
};
enum Setting : uint16_t { kMaxStreams = 3, kInitialWindow = 4, kMaxFrameSize = 5 };

// Frames as a server writes them.
std::string Number(uint64_t value, int bytes);
std::string Frame(int type, int flags, uint32_t id, std::string_view payload);
std::string Settings(const std::vector<std::pair<uint16_t, uint32_t>>& values = {});
std::string SettingsAck();
std::string Block(const Fields& fields);  // HPACK literals, which leave no trace in a table
std::string Head(uint32_t id, const Fields& fields, bool end = false);
std::string Data(uint32_t id, std::string_view bytes, bool end = false);
std::string PaddedData(uint32_t id, std::string_view bytes, uint8_t padding, bool end = false);
std::string Rst(uint32_t id, uint32_t code);
std::string Ping(uint64_t payload, bool ack = false);
std::string Goaway(uint32_t last_id, uint32_t code, std::string_view debug = "");
std::string WindowUpdate(uint32_t id, uint32_t size);

// A frame that the session wrote.
struct Sent {
  int type;
  int flags;
  uint32_t id;
  std::string payload;
  uint32_t code() const;    // of RST_STREAM, and of GOAWAY
  uint64_t number() const;  // the payload as a number
};

class User : public weft::http::StreamUser {
 public:
  virtual ~User() = default;

  // "head 200 a=b", "data xyz" (neighbours joined), "trailers a=b", "end OK peer may have been
  // processed".
  std::vector<std::string> log;
  weft::http::StreamEnd end;
  int ends = 0;
  std::string body;         // to be sent
  size_t piece = SIZE_MAX;  // at most so much per ReadBody
  bool body_open = false;   // kWait behind `body` instead of kEnd
  weft::Headers trailers;
  weft::http::OpenStream* stream = nullptr;
  weft::http::Session* session = nullptr;
  bool consume = true;
  size_t received = 0;
  std::function<void(std::string_view event)> on;  // "head", "data", "trailers", "end", "read"

  weft::http::BodyPiece ReadBody(char* to, size_t size) override;
  const weft::Headers* RequestTrailers() override { return &trailers; }
  void OnHead(int status, weft::Headers headers) override;
  void OnData(std::string_view bytes) override;
  void OnTrailers(weft::Headers fields) override;
  void OnEnd(weft::http::StreamEnd ended) override;
  std::string Log() const;  // joined with "; "

 private:
  void Tell(std::string_view event) {
    if (on) on(event);
  }
  size_t sent_ = 0;
};

class Rig : public weft::http::SessionOwner {
 public:
  explicit Rig(weft::http2::SessionOptions options = {});
  ~Rig();

  // The preface goes out, the peer's SETTINGS and its acknowledgement of ours come in.
  Rig& Start(const std::vector<std::pair<uint16_t, uint32_t>>& settings = {});
  User& Open(std::string path = "/", bool has_body = false);
  // Takes an unopened user that was prepared.
  User& Prepare();
  void Open(User& user, std::string path, bool has_body);

  absl::Status Feed(std::string_view bytes);
  // One Feed per `step` bytes, with a Collect after each.
  absl::Status FeedInSteps(std::string_view bytes, size_t step);
  std::string Collect(size_t limit = SIZE_MAX);
  std::vector<Sent> CollectFrames(size_t limit = SIZE_MAX);
  // Fields of a HEADERS frame.
  Fields Decode(const Sent& frame);

  void OnSettings() override { ++settings; }
  void OnGoaway(uint32_t code, std::string_view debug) override;
  void OnPingAck(uint64_t payload) override { acks.push_back(payload); }
  void OnReset() override { ++resets; }

  int settings = 0;
  int resets = 0;
  std::vector<uint64_t> acks;
  std::vector<std::string> goaways;
  std::function<void()> on_goaway;
  weft::base::MonoTime now{std::chrono::seconds(1000)};
  std::unique_ptr<weft::http::Session> session;
  std::deque<User> users;

 private:
  struct Inflater;
  std::unique_ptr<Inflater> inflater_;
  bool preface_seen_ = false;
  std::deque<std::string> paths_;
};

const Sent* FindFrame(const std::vector<Sent>& frames, int type, uint32_t id = 0);
size_t CountFrames(const std::vector<Sent>& frames, int type);

}  // namespace weft::test::http2

#endif  // WEFT_TEST_HTTP2_RIG_H_
