// What the peer sent, as nghttp2 tells it. A user may do anything to the session from within an
// event, so after each one a stream is looked at again: its user is null once it has been
// forgotten.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "http2/error_map.h"
#include "http2/session_impl.h"

namespace weft::inline v0::http2 {
namespace {

constexpr int kMaxInterimHeads = 16;
constexpr size_t kMaxGoawayDebug = 256;
constexpr uint64_t kProbePayload = 0x77656674'00000000;  // "weft", then the number of the probe

// In the order in which the bytes are sent.
uint64_t PayloadOf(const uint8_t* bytes) {
  uint64_t payload = 0;
  for (int i = 0; i < 8; ++i) payload = payload << 8 | bytes[i];
  return payload;
}

const char* ReasonOf(int error) {
  switch (error) {
    case NGHTTP2_ERR_HTTP_HEADER:
      return "a header field that is not allowed";
    case NGHTTP2_ERR_HTTP_MESSAGING:
      return "a header block that is not allowed";
    case NGHTTP2_ERR_FLOW_CONTROL:
      return "flow control violated";
    default:
      return nullptr;
  }
}

}  // namespace

int ClientSession::OnBeginHeaders(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_HEADERS) block_.Begin();
  return 0;
}

int ClientSession::OnHeader(const nghttp2_frame& frame, std::string_view name,
                            std::string_view value) {
  const HeaderBlock::Verdict verdict = block_.Add(name, value);
  if (verdict == HeaderBlock::Verdict::kKept) return 0;
  return OnHeaderRefused(Find(frame.hd.stream_id), verdict);
}

int ClientSession::OnHeaderRefused(Stream* stream, HeaderBlock::Verdict verdict) {
  if (verdict == HeaderBlock::Verdict::kAbsurd) {
    Fail(absl::ResourceExhaustedError("sent a header block far over the limit"),
         NGHTTP2_ENHANCE_YOUR_CALM);
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  // The rest of the block is still decoded and counted: the compression state has to follow, an
  // absurd one has to end.
  if (stream == nullptr || stream->user == nullptr) return 0;
  ResetStream(*stream, NGHTTP2_PROTOCOL_ERROR);
  if (verdict == HeaderBlock::Verdict::kBadStatus) {
    End(*stream, EndOfMalformed("a status that is none"));
  } else {
    End(*stream, {absl::ResourceExhaustedError("sent response headers over the limit"),
                  Origin::kPeer, Processed::kMaybeProcessed});
  }
  return 0;
}

int ClientSession::OnFrameReceived(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA: {
      Stream* stream = Find(frame.hd.stream_id);
      if (stream == nullptr || stream->user == nullptr) break;
      if (frame.hd.type == NGHTTP2_HEADERS) OnHeadComplete(*stream);
      if (stream->user == nullptr || (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) break;
      // The answer is complete. What is left of the request is of no use any more (RFC 9113
      // section 8.1).
      if (!stream->sent_all) ResetStream(*stream, NGHTTP2_CANCEL);
      End(*stream, {absl::OkStatus(), Origin::kPeer, Processed::kMaybeProcessed});
      break;
    }
    case NGHTTP2_RST_STREAM: {
      Stream* stream = Find(frame.hd.stream_id);
      if (stream == nullptr || stream->user == nullptr) break;
      End(*stream, EndOfReset(frame.rst_stream.error_code));
      break;
    }
    case NGHTTP2_SETTINGS:
      return OnSettingsReceived(frame.settings);
    case NGHTTP2_PING:
      return OnPingReceived(frame.ping);
    case NGHTTP2_GOAWAY:
      OnGoaway(frame.goaway);
      break;
    default:
      break;
  }
  return 0;
}

void ClientSession::OnHeadComplete(Stream& stream) {
  if (stream.has_head) {
    stream.user->OnTrailers(block_.Take());
    return;
  }
  const int status = block_.status();
  if (status >= 200) {
    stream.has_head = true;
    stream.user->OnHead(status, block_.Take());
    return;
  }
  if (++stream.interim_heads <= kMaxInterimHeads) return;
  ResetStream(stream, NGHTTP2_PROTOCOL_ERROR);
  End(stream, EndOfMalformed(absl::StrCat("over ", kMaxInterimHeads, " interim responses")));
}

int ClientSession::OnSettingsReceived(const nghttp2_settings& settings) {
  if ((settings.hd.flags & NGHTTP2_FLAG_ACK) != 0) {
    settings_acknowledged_ = true;
    return 0;
  }
  settings_received_ = true;
  owner_.OnSettings();
  return 0;
}

int ClientSession::OnPingReceived(const nghttp2_ping& ping) {
  if ((ping.hd.flags & NGHTTP2_FLAG_ACK) == 0) return 0;
  const uint64_t payload = PayloadOf(ping.opaque_data);
  const std::optional<PingBook::Kind> kind = pings_.Acknowledge(payload);
  if (!kind.has_value()) {
    if (guard_.AdmitStrayPingAck()) return 0;
    Fail(absl::ResourceExhaustedError("flooded the connection with PING acknowledgements"),
         NGHTTP2_ENHANCE_YOUR_CALM);
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  if (*kind == PingBook::Kind::kProbe) {
    return tuner_.OnProbeAcknowledged(now_) ? GrowWindows() : 0;
  }
  owner_.OnPingAck(payload);
  return 0;
}

int ClientSession::GrowWindows() {
  const FlowTuner::Windows& windows = tuner_.windows();
  const int error = Check(nghttp2_session_set_local_window_size(
      ng_.get(), NGHTTP2_FLAG_NONE, 0, static_cast<int32_t>(windows.connection)));
  if (error != 0) return error;
  if (windows.stream == announced_stream_window_) return 0;
  announced_stream_window_ = windows.stream;
  // Raises the windows of streams that are open, too (RFC 9113 section 6.9.2).
  const nghttp2_settings_entry setting = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                          static_cast<uint32_t>(windows.stream)};
  return Check(nghttp2_submit_settings(ng_.get(), NGHTTP2_FLAG_NONE, &setting, 1));
}

void ClientSession::OnGoaway(const nghttp2_goaway& goaway) {
  goaway_received_ = true;
  // nghttp2 closes them as well, but later than the owner is told, and not those that it has not
  // sent yet.
  EndWhere(
      [&](const Stream& stream) {
        return stream.id > goaway.last_stream_id || !stream.head_collected();
      },
      [&](const Stream& stream) {
        return EndOfGoaway(goaway.error_code, stream.head_collected());
      });
  const std::string_view debug(reinterpret_cast<const char*>(goaway.opaque_data),
                               goaway.opaque_data_len);
  owner_.OnGoaway(goaway.error_code, Printable(debug, kMaxGoawayDebug));
}

int ClientSession::OnInvalidFrame(const nghttp2_frame& frame, int error) {
  invalid_frame_ = error;
  Stream* stream = Find(frame.hd.stream_id);
  if (stream != nullptr && stream->fault == nullptr) stream->fault = ReasonOf(error);
  return 0;
}

int ClientSession::OnDataChunk(int32_t id, std::string_view bytes) {
  // At once and whoever reads: one slow reader must not hold up the others.
  const int error = Check(nghttp2_session_consume_connection(ng_.get(), bytes.size()));
  if (error != 0) return error;
  if (tuner_.OnReceived(bytes.size(), now_)) {
    const int ping_error =
        Check(SendPing(PingBook::Kind::kProbe, kProbePayload | (++probes_ & 0xffffffff)));
    if (ping_error != 0) return ping_error;
  }
  Stream* stream = Find(id);
  if (stream == nullptr || stream->user == nullptr) return 0;
  stream->unconsumed += bytes.size();
  stream->user->OnData(bytes);
  return 0;
}

int ClientSession::OnStreamClosed(int32_t id, uint32_t code) {
  Stream* stream = Find(id);
  if (stream == nullptr) return 0;
  if (stream->user != nullptr) {
    if (!failure_.ok()) return 0;  // EndAll will end it
    // Not by the peer, which OnFrameReceived would have seen: nghttp2 found something and has reset
    // it.
    const char* reason = stream->fault;
    if (reason == nullptr && code == NGHTTP2_FLOW_CONTROL_ERROR) reason = "flow control violated";
    if (reason == nullptr && !stream->has_head) reason = "a body or an end before the final head";
    if (reason == nullptr) reason = "its body is not as long as content-length says";
    End(*stream, EndOfMalformed(reason));
  }
  if (head_sent_ == stream) head_sent_ = nullptr;
  pool_.Give(*stream);
  return 0;
}

int ClientSession::SendPing(PingBook::Kind kind, uint64_t payload) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(payload >> (56 - 8 * i));
  const int error = nghttp2_submit_ping(ng_.get(), NGHTTP2_FLAG_NONE, bytes);
  if (error == 0) pings_.Add(kind, payload);
  return error;
}

}  // namespace weft::inline v0::http2
