#include "call/pumped_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "event/loop.h"

namespace weft::inline v0::call {
namespace {

// The source is not the stream's to know: the stream's request is what can be checked and sent at
// once.
Request WithoutSource(Request request) {
  request.source = nullptr;
  return request;
}

// Two attempts at the same time would need the source at two places.
CallOptions WithoutHedges(CallOptions options, const Request& request) {
  if (request.source != nullptr && request.source->can_rewind())
    options.hedge_delay = absl::InfiniteDuration();
  return options;
}

template <class Function>
auto InUserCode(Function&& function) {
  event::UserCode user;
  return std::forward<Function>(function)();
}

}  // namespace

PumpedCall::PumpedCall(std::shared_ptr<Target> target, Request request, const CallOptions& options,
                       BodySink* sink)
    : stream_(base::MakeRef<StreamCall>(std::move(target), WithoutSource(request),
                                        WithoutHedges(options, request),
                                        /*end_of_request=*/request.source == nullptr)),
      source_(std::move(request.source)),
      sink_(sink),
      max_response_bytes_(options.max_response_bytes) {}

void PumpedCall::Start(ResponseCallback done) {
  done_ = std::move(done);
  const auto self = base::Ref<PumpedCall>::Share(this);
  if (source_ != nullptr && source_->can_rewind()) stream_->SetBodyOwner(this);
  pumping_out_ = source_ != nullptr;
  stream_->Start();
  stream_->Head(
      PendingResult<StreamCall::HeadResult>([self](auto head) { self->OnHead(std::move(head)); }));
  if (source_ != nullptr) {
    // The first piece is asked for where the later ones are, not on the caller's thread.
    stream_->Write("", PendingResult<absl::Status>([self](absl::Status written) {
                     if (written.ok() || absl::IsAborted(written)) self->PumpRound();
                   }));
  }
}

void PumpedCall::Fail(absl::Status status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.ok()) failure_ = status;
  }
  stream_->Abort(std::move(status));
}

absl::Status PumpedCall::failure() {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void PumpedCall::OnBodyWantedAgain() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // It will see for itself, or has seen.
    if (pumping_out_ || last_round_ == stream_->body_round()) return;
    pumping_out_ = true;
  }
  PumpRound();
}

void PumpedCall::PumpRound() {
  const int round = stream_->body_round();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    last_round_ = round;
  }
  if (round > 0) {
    if (absl::Status status = InUserCode([&] { return source_->Rewind(); }); !status.ok()) {
      Fail(std::move(status));
      return;
    }
  }
  PumpOut(round);
}

void PumpedCall::PumpOut(int round) {
  std::string piece;
  const absl::StatusOr<bool> more = InUserCode([&] { return source_->Read(piece); });
  if (!more.ok()) {
    Fail(more.status());
    return;
  }
  if (*more) {
    stream_->Write(piece,
                   PendingResult<absl::Status>(
                       [self = base::Ref<PumpedCall>::Share(this), round](absl::Status written) {
                         if (written.ok()) {
                           self->PumpOut(round);
                         } else {
                           self->OnRoundOver(round);
                         }
                       }),
                   round);
    return;
  }
  if (!piece.empty()) stream_->Write(piece, PendingResult<absl::Status>(), round);
  const absl::Status done =
      stream_->WritesDone(InUserCode([&] { return source_->Trailers(); }), round);
  if (absl::IsInvalidArgument(done)) {
    Fail(done);  // a trailer that cannot be sent; an ended stream tells by itself
    return;
  }
  OnRoundOver(round);
}

void PumpedCall::OnRoundOver(int round) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stream_->body_round() == round) {
      pumping_out_ = false;
      return;
    }
  }
  PumpRound();
}

void PumpedCall::OnHead(absl::StatusOr<ResponseHead> head) {
  if (head.ok()) {
    response_.status = head->status;
    response_.headers = std::move(head->headers);
    if (sink_ != nullptr) {
      absl::Status status =
          InUserCode([&] { return sink_->OnHead(response_.status, response_.headers); });
      if (!status.ok()) Fail(std::move(status));
    }
  }
  PumpIn();
}

void PumpedCall::PumpIn() {
  stream_->Read(
      PendingResult<StreamCall::ReadResult>([self = base::Ref<PumpedCall>::Share(this)](
                                                auto piece) { self->OnPiece(std::move(piece)); }));
}

void PumpedCall::OnPiece(std::optional<std::string> piece) {
  if (!piece.has_value()) {
    stream_->Finish(PendingResult<absl::Status>(
        [self = base::Ref<PumpedCall>::Share(this)](absl::Status status) {
          self->OnFinished(std::move(status));
        }));
    return;
  }
  absl::Status status;
  if (!failure().ok()) {
    // Nobody wants it any more.
  } else if (sink_ != nullptr) {
    status = InUserCode([&] { return sink_->Write(*piece); });
  } else if (piece->size() > max_response_bytes_ - response_.body.size()) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("the response body exceeds max_response_bytes (", max_response_bytes_, ")"));
  } else {
    response_.body.append(*piece);
  }
  if (!status.ok()) Fail(std::move(status));
  PumpIn();
}

void PumpedCall::OnFinished(absl::Status status) {
  absl::StatusOr<Response> result = absl::UnknownError("");
  if (status.ok()) status = failure();
  if (!status.ok()) {
    result = std::move(status);
  } else {
    response_.trailers = stream_->trailers();
    response_.info = stream_->info();
    result = std::move(response_);
  }
  InUserCode([&] {
    std::move(done_)(std::move(result));
    done_ = nullptr;
  });
}

}  // namespace weft::inline v0::call
