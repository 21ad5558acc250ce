#include "http2/client_session.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "http2/error_map.h"
#include "http2/nv.h"
#include "http2/session_impl.h"

namespace weft::inline v0::http2 {
namespace {

constexpr size_t kMaxWindow = INT32_MAX;        // RFC 9113 section 6.9.1
constexpr size_t kUnlimitedStreams = 1u << 20;  // what a peer gets that sets no limit
constexpr int32_t kSpareIds = 1 << 20;          // left when a successor is to be made
constexpr std::string_view kUserAgent = "weft/0.1.0";

// Values that must not stay in a compression table that others on the way share (RFC 7541
// section 7.1.3).
bool IsSensitive(std::string_view name) {
  return name == "authorization" || name == "cookie" || name == "proxy-authorization";
}

// nghttp2 only points at the bytes: they live until the head is collected.
nghttp2_nv Field(std::string_view name, std::string_view value, int flags = 0) {
  return Nv(name, value, flags | NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE);
}

FlowTuner::Windows Clamp(size_t stream, size_t connection) {
  return {std::clamp<size_t>(stream, 1, kMaxWindow),
          std::clamp<size_t>(connection, 65535, kMaxWindow)};
}

}  // namespace

std::unique_ptr<http::Session> NewClientSession(const SessionOptions& options,
                                                http::SessionOwner& owner) {
  return std::make_unique<ClientSession>(options, owner);
}

ClientSession::ClientSession(const SessionOptions& options, http::SessionOwner& owner)
    : owner_(owner),
      last_id_(std::max(options.first_stream_id | 1, 1) - 2),
      tuner_(Clamp(options.stream_window, options.connection_window),
             Clamp(options.max_stream_window, options.max_connection_window)),
      announced_stream_window_(tuner_.windows().stream),
      block_(options.max_header_list_bytes) {
  nghttp2_session* session = nullptr;
  const int error = NewNghttp2Session(*this, allocator_.mem(), &session);
  ng_.reset(session);
  if (error != 0 || Start(options) != 0) {
    failure_ = absl::ResourceExhaustedError("no memory for an HTTP/2 session");
    dead_ = true;
  }
}

ClientSession::~ClientSession() {
  while (live_.pop_front() != nullptr) {
  }
  while (stillborn_.pop_front() != nullptr) {
  }
}

int ClientSession::Start(const SessionOptions& options) {
  const auto setting = [](int32_t id, size_t value) {
    return nghttp2_settings_entry{id, static_cast<uint32_t>(std::min<size_t>(value, UINT32_MAX))};
  };
  const nghttp2_settings_entry settings[] = {
      setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
      setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, tuner_.windows().stream),
      setting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, options.max_header_list_bytes),
  };
  int error = nghttp2_submit_settings(ng_.get(), NGHTTP2_FLAG_NONE, settings, std::size(settings));
  if (error != 0) return error;
  error = nghttp2_session_set_local_window_size(ng_.get(), NGHTTP2_FLAG_NONE, 0,
                                                static_cast<int32_t>(tuner_.windows().connection));
  if (error != 0) return error;
  return nghttp2_session_set_next_stream_id(ng_.get(), last_id_ + 2);
}

absl::Status ClientSession::Feed(std::string_view bytes, base::MonoTime now) {
  if (failure_.ok() && !ended_) {
    now_ = now;
    TakeIn(bytes);
  }
  failure_told_ = failure_told_ || !failure_.ok();
  return failure_;
}

void ClientSession::TakeIn(std::string_view bytes) {
  if (std::optional<std::string> stranger = first_bytes_.Look(bytes)) {
    Fail(absl::InternalError(*stranger), NGHTTP2_PROTOCOL_ERROR);
    return;
  }
  bool flooded = false;
  const size_t size = scanner_.Scan(bytes, [&](const FrameHead& head) {
    flooded = !guard_.Admit(head, now_);
    return !flooded;
  });
  // The head of the frame that is one too many is left out, so that what came before still counts.
  const auto taken =
      nghttp2_session_mem_recv(ng_.get(), reinterpret_cast<const uint8_t*>(bytes.data()),
                               flooded ? size - std::min<size_t>(size, 9) : size);
  if (taken < 0) {
    Check(static_cast<int>(taken));
  } else if (failure_.ok() && nghttp2_session_check_request_allowed(ng_.get()) == 0) {
    // nghttp2 has given up, or the peer is going away: only the frames that it wants to send tell.
    Pump(pending_, 0);
  }
  if (flooded && failure_.ok()) {
    Fail(
        absl::ResourceExhaustedError(absl::StrCat("flooded the connection with ", guard_.excess())),
        NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

size_t ClientSession::capacity() const {
  if (!settings_received_ || !accepting()) return 0;
  const size_t limit = std::min<size_t>(
      nghttp2_session_get_remote_settings(ng_.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
      kUnlimitedStreams);
  const auto ids_left = static_cast<size_t>((int64_t{INT32_MAX} - last_id_) / 2);
  return limit <= open_ ? 0 : std::min(limit - open_, ids_left);
}

bool ClientSession::accepting() const {
  return failure_.ok() && !ended_ && !goaway_received_ && !goaway_said_ &&
         last_id_ <= INT32_MAX - 2;
}

bool ClientSession::nearing_end() const { return last_id_ > INT32_MAX - 2 * kSpareIds; }

void ClientSession::BuildHead(const http::RequestHead& head) {
  fields_.clear();
  fields_.push_back(Field(":method", head.method));
  fields_.push_back(Field(":scheme", head.scheme));
  fields_.push_back(Field(":authority", head.authority));
  fields_.push_back(Field(":path", head.path));
  bool has_user_agent = false;
  if (head.headers != nullptr) {
    for (const Headers::Field field : *head.headers) {
      fields_.push_back(
          Field(field.name, field.value, IsSensitive(field.name) ? NGHTTP2_NV_FLAG_NO_INDEX : 0));
      has_user_agent = has_user_agent || field.name == "user-agent";
    }
  }
  for (const Headers::Field field : head.attempt_fields) {
    fields_.push_back(Field(field.name, field.value, NGHTTP2_NV_FLAG_NO_INDEX));
  }
  if (!has_user_agent) fields_.push_back(Field("user-agent", kUserAgent));
}

http::OpenStream* ClientSession::Open(http::StreamUser& user, const http::RequestHead& head) {
  const bool has_room = capacity() > 0;
  WEFT_DCHECK(has_room);
  Stream& stream = pool_.Take();
  stream.user = &user;
  ++open_;
  int32_t id = NGHTTP2_ERR_SESSION_CLOSING;
  if (has_room) {
    BuildHead(head);
    const nghttp2_data_provider body = BodyOf(stream);
    id = nghttp2_submit_request(ng_.get(), nullptr, fields_.data(), fields_.size(),
                                head.has_body ? &body : nullptr, &stream);
    Check(id);
  }
  if (id < 0) {
    stream.list = &stillborn_;
  } else {
    stream.list = &live_;
    stream.id = last_id_ = id;
    ++unsent_;
    guard_.OnStreamOpened();
  }
  stream.list->push_back(&stream);
  return HandleOf(stream);
}

void ClientSession::Reset(http::OpenStream* handle, http::ResetReason reason) {
  Stream& stream = StreamOf(handle);
  if (stream.user == nullptr) return;
  Forget(stream);
  if (stream.id == 0) {
    pool_.Give(stream);
    return;
  }
  ResetStream(stream,
              reason == http::ResetReason::kCancelled ? NGHTTP2_CANCEL : NGHTTP2_INTERNAL_ERROR);
}

// nghttp2 drops a head that it has not given out yet, and sends nothing.
void ClientSession::ResetStream(Stream& stream, uint32_t code) {
  if (dead_) return;
  if (stream.head_collected()) NoteReset(stream);
  Check(nghttp2_submit_rst_stream(ng_.get(), NGHTTP2_FLAG_NONE, stream.id, code));
}

void ClientSession::NoteReset(Stream& stream) {
  if (!std::exchange(stream.reset, true)) owner_.OnReset();
}

http::Sent ClientSession::RequestSent(const http::OpenStream* handle) const {
  const Stream& stream = StreamOf(handle);
  if (stream.sent_all) return http::Sent::kAll;
  return stream.head_collected() ? http::Sent::kPart : http::Sent::kNothing;
}

void ClientSession::HandOver(http::OpenStream* handle, http::StreamUser& to) {
  Stream& stream = StreamOf(handle);
  WEFT_DCHECK(stream.user != nullptr && stream.sent_all);
  stream.user = &to;
  Consume(handle, stream.unconsumed);
}

void ClientSession::ResumeBody(http::OpenStream* handle) {
  Stream& stream = StreamOf(handle);
  if (!stream.waiting) {
    stream.resumed = true;  // perhaps from within its ReadBody
    return;
  }
  stream.waiting = false;
  if (dead_) return;
  Check(nghttp2_session_resume_data(ng_.get(), stream.id));
}

void ClientSession::Consume(http::OpenStream* handle, size_t bytes) {
  Stream& stream = StreamOf(handle);
  WEFT_DCHECK(bytes <= stream.unconsumed);
  bytes = std::min(bytes, stream.unconsumed);
  stream.unconsumed -= bytes;
  tuner_.OnConsumed(stream.sample, bytes);
  if (dead_) return;
  Check(nghttp2_session_consume_stream(ng_.get(), stream.id, bytes));
}

void ClientSession::Ping(uint64_t payload) {
  if (dead_) return;
  Check(SendPing(PingBook::Kind::kOwner, payload));
}

void ClientSession::Goaway(uint32_t code, std::string_view debug) {
  goaway_said_ = true;
  if (dead_ || !failure_.ok()) return;
  constexpr size_t kMaxDebug = 1024;
  const int error = nghttp2_submit_goaway(ng_.get(), NGHTTP2_FLAG_NONE, 0, code,
                                          reinterpret_cast<const uint8_t*>(debug.data()),
                                          std::min(debug.size(), kMaxDebug));
  if (error == 0) ++own_goaways_;
  Check(error);
}

void ClientSession::EndAll(const absl::Status& status, uint64_t bytes_sent) {
  ended_ = true;
  EndEvery(status, bytes_sent);
}

void ClientSession::EndWhere(const std::function<bool(Stream&)>& doomed,
                             const std::function<http::StreamEnd(const Stream&)>& make_end) {
  Streams ending;
  for (Streams* list : {&live_, &stillborn_}) {
    for (Stream* stream = list->front(); stream != nullptr;) {
      Stream* next = list->next(stream);
      if (doomed(*stream)) {
        list->erase(stream);
        stream->list = &ending;
        ending.push_back(stream);
      }
      stream = next;
    }
  }
  while (Stream* stream = ending.front()) End(*stream, make_end(*stream));
}

void ClientSession::EndEvery(const absl::Status& status, uint64_t bytes_sent) {
  const std::optional<CallError> error = GetCallError(status);
  const Origin origin = error.has_value() ? error->origin : Origin::kConnection;
  EndWhere([](const Stream&) { return true; },
           [&](const Stream& stream) {
             return http::StreamEnd{
                 status, origin,
                 stream.head_end <= bytes_sent ? Processed::kMaybeProcessed : Processed::kNotSent};
           });
}

Stream* ClientSession::Find(int32_t id) const {
  return id <= 0 ? nullptr
                 : static_cast<Stream*>(nghttp2_session_get_stream_user_data(ng_.get(), id));
}

http::StreamUser* ClientSession::Forget(Stream& stream) {
  stream.list->erase(&stream);
  --open_;
  if (stream.id != 0 && !stream.head_collected()) --unsent_;
  return std::exchange(stream.user, nullptr);
}

void ClientSession::End(Stream& stream, http::StreamEnd end) {
  http::StreamUser* user = Forget(stream);
  if (stream.id == 0) pool_.Give(stream);
  user->OnEnd(std::move(end));
}

void ClientSession::Fail(absl::Status failure, uint32_t code) {
  if (!failure_.ok()) return;
  failure_ = std::move(failure);
  if (nghttp2_session_terminate_session(ng_.get(), code) != 0) dead_ = true;
}

// Takes note of what nghttp2 cannot go on after. Returns what a callback has to return.
int ClientSession::Check(int error) {
  if (error >= 0 || nghttp2_is_fatal(error) == 0) return 0;
  switch (error) {
    case NGHTTP2_ERR_NOMEM:
      Fail(absl::ResourceExhaustedError("was given up: out of memory"), NGHTTP2_INTERNAL_ERROR);
      break;
    case NGHTTP2_ERR_FLOODED:
      Fail(absl::ResourceExhaustedError(
               "flooded the connection with frames that want an acknowledgement"),
           NGHTTP2_ENHANCE_YOUR_CALM);
      break;
    default:
      Fail(absl::InternalError(
               absl::StrCat("broke the rules of HTTP/2 (", nghttp2_strerror(error), ")")),
           NGHTTP2_INTERNAL_ERROR);
  }
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

}  // namespace weft::inline v0::http2
