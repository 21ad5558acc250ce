#include "call/unary_call.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "http/grpc_wire.h"

namespace weft::inline v0::call {
namespace {

// What is set aside at once on the word of a content-length; more comes as the bytes do.
constexpr size_t kMaxReserve = size_t{1} << 20;

// The first bytes of an error page are no length, whatever they are.
bool HasMessages(const Response& response) {
  return response.status == 200 && response.headers["content-type"].starts_with("application/grpc");
}

}  // namespace

void UnaryCall::Start(ResponseCallback done) {
  done_ = std::move(done);
  has_body_ = !request().body.empty() || !request().trailers.empty();
  Begin();
}

void UnaryCall::StartForWait() {
  waited_for_ = true;
  has_body_ = !request().body.empty() || !request().trailers.empty();
  Begin();
}

absl::StatusOr<Response> UnaryCall::Wait() {
  if (taken_.exchange(true)) return absl::FailedPreconditionError("the call was waited for before");
  waiter_.Wait();
  return TakeResult();
}

http::BodyPiece UnaryCall::ReadBody(Attempt& attempt, char* to, size_t size) {
  const std::string& body = request().body;
  const size_t n = std::min(size, body.size() - attempt.body_sent);
  std::memcpy(to, body.data() + attempt.body_sent, n);
  attempt.body_sent += n;
  return {n, attempt.body_sent == body.size() ? http::BodyPiece::Next::kEnd
                                              : http::BodyPiece::Next::kMore};
}

void UnaryCall::OnHead(Attempt& attempt) {
  Response& answer = attempt.answer;
  const std::string_view length = answer.headers["content-length"];
  size_t bytes = 0;
  std::from_chars(length.data(), length.data() + length.size(), bytes);
  answer.body.reserve(std::min({bytes, max_response_bytes(), kMaxReserve}));
}

void UnaryCall::OnData(Attempt& attempt, std::string_view bytes) {
  std::string& body = attempt.answer.body;
  size_t limit = max_response_bytes();
  const bool is_grpc = options().protocol == Protocol::kGrpc;
  if (is_grpc) limit += std::min(http::kGrpcPrefixBytes, SIZE_MAX - limit);
  bool too_large = bytes.size() > limit - body.size();
  if (!too_large) {
    const bool had_prefix = body.size() >= http::kGrpcPrefixBytes;
    body.append(bytes);
    // Before as many bytes are taken in as the peer chooses to announce.
    too_large = is_grpc && !had_prefix && body.size() >= http::kGrpcPrefixBytes &&
                HasMessages(attempt.answer) && http::GrpcMessageBytes(body) > max_response_bytes();
  }
  if (too_large) {
    attempt.Fail(absl::ResourceExhaustedError(
        absl::StrCat("the response ", is_grpc ? "message" : "body", " exceeds max_response_bytes (",
                     max_response_bytes(), ")")));
    return;
  }
  attempt.ConsumeNow(bytes.size());
}

std::optional<http::Answer> UnaryCall::AnswerOf(const Attempt& attempt) const {
  const Response& answer = attempt.answer;
  return http::Answer{answer.status, answer.headers, answer.trailers, !answer.body.empty()};
}

void UnaryCall::OnCallEnd(Attempt* attempt, absl::Status status, event::WakeBatch& wakes) {
  answered_ = attempt;
  status_ = std::move(status);
  if (waited_for_) {
    // Whoever waits holds a reference of its own.
    waiter_.Complete(wakes);
    return;
  }
  Retain();  // until the callback has run
  if (target().HasLoops()) {
    loop().Post(this);
  } else {
    PostCallback([this] { Run(); });
  }
}

absl::StatusOr<Response> UnaryCall::TakeResult() {
  if (!status_.ok()) return std::move(status_);
  CallInfo info = Info();  // which looks at the answer
  info.body_bytes = answered_->answer.body.size();
  Response response = std::move(answered_->answer);
  response.info = std::move(info);
  return response;
}

void UnaryCall::Run() {
  if (options().executor != nullptr) {
    event::UserCode user;
    (*options().executor)([this] { Deliver(); });
  } else {
    Deliver();
  }
}

void UnaryCall::Deliver() {
  if (gate_.Enter()) {
    {
      event::UserCode user;
      std::move(done_)(TakeResult());
      done_ = nullptr;  // what it holds goes before the handle's owner may go on
    }
    gate_.Leave();
  }
  Release();
}

}  // namespace weft::inline v0::call
