#include "weft/stream.h"

#include <utility>

#include "call/stream_call.h"
#include "event/loop.h"

namespace weft::inline v0 {
namespace {

absl::Status NoStream() { return absl::FailedPreconditionError("the Stream is empty"); }

absl::Status WouldBlock(const char* what) {
  return absl::FailedPreconditionError(
      std::string("a blocking Stream::") + what +
      " on a loop thread would stop the loop; use the form with a callback");
}

// Blocks for what `begin` asks for.
template <class Result, class Begin>
Result Block(Begin&& begin) {
  call::BlockedFor<Result> blocked;
  std::forward<Begin>(begin)(call::PendingResult<Result>(&blocked));
  blocked.waiter.Wait();
  return *std::move(blocked.result);
}

}  // namespace

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this != &other) {
    Stream old(std::move(*this));
    call_ = std::exchange(other.call_, nullptr);
  }
  return *this;
}

Stream::~Stream() {
  if (call_ == nullptr) return;
  event::WeftCode weft;
  call_->callbacks().Close();
  call_->Cancel();
  call_->Release();
}

absl::StatusOr<ResponseHead> Stream::Head() {
  if (call_ == nullptr) return NoStream();
  if (event::OnAnyLoop()) return WouldBlock("Head");
  return Block<absl::StatusOr<ResponseHead>>([this](auto to) { call_->Head(std::move(to)); });
}

void Stream::HeadThen(HeadCallback done) {
  event::WeftCode weft;
  call_->Head(call::PendingResult<absl::StatusOr<ResponseHead>>(std::move(done)));
}

std::optional<std::string> Stream::Read() {
  if (call_ == nullptr) return std::nullopt;
  event::WeftCode weft;
  if (event::OnAnyLoop()) {
    call_->Abort(WouldBlock("Read"));
    return std::nullopt;
  }
  return Block<std::optional<std::string>>([this](auto to) { call_->Read(std::move(to)); });
}

void Stream::ReadThen(ReadCallback done) {
  event::WeftCode weft;
  call_->Read(call::PendingResult<std::optional<std::string>>(std::move(done)));
}

std::optional<ResponseHead> Stream::TryHead() const {
  return call_ == nullptr ? std::nullopt : call_->head();
}

absl::Status Stream::Write(std::string_view bytes) {
  if (call_ == nullptr) return NoStream();
  if (event::OnAnyLoop()) return WouldBlock("Write");
  return Block<absl::Status>([&](auto to) { call_->Write(bytes, std::move(to)); });
}

void Stream::WriteThen(std::string_view bytes, WriteCallback done) {
  event::WeftCode weft;
  call_->Write(bytes, call::PendingResult<absl::Status>(std::move(done)));
}

absl::Status Stream::WritesDone(Headers trailers) {
  event::WeftCode weft;
  return call_ == nullptr ? NoStream() : call_->WritesDone(std::move(trailers));
}

absl::Status Stream::Finish() {
  if (call_ == nullptr) return NoStream();
  if (event::OnAnyLoop()) return WouldBlock("Finish");
  return Block<absl::Status>([this](auto to) { call_->Finish(std::move(to)); });
}

void Stream::FinishThen(WriteCallback done) {
  event::WeftCode weft;
  call_->Finish(call::PendingResult<absl::Status>(std::move(done)));
}

Headers Stream::Trailers() const { return call_ == nullptr ? Headers() : call_->trailers(); }

CallInfo Stream::Info() const { return call_ == nullptr ? CallInfo() : call_->info(); }

void Stream::Cancel() {
  event::WeftCode weft;
  if (call_ != nullptr) call_->Cancel();
}

}  // namespace weft::inline v0
