// What a RogueConnection receives; rogue_sending.cc has what it sends.
#include "support/rogue_connection.h"

#include <algorithm>
#include <utility>

#include "support/sim_env.h"

namespace weft::inline v0::testing {
namespace {

constexpr uint32_t kDefaultWindow = 65535;
constexpr uint32_t kDefaultFrameSize = 16384;
constexpr int64_t kLargestWindow = 0x7fffffff;

// What is wrong with a request's fields (RFC 9113 section 8); empty where nothing is.
std::string FieldError(const HeaderList& headers, bool trailers) {
  bool regular = false;
  int pseudo[4] = {};
  static constexpr std::string_view kPseudo[] = {":method", ":scheme", ":path", ":authority"};
  for (const auto& [name, value] : headers) {
    if (name.empty()) return "a field without a name";
    if (name[0] == ':') {
      const auto* known = std::find(std::begin(kPseudo), std::end(kPseudo), name);
      if (trailers || regular || known == std::end(kPseudo)) return "misplaced or unknown " + name;
      if (++pseudo[known - kPseudo] > 1) return "double " + name;
      continue;
    }
    regular = true;
    for (char c : name) {
      if (c <= ' ' || c >= 127 || c == ':' || (c >= 'A' && c <= 'Z'))
        return "a bad byte in field name " + name;
    }
    if (value.find_first_of(std::string_view("\0\r\n", 3)) != std::string::npos)
      return "a bad byte in " + name;
    if (!value.empty() && (value.front() == ' ' || value.back() == ' '))
      return "space around " + name;
    for (std::string_view connection :
         {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}) {
      if (name == connection) return "connection-specific field " + name;
    }
    if (name == "te" && value != "trailers") return "te: " + value;
  }
  if (trailers) return {};
  if (pseudo[0] != 1 || pseudo[1] != 1 || pseudo[2] != 1) return "a pseudo-header is missing";
  if (Find(headers, ":path").empty()) return "an empty :path";
  return {};
}

std::string OnStream(uint32_t id) { return " on stream " + std::to_string(id); }

}  // namespace

RogueConnection::RogueConnection(std::shared_ptr<RogueOptions> options, SimEnv* env,
                                 SimServerStream stream)
    : options_(options != nullptr ? std::move(options) : std::make_shared<RogueOptions>()),
      env_(env),
      stream_(std::move(stream)),
      id_(stream_ ? stream_.id() : 0) {}

void RogueConnection::Start() {
  if (std::exchange(started_, true)) return;
  Batch batch(*this);
  if (options_->on_connection) options_->on_connection(*this);
  if (options_->greeting.has_value()) return SendRaw(*options_->greeting);
  if (options_->send_settings) Send(SettingsFrame(options_->settings));
  if (options_->connection_window > kDefaultWindow) {
    Send(WindowUpdateFrame(0, options_->connection_window - kDefaultWindow));
  }
}

void RogueConnection::Receive(std::string_view bytes) {
  Batch batch(*this);
  Start();
  if (bad_preface_) return;
  parser_.Feed(bytes);
  if (!got_preface_) {
    const size_t size = std::min(parser_.rest().size(), kPreface.size());
    if (parser_.rest().substr(0, size) != kPreface.substr(0, size)) {
      bad_preface_ = true;
      return Violation("the preface is wrong");
    }
    if (size < kPreface.size()) return;
    parser_.TakeRaw(size);
    got_preface_ = true;
  }
  while (!closed_ && !(stream_ && stream_.closed())) {
    const std::optional<Frame> frame = parser_.Next();
    if (!frame.has_value()) return;
    OnFrame(*frame);
  }
}

void RogueConnection::OnFrame(const Frame& frame) {
  CheckFrame(frame);
  if (options_->record) frames_.push_back({Now(), frame});
  suppressed_ = options_->on_frame && options_->on_frame(*this, frame);
  switch (frame.type) {
    case kData:
      return OnData(frame);
    case kHeaders:
    case kContinuation:
      return OnHeadersPart(frame);
    case kRstStream:
      return OnReset(frame);
    case kSettings:
      return frame.has(kAck) ? OnSettingsAck() : OnSettings(frame);
    case kPing:
      if (frame.has(kAck)) {
        ping_acks_.push_back(ReadU64(frame.payload));
      } else if (options_->acknowledge_pings && !suppressed_) {
        Send(PingFrame(frame.payload, true));
      }
      return;
    case kGoaway:
      client_goaway_ = frame;
      return;
    case kWindowUpdate:
      return OnWindowUpdate(frame);
    case kPushPromise:
      return Violation("PUSH_PROMISE from a client");
    default:
      return;
  }
}

void RogueConnection::CheckFrame(const Frame& frame) {
  if (!saw_frame_ && (frame.type != kSettings || frame.has(kAck))) {
    Violation("the first frame is " + Describe(frame));
  }
  saw_frame_ = true;
  if (frame.payload.size() > std::max(Allowed(kMaxFrameSize), kDefaultFrameSize)) {
    Violation("too large: " + Describe(frame));
  }
  const bool continues = block_.has_value();
  if (continues != (frame.type == kContinuation) || (continues && frame.stream != block_->stream)) {
    Violation("within a header block, or without one: " + Describe(frame));
  }
  const bool of_connection =
      frame.type == kSettings || frame.type == kPing || frame.type == kGoaway;
  if (of_connection && frame.stream != 0) Violation("on a stream: " + Describe(frame));
  static constexpr std::pair<uint8_t, size_t> kSizes[] = {
      {kPriority, 5}, {kRstStream, 4}, {kPing, 8}, {kWindowUpdate, 4}};
  for (const auto& [type, size] : kSizes) {
    if (frame.type == type && frame.payload.size() != size)
      Violation("of a wrong size: " + Describe(frame));
  }
}

// Requests ------------------------------------------------------------------------------------

void RogueConnection::OnHeadersPart(const Frame& frame) {
  if (frame.type == kHeaders) {
    block_ = frame;
    block_->payload = Content(frame).value_or(std::string());
    block_suppressed_ = false;
  } else if (block_.has_value()) {
    block_->payload += frame.payload;
  } else {
    return;
  }
  block_suppressed_ |= suppressed_;
  if (!frame.has(kEndHeaders)) return;
  const Frame block = *std::exchange(block_, std::nullopt);
  suppressed_ = block_suppressed_;
  const std::optional<HeaderList> headers = decoder_.Decode(block.payload);
  if (!headers.has_value())
    return Violation("a header block that is not HPACK" + OnStream(block.stream));
  const bool end = block.has(kEndStream);
  if (block.stream > last_stream_) return OpenStream(block.stream, end, *headers);
  OnTrailers(block.stream, end, *headers);
}

void RogueConnection::OpenStream(uint32_t id, bool end, const HeaderList& headers) {
  if (id % 2 == 0) Violation("HEADERS" + OnStream(id));
  if (std::string error = FieldError(headers, false); !error.empty())
    Violation(error + OnStream(id));
  last_stream_ = id;
  ++request_count_;
  RogueRequest& request = requests_[id];
  request.connection = id_;
  request.stream = id;
  request.time = Now();
  request.headers = headers;
  Stream& stream = streams_[id];
  stream.send_window = ClientSetting(kInitialWindowSize, kDefaultWindow);
  stream.receive_window = settings_in_force_.count(kInitialWindowSize) != 0
                              ? settings_in_force_[kInitialWindowSize]
                              : kDefaultWindow;
  if (id > goaway_last_) {
    request.ignored = stream.reset = true;
    MaybeClosed(id);
  } else {
    stream.counted = true;
    most_open_ = std::max(most_open_, ++open_);
    if (open_ > Allowed(kMaxConcurrentStreams)) {
      Violation("stream " + std::to_string(id) + " is number " + std::to_string(open_) +
                " above MAX_CONCURRENT_STREAMS");
    }
  }
  if (!end && options_->answer_at_head) CallHandler(id);
  if (end) OnClientEnd(id);
}

void RogueConnection::OnTrailers(uint32_t id, bool end, const HeaderList& headers) {
  const auto found = streams_.find(id);
  if (found == streams_.end() || found->second.client_ended)
    return Violation("HEADERS" + OnStream(id) + ", which is closed");
  if (!end) Violation("trailers without END_STREAM" + OnStream(id));
  if (std::string error = FieldError(headers, true); !error.empty())
    Violation(error + OnStream(id));
  requests_[id].trailers = headers;
  if (end) OnClientEnd(id);
}

void RogueConnection::OnData(const Frame& frame) {
  const uint32_t id = frame.stream;
  const size_t size = frame.payload.size();
  receive_window_ -= static_cast<int64_t>(size);
  if (receive_window_ < 0) Violation("DATA beyond the connection's window" + OnStream(id));
  if (id == 0 || id > last_stream_) return Violation("DATA" + OnStream(id) + ", which is idle");
  const auto found = streams_.find(id);
  if (found == streams_.end()) return ReturnWindow(0, size);
  Stream& stream = found->second;
  if (stream.client_ended) Violation("DATA after the end" + OnStream(id));
  stream.receive_window -= static_cast<int64_t>(size);
  const int64_t on_its_way =
      int64_t{Allowed(kInitialWindowSize)} - (settings_in_force_.count(kInitialWindowSize) != 0
                                                  ? settings_in_force_[kInitialWindowSize]
                                                  : kDefaultWindow);
  if (size > 0 && stream.receive_window + std::max<int64_t>(on_its_way, 0) < 0) {
    Violation("DATA beyond the window" + OnStream(id));
  }
  const std::optional<std::string> content = Content(frame);
  if (!content.has_value()) return Violation("bad padding" + OnStream(id));
  requests_[id].body += *content;
  ReturnWindow(stream.reset || frame.has(kEndStream) ? 0 : id, size);
  if (frame.has(kEndStream)) OnClientEnd(id);
}

// To stream `id` too where that is not 0.
void RogueConnection::ReturnWindow(uint32_t id, size_t bytes) {
  if (bytes == 0 || suppressed_ || !options_->return_windows) return;
  Send(WindowUpdateFrame(0, static_cast<uint32_t>(bytes)));
  if (id != 0) Send(WindowUpdateFrame(id, static_cast<uint32_t>(bytes)));
}

void RogueConnection::OnClientEnd(uint32_t id) {
  Stream& stream = streams_[id];
  if (std::exchange(stream.client_ended, true)) return;
  RogueRequest& request = requests_[id];
  request.complete = true;
  const std::string_view length = request.header("content-length");
  if (!length.empty() && length != std::to_string(request.body.size())) {
    Violation("content-length is not the body's size" + OnStream(id));
  }
  CallHandler(id);
  MaybeClosed(id);
}

void RogueConnection::CallHandler(uint32_t id) {
  if (suppressed_ || !options_->answer || streams_[id].reset ||
      std::exchange(streams_[id].handled, true))
    return;
  const RogueRequest& request = requests_[id];
  if (!options_->handler) return Answer(id, {.body = request.body});
  const auto handler = options_->handler;
  Answer(id, handler(request));
}

void RogueConnection::OnReset(const Frame& frame) {
  if (frame.stream == 0 || frame.stream > last_stream_)
    return Violation("RST_STREAM" + OnStream(frame.stream) + ", which is idle");
  const auto found = streams_.find(frame.stream);
  if (found == streams_.end()) return;
  found->second.client_ended = found->second.reset = true;
  requests_[frame.stream].reset = ReadU32(frame.payload);
  MaybeClosed(frame.stream);
}

void RogueConnection::MaybeClosed(uint32_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  if (!stream.reset && !(stream.client_ended && stream.server_ended)) return;
  stream.body.clear();
  if (std::exchange(stream.counted, false)) --open_;
  if (!options_->record) done_.push_back(id);
}

// Settings and windows ------------------------------------------------------------------------

void RogueConnection::OnSettings(const Frame& frame) {
  client_settings_ = ReadSettings(frame.payload);
  for (const auto& [id, value] : client_settings_) {
    if (id == kInitialWindowSize) {
      const int64_t change = int64_t{value} - ClientSetting(kInitialWindowSize, kDefaultWindow);
      for (auto& [stream_id, stream] : streams_) stream.send_window += change;
    }
    client_values_[id] = value;
  }
  if (options_->acknowledge_settings && !suppressed_) Send(SettingsAckFrame());
  Flush();
}

void RogueConnection::OnSettingsAck() {
  if (settings_sent_.empty()) return Violation("SETTINGS ACK without SETTINGS");
  for (const auto& [id, value] : settings_sent_.front()) {
    if (id == kInitialWindowSize) {
      const auto old = settings_in_force_.find(id);
      const int64_t change =
          int64_t{value} - (old == settings_in_force_.end() ? kDefaultWindow : old->second);
      for (auto& [stream_id, stream] : streams_) stream.receive_window += change;
    }
    if (id == kHeaderTableSize) decoder_.SetTableSize(value);
    settings_in_force_[id] = value;
  }
  settings_sent_.pop_front();
}

void RogueConnection::OnWindowUpdate(const Frame& frame) {
  const uint32_t increment = ReadU32(frame.payload) & 0x7fffffff;
  if (increment == 0) Violation("WINDOW_UPDATE of nothing");
  if (frame.stream > last_stream_)
    return Violation("WINDOW_UPDATE" + OnStream(frame.stream) + ", which is idle");
  int64_t* window = &send_window_;
  if (frame.stream != 0) {
    const auto found = streams_.find(frame.stream);
    if (found == streams_.end()) return;
    window = &found->second.send_window;
  }
  *window += increment;
  if (*window > kLargestWindow) Violation("a window above 2^31-1" + OnStream(frame.stream));
  Flush();
}

uint32_t RogueConnection::Allowed(uint16_t setting) const {
  const auto found = settings_in_force_.find(setting);
  uint32_t allowed = found != settings_in_force_.end()  ? found->second
                     : setting == kMaxConcurrentStreams ? UINT32_MAX
                     : setting == kInitialWindowSize    ? kDefaultWindow
                     : setting == kMaxFrameSize         ? kDefaultFrameSize
                                                        : 0;
  for (const SettingList& sent : settings_sent_) {
    for (const auto& [id, value] : sent) {
      if (id == setting) allowed = std::max(allowed, value);
    }
  }
  return allowed;
}

uint32_t RogueConnection::ClientSetting(uint16_t setting, uint32_t otherwise) const {
  const auto found = client_values_.find(setting);
  return found == client_values_.end() ? otherwise : found->second;
}

// Looking -------------------------------------------------------------------------------------

const RogueRequest* RogueConnection::request(uint32_t stream) const {
  const auto found = requests_.find(stream);
  return found == requests_.end() ? nullptr : &found->second;
}

size_t RogueConnection::CountFrames(uint8_t type) const {
  return static_cast<size_t>(
      std::count_if(frames_.begin(), frames_.end(),
                    [type](const ReceivedFrame& f) { return f.frame.type == type; }));
}

size_t RogueConnection::blocked_bytes() const {
  size_t bytes = 0;
  for (const auto& [id, stream] : streams_) bytes += stream.body.size();
  return bytes;
}

base::MonoTime RogueConnection::Now() const {
  return env_ != nullptr ? env_->Now() : base::MonoTime();
}

}  // namespace weft::inline v0::testing
