#include "grpc/stream_state.h"

#include <utility>

#include "grpc/metadata.h"
#include "grpc/unary.h"
#include "grpc/wire_status.h"
#include "weft/error.h"

namespace weft::inline v0::grpc {

MessageStream::State::State(Channel& channel, std::string_view method,
                            std::optional<Outgoing> only_request, const CallOptions& options,
                            Context* context)
    : options_(options),
      context_(context),
      first_compression_(context != nullptr ? context->compression : Compression::kNone),
      deframer_(options.max_response_bytes) {
  CallOptions prepared = options;
  absl::StatusOr<Request> request = only_request.has_value()
                                        ? MakeRequest(method, *only_request, context, prepared)
                                        : MakeHead(method, context, prepared);
  if (!request.ok()) {
    failure_ = std::move(request).status();
    request = UnsendableRequest();
  }
  stream_ = channel.Open(*std::move(request), prepared, only_request.has_value());
}

// ---- writing ----

absl::Status MessageStream::State::Write(Outgoing message) {
  std::string frame;
  if (absl::Status status = message.AppendTo(frame, compression(), context_); !status.ok()) {
    Fail(status, false);
    return status;
  }
  return stream_.Write(frame);
}

void MessageStream::State::WriteThen(Outgoing message, StatusCallback done) {
  std::string frame;
  if (absl::Status status = message.AppendTo(frame, compression(), context_); !status.ok()) {
    Fail(status, false);
    stream_.WriteThen({}, [done = std::move(done), status](absl::Status) mutable {
      std::move(done)(std::move(status));
    });
    return;
  }
  stream_.WriteThen(frame, std::move(done));
}

absl::Status MessageStream::State::WritesDone() { return stream_.WritesDone(); }

// ---- the head ----

absl::Status MessageStream::State::InitialMetadata() {
  const absl::StatusOr<ResponseHead> head = stream_.Head();
  return head.ok() ? TakeHead(*head) : End(head.status());
}

void MessageStream::State::InitialMetadataThen(StatusCallback done) {
  stream_.HeadThen([this, done = std::move(done)](absl::StatusOr<ResponseHead> head) mutable {
    std::move(done)(head.ok() ? TakeHead(*head) : End(head.status()));
  });
}

absl::Status MessageStream::State::TakeHead(const ResponseHead& head) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!std::exchange(saw_head_, true) && context_ != nullptr && !head.headers.Has("grpc-status"))
      ReadMetadata(head.headers, context_->initial_metadata);
  }
  if (IsGrpcResponse(head.status, head.headers)) return absl::OkStatus();
  return StatusOf(head.status, head.headers, {}, true);
}

// ---- reading ----

bool MessageStream::State::AddPiece(std::optional<std::string> piece) {
  if (!piece.has_value()) {
    std::lock_guard<std::mutex> lock(mutex_);
    truncated_ = deframer_.CheckEnd();
    return false;
  }
  if (!head_.has_value()) {
    head_ = stream_.TryHead();
    if (absl::Status status = TakeHead(*head_); !status.ok()) {
      Fail(std::move(status), true);
      return false;
    }
  }
  if (broken_.ok()) broken_ = deframer_.Add(*std::move(piece));
  return true;
}

MessageStream::State::Step MessageStream::State::TakeMessage(Incoming to) {
  if (failed()) return Step::kEnd;
  absl::Status status = broken_;
  if (const std::optional<Frame> frame = deframer_.Next()) {
    status = to.Take(*frame, head_->headers.Find("grpc-encoding"), options_.max_response_bytes);
    if (status.ok()) return Step::kMessage;
  }
  if (status.ok()) return Step::kNeedMore;
  Fail(std::move(status), true);
  return Step::kEnd;
}

bool MessageStream::State::Read(Incoming to) {
  for (;;) {
    const Step step = TakeMessage(to);
    if (step != Step::kNeedMore) return step == Step::kMessage;
    if (!AddPiece(stream_.Read())) return false;
  }
}

void MessageStream::State::ReadThen(Incoming to, ReadCallback done) {
  if (deframer_.ready() == 0 && broken_.ok() && !failed()) {
    ReadMore(to, std::move(done));
    return;
  }
  // All that is needed is there, but `done` is not to run within this call. The head is there too,
  // so this comes at once.
  stream_.HeadThen([this, to, done = std::move(done)](absl::StatusOr<ResponseHead>) mutable {
    std::move(done)(TakeMessage(to) == Step::kMessage);
  });
}

void MessageStream::State::ReadMore(Incoming to, ReadCallback done) {
  stream_.ReadThen([this, to, done = std::move(done)](std::optional<std::string> piece) mutable {
    Step step = Step::kEnd;
    if (AddPiece(std::move(piece))) step = TakeMessage(to);
    if (step == Step::kNeedMore) {
      ReadMore(to, std::move(done));
    } else {
      std::move(done)(step == Step::kMessage);
    }
  });
}

// ---- the end ----

void MessageStream::State::Fail(absl::Status status, bool from_peer) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.ok()) {
      failure_ = std::move(status);
      from_peer_ = from_peer;
    }
  }
  stream_.Cancel();
}

bool MessageStream::State::failed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return !failure_.ok();
}

absl::Status MessageStream::State::End(absl::Status status) {
  const CallInfo info = stream_.Info();
  absl::Status truncated;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (context_ != nullptr) context_->info = info;
    if (!failure_.ok()) return EndOfFailure(status, info);
    truncated = truncated_;
  }
  if (!status.ok()) return status;
  const std::optional<ResponseHead> head = stream_.TryHead();
  status = StatusOfAnswer(head->status, head->headers, stream_.Trailers(), info, context_);
  return status.ok() && !truncated.ok() ? BadAnswer(truncated, info) : status;
}

// Either what was to be sent could not be, and the stream's own error says how far it got, or what
// came was wrong.
absl::Status MessageStream::State::EndOfFailure(const absl::Status& status,
                                                const CallInfo& info) const {
  if (!from_peer_) {
    absl::Status failure = failure_;
    SetCallError(failure, GetCallError(status).value_or(CallError{}));
    return failure;
  }
  return BadAnswer(failure_, info);
}

absl::Status MessageStream::State::Finish() { return End(stream_.Finish()); }

void MessageStream::State::FinishThen(StatusCallback done) {
  stream_.FinishThen([this, done = std::move(done)](absl::Status status) mutable {
    std::move(done)(End(std::move(status)));
  });
}

absl::Status MessageStream::State::EndWith(absl::Status status, size_t replies) {
  if (!status.ok()) return status;
  status = CheckOneMessage(replies);
  return status.ok() ? status : BadAnswer(status, stream_.Info());
}

absl::Status MessageStream::State::FinishWith(Incoming reply) {
  (void)WritesDone();  // said already, or the stream has ended
  size_t replies = 0;
  if (Read(reply)) replies = Read(Incoming::Nowhere()) ? 2 : 1;
  return EndWith(Finish(), replies);
}

void MessageStream::State::FinishWithThen(Incoming reply, StatusCallback done) {
  (void)WritesDone();
  ReadThen(reply, [this, done = std::move(done)](bool first) mutable {
    ReadThen(Incoming::Nowhere(), [this, first, done = std::move(done)](bool second) mutable {
      const size_t replies = size_t{first} + size_t{second};
      FinishThen([this, replies, done = std::move(done)](absl::Status status) mutable {
        std::move(done)(EndWith(std::move(status), replies));
      });
    });
  });
}

}  // namespace weft::inline v0::grpc
