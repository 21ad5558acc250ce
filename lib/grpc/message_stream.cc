#include "weft/grpc/message_stream.h"

#include <utility>

#include "grpc/stream_state.h"

namespace weft::inline v0::grpc {
namespace {

absl::Status NoStream() { return absl::FailedPreconditionError("the stream is empty"); }

}  // namespace

MessageStream::MessageStream(Channel& channel, std::string_view method, CallOptions options,
                             Context* context)
    : state_(std::make_unique<State>(channel, method, std::nullopt, options, context)) {}

MessageStream::MessageStream(Channel& channel, std::string_view method,
                             const google::protobuf::MessageLite& request, CallOptions options,
                             Context* context)
    : state_(std::make_unique<State>(channel, method, Outgoing(request), options, context)) {}

MessageStream::MessageStream(Channel& channel, std::string_view method, std::string_view request,
                             CallOptions options, Context* context)
    : state_(std::make_unique<State>(channel, method, Outgoing(request), options, context)) {}

MessageStream::MessageStream() = default;
MessageStream::~MessageStream() = default;
MessageStream::MessageStream(MessageStream&&) noexcept = default;
MessageStream& MessageStream::operator=(MessageStream&&) noexcept = default;

absl::Status MessageStream::Write(const google::protobuf::MessageLite& message) {
  return state_ == nullptr ? NoStream() : state_->Write(Outgoing(message));
}
absl::Status MessageStream::Write(std::string_view message) {
  return state_ == nullptr ? NoStream() : state_->Write(Outgoing(message));
}
void MessageStream::WriteThen(const google::protobuf::MessageLite& message, StatusCallback done) {
  state_->WriteThen(Outgoing(message), std::move(done));
}
void MessageStream::WriteThen(std::string_view message, StatusCallback done) {
  state_->WriteThen(Outgoing(message), std::move(done));
}
absl::Status MessageStream::WritesDone() {
  return state_ == nullptr ? NoStream() : state_->WritesDone();
}

absl::Status MessageStream::InitialMetadata() {
  return state_ == nullptr ? NoStream() : state_->InitialMetadata();
}
void MessageStream::InitialMetadataThen(StatusCallback done) {
  state_->InitialMetadataThen(std::move(done));
}

bool MessageStream::Read(google::protobuf::MessageLite* to) {
  return state_ != nullptr && state_->Read(Incoming(to));
}
bool MessageStream::Read(std::string* to) {
  return state_ != nullptr && state_->Read(Incoming(to));
}
void MessageStream::ReadThen(google::protobuf::MessageLite* to, ReadCallback done) {
  state_->ReadThen(Incoming(to), std::move(done));
}
void MessageStream::ReadThen(std::string* to, ReadCallback done) {
  state_->ReadThen(Incoming(to), std::move(done));
}

absl::Status MessageStream::Finish() { return state_ == nullptr ? NoStream() : state_->Finish(); }
void MessageStream::FinishThen(StatusCallback done) { state_->FinishThen(std::move(done)); }
absl::Status MessageStream::FinishWith(google::protobuf::MessageLite* reply) {
  return state_ == nullptr ? NoStream() : state_->FinishWith(Incoming(reply));
}
absl::Status MessageStream::FinishWith(std::string* reply) {
  return state_ == nullptr ? NoStream() : state_->FinishWith(Incoming(reply));
}
void MessageStream::FinishWithThen(google::protobuf::MessageLite* reply, StatusCallback done) {
  state_->FinishWithThen(Incoming(reply), std::move(done));
}
void MessageStream::FinishWithThen(std::string* reply, StatusCallback done) {
  state_->FinishWithThen(Incoming(reply), std::move(done));
}

void MessageStream::Cancel() {
  if (state_ != nullptr) state_->Cancel();
}

}  // namespace weft::inline v0::grpc
