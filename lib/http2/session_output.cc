// What is collected for the peer. nghttp2 orders it: control frames, then heads of requests, then
// bodies.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "http2/error_map.h"
#include "http2/nv.h"
#include "http2/session_impl.h"

namespace weft::inline v0::http2 {
namespace {

constexpr int kEmptyReads = 16;  // how often in a row a body may say "more" and give nothing

std::string_view View(const uint8_t* bytes, size_t size) {
  return size == 0 ? std::string_view()
                   : std::string_view(reinterpret_cast<const char*>(bytes), size);
}

}  // namespace

void ClientSession::Collect(std::string& out, size_t limit) {
  if (ended_) return;
  while (Stream* stream = stillborn_.front()) {
    End(*stream, {absl::UnavailableError("takes no more requests on this connection"),
                  Origin::kConnection, Processed::kNotSent});
  }
  out += pending_;
  pending_.clear();
  if (!dead_) {
    if (retry_bodies_) RetryBodies();
    Pump(out, limit);
    EndUnopened();
  }
  // Nobody has been told: it did not come up in Feed. Without an end the streams would wait for
  // ever.
  if (!failure_.ok() && !failure_told_) EndEvery(failure_, produced_);
}

bool ClientSession::wants_to_send() const {
  if (ended_) return false;
  return !pending_.empty() || !stillborn_.empty() ||
         (!dead_ && (retry_bodies_ || nghttp2_session_want_write(ng_.get()) != 0));
}

// Appends what nghttp2 has; bodies only while `out` is below `limit`.
void ClientSession::Pump(std::string& out, size_t limit) {
  out_ = &out;
  limit_ = limit;
  while (true) {
    const uint8_t* bytes = nullptr;
    const auto size = nghttp2_session_mem_send(ng_.get(), &bytes);
    if (size < 0) {
      Check(static_cast<int>(size));
      dead_ = true;
    }
    if (size <= 0) break;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    produced_ += static_cast<uint64_t>(size);
    if (head_sent_ != nullptr) {
      head_sent_->head_end = produced_;
      if (head_sent_->user != nullptr) --unsent_;
      head_sent_ = nullptr;
    }
  }
  out_ = nullptr;
}

// The peer lowered its stream limit after Open: nghttp2 would keep the heads until there is room,
// but their bytes are not ours for so long.
void ClientSession::EndUnopened() {
  if (unsent_ == 0 || !failure_.ok()) return;
  EndWhere(
      [this](Stream& stream) {
        if (stream.head_collected()) return false;
        ResetStream(stream, NGHTTP2_CANCEL);
        return true;
      },
      [](const Stream&) {
        return http::StreamEnd{absl::UnavailableError("lowered its limit of concurrent streams"),
                               Origin::kConnection, Processed::kNotSent};
      });
}

void ClientSession::RetryBodies() {
  retry_bodies_ = false;
  for (Stream* stream = live_.front(); stream != nullptr; stream = live_.next(stream)) {
    if (!stream->retry) continue;
    stream->retry = false;
    ResumeBody(HandleOf(*stream));
  }
}

ssize_t ClientSession::ReadBody(Stream& stream, char* to, size_t size, uint32_t* flags) {
  if (stream.user == nullptr) return NGHTTP2_ERR_DEFERRED;  // its RST_STREAM is on the way
  if (!failure_.ok() || out_->size() >= limit_) return NGHTTP2_ERR_PAUSE;
  size_t filled = 0;
  int empty_reads = 0;
  while (filled < size) {
    stream.resumed = false;
    const http::BodyPiece piece = stream.user->ReadBody(to + filled, size - filled);
    if (stream.user == nullptr) return NGHTTP2_ERR_DEFERRED;
    filled += std::min(piece.bytes, size - filled);
    if (piece.next == http::BodyPiece::Next::kEnd) return EndBody(stream, filled, flags);
    if (piece.next == http::BodyPiece::Next::kWait && !stream.resumed) {
      stream.waiting = filled == 0;
      break;
    }
    if (piece.bytes == 0 && ++empty_reads == kEmptyReads) {
      if (filled == 0) stream.waiting = stream.retry = retry_bodies_ = true;
      break;
    }
  }
  if (filled == 0) return NGHTTP2_ERR_DEFERRED;
  guard_.OnDataSent(filled);
  return static_cast<ssize_t>(filled);
}

ssize_t ClientSession::EndBody(Stream& stream, size_t filled, uint32_t* flags) {
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  guard_.OnDataSent(filled);
  const Headers* trailers = stream.user->RequestTrailers();
  if (stream.user == nullptr || trailers == nullptr || trailers->empty()) {
    return static_cast<ssize_t>(filled);
  }
  *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
  fields_.clear();
  for (const Headers::Field field : *trailers) {
    fields_.push_back(Nv(field.name, field.value, NGHTTP2_NV_FLAG_NONE));
  }
  const int error =
      Check(nghttp2_submit_trailer(ng_.get(), stream.id, fields_.data(), fields_.size()));
  return error != 0 ? error : static_cast<ssize_t>(filled);
}

int ClientSession::OnFrameSent(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA: {
      Stream* stream = Find(frame.hd.stream_id);
      if (stream == nullptr) break;
      if (frame.hd.type == NGHTTP2_HEADERS && !stream->head_collected()) head_sent_ = stream;
      if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->sent_all = true;
      break;
    }
    case NGHTTP2_RST_STREAM:  // of nghttp2's own accord, or noted already
      if (Stream* stream = Find(frame.hd.stream_id)) NoteReset(*stream);
      break;
    case NGHTTP2_GOAWAY:
      if (own_goaways_ > 0) {
        --own_goaways_;
      } else if (failure_.ok()) {
        // nghttp2 has given up and says why.
        std::string reason(View(frame.goaway.opaque_data, frame.goaway.opaque_data_len));
        if (reason.empty() && invalid_frame_ != 0) reason = nghttp2_strerror(invalid_frame_);
        failure_ = ConnectionError(frame.goaway.error_code, reason);
      }
      break;
    default:
      break;
  }
  return 0;
}

int ClientSession::OnFrameNotSent(const nghttp2_frame& frame, int error) {
  if (frame.hd.type != NGHTTP2_HEADERS || !failure_.ok()) return 0;
  Stream* stream = Find(frame.hd.stream_id);
  if (stream == nullptr || stream->user == nullptr) return 0;
  const bool is_head = !stream->head_collected();
  if (!is_head) ResetStream(*stream, NGHTTP2_CANCEL);  // its trailers
  if (error == NGHTTP2_ERR_FRAME_SIZE_ERROR) {
    End(*stream, {absl::ResourceExhaustedError("is not sent request headers of this size"),
                  Origin::kLocal, is_head ? Processed::kNotSent : Processed::kMaybeProcessed});
  } else {
    End(*stream, {absl::UnavailableError(absl::StrCat("takes no more requests on this connection (",
                                                      nghttp2_strerror(error), ")")),
                  Origin::kConnection, is_head ? Processed::kNotSent : Processed::kMaybeProcessed});
  }
  return 0;
}

}  // namespace weft::inline v0::http2
