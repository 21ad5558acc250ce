#include "call/stream_call.h"

#include <algorithm>
#include <cstring>

#include "event/loop.h"
#include "weft/error.h"

namespace weft::inline v0::call {
namespace {

constexpr size_t kMaxUnsent = size_t{64} << 10;
constexpr size_t kMaxReplay = size_t{256} << 10;
constexpr size_t kMaxReplayOfAll = size_t{64} << 20;
// Pieces of a body that arrive while nobody reads are joined up to this size.
constexpr size_t kJoinBytes = size_t{16} << 10;
// Of an answer that is to be bettered. Its window is not returned, so it is to be less than any.
constexpr size_t kMaxHeldBody = size_t{16} << 10;

absl::Status Busy(const char* what) {
  return absl::FailedPreconditionError(std::string("the stream has a ") + what +
                                       " waiting already");
}

absl::Status RoundIsOver() { return absl::AbortedError("the body is sent from its start"); }

}  // namespace

StreamCall::StreamCall(std::shared_ptr<Target> target, Request request, const CallOptions& options,
                       bool end_of_request)
    : Call(std::move(target), std::move(request), options),
      has_body_(!end_of_request || !this->request().body.empty() ||
                !this->request().trailers.empty()),
      out_(std::move(this->request().body)),
      writes_done_(end_of_request) {}

// ---- the user's side ----

void StreamCall::Head(PendingResult<HeadResult> to) {
  HeadResult result = absl::UnknownError("");
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    if (head_.has_value()) {
      result = *head_;
    } else if (ended_) {
      result = status_.ok() ? absl::InternalError("the stream ended without a head") : status_;
    } else if (head_reader_) {
      result = Busy("Head");
    } else {
      head_reader_ = std::move(to);
      return;
    }
  }
  Deliver(std::move(to), std::move(result), nullptr);
}

void StreamCall::Read(PendingResult<ReadResult> to) {
  ReadResult result;
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    if (!in_.empty()) {
      result = std::move(in_.front());
      in_.pop_front();
    } else if (!ended_ && !discard_ && !reader_) {
      reader_ = std::move(to);
      return;
    }
  }
  if (result.has_value()) {
    WithCommitted([&](Attempt& attempt) { attempt.Consume(result->size()); });
  }
  Deliver(std::move(to), std::move(result), nullptr);
}

void StreamCall::Write(std::string_view bytes, PendingResult<absl::Status> to, int round) {
  absl::Status result;
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    if (ended_) {
      result = status_.ok() ? absl::FailedPreconditionError("the stream has ended") : status_;
    } else if (round != body_round_) {
      result = RoundIsOver();
    } else if (writes_done_) {
      result = absl::FailedPreconditionError("the request body was completed");
    } else if (writer_) {
      result = Busy("Write");
    } else {
      out_.append(bytes);
      if (unsent() > kMaxUnsent) writer_ = std::move(to);
    }
  }
  if (result.ok()) ForEachRunning([](Attempt& attempt) { attempt.ResumeBody(); });
  if (to) Deliver(std::move(to), std::move(result), nullptr);
}

absl::Status StreamCall::WritesDone(Headers trailers, int round) {
  if (absl::Status status = trailers.Validate(); !status.ok()) return status;
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    if (ended_)
      return status_.ok() ? absl::FailedPreconditionError("the stream has ended") : status_;
    if (round != body_round_) return RoundIsOver();
    if (writes_done_) return absl::FailedPreconditionError("the request body was completed");
    writes_done_ = true;
    request().trailers = std::move(trailers);
  }
  ForEachRunning([](Attempt& attempt) { attempt.ResumeBody(); });
  return absl::OkStatus();
}

void StreamCall::Finish(PendingResult<absl::Status> to) {
  absl::Status result;
  size_t thrown_away = 0;
  bool completes_request = false;
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    for (const std::string& piece : in_) thrown_away += piece.size();
    in_.clear();
    discard_ = true;
    completes_request = !std::exchange(writes_done_, true);
    if (ended_) {
      result = status_;
    } else if (finisher_) {
      result = Busy("Finish");
    } else {
      finisher_ = std::move(to);
    }
  }
  if (thrown_away > 0) {
    WithCommitted([&](Attempt& attempt) { attempt.Consume(thrown_away); });
  }
  if (completes_request) {
    ForEachRunning([](Attempt& attempt) { attempt.ResumeBody(); });
  }
  if (to) Deliver(std::move(to), std::move(result), nullptr);
}

void StreamCall::Abort(absl::Status status) {
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    if (abort_.ok()) abort_ = std::move(status);
  }
  Cancel();
}

std::optional<ResponseHead> StreamCall::head() const {
  std::lock_guard<std::mutex> lock(io_mutex_);
  return head_;
}

Headers StreamCall::trailers() const {
  std::lock_guard<std::mutex> lock(io_mutex_);
  return trailers_;
}

CallInfo StreamCall::info() const {
  std::lock_guard<std::mutex> lock(io_mutex_);
  if (!ended_) return CallInfo();
  CallInfo info = Info();
  info.body_bytes = received_;
  return info;
}

template <class Result>
void StreamCall::Deliver(PendingResult<Result> to, Result result, event::WakeBatch* wakes) {
  event::WakeBatch own;
  auto callback = std::move(to).Deliver(result, wakes != nullptr ? *wakes : own);
  own.Wake();
  if (callback == nullptr) return;
  auto run = [call = base::Ref<StreamCall>::Share(this), callback = std::move(callback),
              result = std::move(result)]() mutable {
    if (!call->callbacks_.Enter()) return;
    {
      event::UserCode user;
      std::move(callback)(std::move(result));
      callback = nullptr;  // what it holds goes before the stream's owner may go on
    }
    call->callbacks_.Leave();
  };
  if (options().executor != nullptr) {
    PostCallback([executor = options().executor, run = std::move(run)]() mutable {
      event::UserCode user;
      (*executor)(std::move(run));
    });
  } else {
    PostCallback(std::move(run));
  }
}

// ---- the attempt's side: the strand is held ----

http::BodyPiece StreamCall::ReadBody(Attempt& attempt, char* to, size_t size) {
  http::BodyPiece piece;
  PendingResult<absl::Status> writer;
  bool keeps_too_much = false;
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    // A loser's: what it would have to send may be gone, and its end is near.
    if (ended_ || (settled_ && !attempt.committed)) return {0, http::BodyPiece::Next::kWait};
    const size_t at = attempt.body_sent - forgotten_;
    piece.bytes = std::min(size, out_.size() - at);
    std::memcpy(to, out_.data() + at, piece.bytes);
    attempt.body_sent += piece.bytes;
    sent_ = std::max(sent_, attempt.body_sent);
    if (attempt.committed || body_owner_ != nullptr) {
      ForgetSent(attempt);
    } else {
      keeps_too_much = !KeepSent();
    }
    if (unsent() <= kMaxUnsent) writer = std::move(writer_);
    piece.next = attempt.body_sent < forgotten_ + out_.size() ? http::BodyPiece::Next::kMore
                 : writes_done_                               ? http::BodyPiece::Next::kEnd
                                                              : http::BodyPiece::Next::kWait;
  }
  if (keeps_too_much && Commit(attempt)) {
    std::lock_guard<std::mutex> lock(io_mutex_);
    ForgetSent(attempt);
  }
  if (writer) Deliver(std::move(writer), absl::OkStatus(), nullptr);
  return piece;
}

bool StreamCall::KeepSent() {
  const size_t keeps = sent_ - forgotten_;
  if (keeps > kMaxReplay) return false;
  const size_t more = keeps - kept_;
  if (more == 0) return true;
  if (target().kept_for_replay.fetch_add(more, std::memory_order_relaxed) + more >
      kMaxReplayOfAll) {
    target().kept_for_replay.fetch_sub(more, std::memory_order_relaxed);
    return false;
  }
  kept_ = keeps;
  return true;
}

void StreamCall::ForgetSent(const Attempt& attempt) {
  target().kept_for_replay.fetch_sub(std::exchange(kept_, 0), std::memory_order_relaxed);
  settled_ = attempt.committed;
  sent_ = attempt.body_sent;  // others may have been further
  const size_t gone = sent_ - forgotten_;
  if (gone == 0 || gone < unsent()) return;  // each byte is moved once at the most
  out_.erase(0, gone);
  forgotten_ = sent_;
}

// An answer that another attempt may better is not shown while it is small: an error page, a
// gRPC status that is all there is, the word of a host that it has too much to do.
bool StreamCall::Holds(const Attempt& attempt, size_t more) const {
  if (attempt.committed) return false;
  if (options().protocol == Protocol::kGrpc)
    return more == 0 && attempt.answer.headers.Has("grpc-status");
  return attempt.answer.body.size() + more <= kMaxHeldBody &&
         (MayBeBettered(CodeOfHttpStatus(attempt.answer.status)) || SaysBounced(attempt));
}

void StreamCall::OnHead(Attempt& attempt) {
  attempt.answered = target().clock->Now();
  if (!Holds(attempt, 0)) Show(attempt, attempt.host->strand().wakes());
}

void StreamCall::OnData(Attempt& attempt, std::string_view bytes) {
  if (Holds(attempt, bytes.size())) {
    attempt.answer.body.append(bytes);
    return;
  }
  if (!Show(attempt, attempt.host->strand().wakes())) {
    attempt.ConsumeNow(bytes.size());
    return;
  }
  PendingResult<ReadResult> reader;
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    received_ += bytes.size();
    reader = std::move(reader_);
    if (!reader && !discard_) {
      if (in_.empty() || in_.back().size() + bytes.size() > kJoinBytes) {
        in_.emplace_back(bytes);
      } else {
        in_.back().append(bytes);
      }
      return;
    }
  }
  attempt.ConsumeNow(bytes.size());
  if (reader)
    Deliver(std::move(reader), ReadResult(std::string(bytes)), &attempt.host->strand().wakes());
}

bool StreamCall::Show(Attempt& attempt, event::WakeBatch& wakes) {
  if (!Commit(attempt)) return false;
  HeadResult head = absl::UnknownError("");
  PendingResult<HeadResult> head_reader;
  PendingResult<ReadResult> reader;
  std::string piece;
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    if (head_.has_value()) return true;
    TakeAnswer(attempt);
    head_reader = std::move(head_reader_);
    if (head_reader) head = *head_;
    if (!in_.empty() && (reader_ || discard_)) {
      reader = std::move(reader_);
      piece = std::move(in_.front());
      in_.pop_front();
    }
  }
  OnFirstAnswer(attempt);
  if (head_reader) Deliver(std::move(head_reader), std::move(head), &wakes);
  if (!piece.empty()) attempt.ConsumeNow(piece.size());
  if (reader) Deliver(std::move(reader), ReadResult(std::move(piece)), &wakes);
  return true;
}

void StreamCall::TakeAnswer(Attempt& attempt) {
  Response& answer = attempt.answer;
  head_.emplace(ResponseHead{answer.status, std::move(answer.headers)});
  received_ += answer.body.size();
  if (!answer.body.empty()) in_.push_back(std::move(answer.body));
  ForgetSent(attempt);
}

std::optional<http::Answer> StreamCall::AnswerOf(const Attempt& attempt) const {
  const Response& answer = attempt.answer;
  if (attempt.committed || answer.status == 0) return std::nullopt;
  return http::Answer{answer.status, answer.headers, answer.trailers, !answer.body.empty()};
}

bool StreamCall::CanRewind() const {
  std::lock_guard<std::mutex> lock(io_mutex_);
  return !head_.has_value() && (forgotten_ == 0 || body_owner_ != nullptr);
}

int StreamCall::body_round() const {
  std::lock_guard<std::mutex> lock(io_mutex_);
  return body_round_;
}

void StreamCall::Rewind() {
  if (body_owner_ == nullptr) return;
  PendingResult<absl::Status> writer;
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    out_.clear();
    forgotten_ = sent_ = 0;
    writes_done_ = false;
    ++body_round_;
    writer = std::move(writer_);
  }
  if (writer) Deliver(std::move(writer), RoundIsOver(), nullptr);
  Deliver(PendingResult<absl::Status>([owner = base::Ref<BodyOwner>::Share(body_owner_)](
                                          absl::Status) { owner->OnBodyWantedAgain(); }),
          absl::OkStatus(), nullptr);
}

void StreamCall::OnCallEnd(Attempt* attempt, absl::Status status, event::WakeBatch& wakes) {
  HeadResult head = absl::UnknownError("");
  ReadResult piece;
  PendingResult<HeadResult> head_reader;
  PendingResult<ReadResult> reader;
  PendingResult<absl::Status> writer;
  PendingResult<absl::Status> finisher;
  {
    std::lock_guard<std::mutex> lock(io_mutex_);
    ended_ = true;
    target().kept_for_replay.fetch_sub(std::exchange(kept_, 0), std::memory_order_relaxed);
    if (attempt != nullptr) {
      if (!head_.has_value() && attempt->answer.status != 0) TakeAnswer(*attempt);
      trailers_ = std::move(attempt->answer.trailers);
    }
    if (absl::IsCancelled(status) && !abort_.ok()) {
      const std::optional<CallError> error = GetCallError(status);
      status_ = abort_;
      if (error.has_value()) SetCallError(status_, *error);
    } else {
      status_ = std::move(status);
    }
    head_reader = std::move(head_reader_);
    reader = std::move(reader_);
    writer = std::move(writer_);
    finisher = std::move(finisher_);
    status = status_;
    if (head_.has_value()) head = *head_;
    if (reader && !in_.empty()) {
      piece = std::move(in_.front());
      in_.pop_front();
    }
  }
  const absl::Status why =
      status.ok() ? absl::FailedPreconditionError("the stream has ended") : status;
  if (!head.ok()) head = why;
  if (head_reader) Deliver(std::move(head_reader), std::move(head), &wakes);
  if (reader) Deliver(std::move(reader), std::move(piece), &wakes);
  if (writer) Deliver(std::move(writer), why, &wakes);
  if (finisher) Deliver(std::move(finisher), status, &wakes);
}

}  // namespace weft::inline v0::call
