// gRPC calls of many messages: MessageStream with types.
//
//   ServerStream   one request, many replies
//   ClientStream   many requests, one reply
//   BidiStream     many each way, in any order
//
//   weft::grpc::BidiStream<Note, Note> chat(*channel, "/routeguide.RouteGuide/RouteChat");
//   chat.Write(note);
//   while (std::optional<Note> next = chat.Read()) …
//   absl::Status end = chat.Finish();
//
// Threads, back-pressure, callbacks and errors as with MessageStream. Destroying one that has not
// ended cancels it, and no callback of it runs afterwards; they stay where they are made. The
// channel's timeout (15 s unless changed) holds for the whole stream: give CallOptions::timeout for
// longer ones.
#ifndef WEFT_GRPC_STREAM_H_
#define WEFT_GRPC_STREAM_H_

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"
#include "weft/call_options.h"
#include "weft/channel.h"
#include "weft/grpc/context.h"
#include "weft/grpc/message_stream.h"
#include "weft/stream.h"

namespace weft::inline v0::grpc {

// What the three kinds are put together from.
namespace stream {

// What all of them can do.
class Base {
 public:
  Base(const Base&) = delete;
  Base& operator=(const Base&) = delete;

  // Waits for the server's initial metadata, which then is in the context.
  absl::Status InitialMetadata() { return stream_.InitialMetadata(); }
  void InitialMetadataThen(MessageStream::StatusCallback done) {
    stream_.InitialMetadataThen(std::move(done));
  }
  auto InitialMetadataAsync() {
    return MakeAwaitable<absl::Status>([this](auto done) { InitialMetadataThen(std::move(done)); });
  }
  // Ends the stream with CANCELLED. Any thread, any time.
  void Cancel() { stream_.Cancel(); }

 protected:
  explicit Base(MessageStream stream) : stream_(std::move(stream)) {}
  ~Base() = default;

  template <class Result, class Begin>
  static weft::Stream::Awaitable<Result, Begin> MakeAwaitable(Begin begin) {
    return weft::Stream::Awaitable<Result, Begin>(std::move(begin));
  }

  MessageStream stream_;
};

// Sends many requests.
template <class Request, class Below>
class Writing : public Below {
 public:
  // Takes the message and returns when there is room for more. An error says that the stream is
  // over; Finish says why.
  absl::Status Write(const Request& message) { return this->stream_.Write(message); }
  void WriteThen(const Request& message, MessageStream::StatusCallback done) {
    this->stream_.WriteThen(message, std::move(done));
  }
  auto WriteAsync(const Request& message) {  // which must live until the await is over
    return Below::template MakeAwaitable<absl::Status>(
        [this, &message](auto done) { WriteThen(message, std::move(done)); });
  }
  // No more follow. Never waits.
  absl::Status WritesDone() { return this->stream_.WritesDone(); }

 protected:
  using Below::Below;
};

// Receives many replies.
template <class Reply, class Below>
class Reading : public Below {
 public:
  using ReadCallback = absl::AnyInvocable<void(std::optional<Reply>) &&>;

  // The next reply; nothing at the end: Finish tells how it was.
  std::optional<Reply> Read() {
    std::optional<Reply> reply(std::in_place);
    if (!this->stream_.Read(&*reply)) reply.reset();
    return reply;
  }
  void ReadThen(ReadCallback done) {
    auto reply = std::make_unique<Reply>();
    Reply* const to = reply.get();
    this->stream_.ReadThen(
        to, [reply = std::move(reply), done = std::move(done)](bool there) mutable {
          std::move(done)(there ? std::optional<Reply>(std::move(*reply)) : std::nullopt);
        });
  }
  auto ReadAsync() {
    return Below::template MakeAwaitable<std::optional<Reply>>(
        [this](auto done) { ReadThen(std::move(done)); });
  }

  // Waits for the status. Replies that have not been read are thrown away; nothing more may be
  // written.
  absl::Status Finish() { return this->stream_.Finish(); }
  void FinishThen(MessageStream::StatusCallback done) { this->stream_.FinishThen(std::move(done)); }
  auto FinishAsync() {
    return Below::template MakeAwaitable<absl::Status>(
        [this](auto done) { FinishThen(std::move(done)); });
  }

 protected:
  using Below::Below;
};

}  // namespace stream

template <class Reply>
class ServerStream final : public stream::Reading<Reply, stream::Base> {
 public:
  ServerStream(Channel& channel, std::string_view method,
               const google::protobuf::MessageLite& request, CallOptions options = {},
               Context* context = nullptr)
      : stream::Reading<Reply, stream::Base>(
            MessageStream(channel, method, request, options, context)) {}
};

template <class Request, class Reply>
class BidiStream final : public stream::Reading<Reply, stream::Writing<Request, stream::Base>> {
 public:
  BidiStream(Channel& channel, std::string_view method, CallOptions options = {},
             Context* context = nullptr)
      : stream::Reading<Reply, stream::Writing<Request, stream::Base>>(
            MessageStream(channel, method, options, context)) {}
};

template <class Request, class Reply>
class ClientStream final : public stream::Writing<Request, stream::Base> {
 public:
  using ReplyCallback = absl::AnyInvocable<void(absl::StatusOr<Reply>) &&>;

  ClientStream(Channel& channel, std::string_view method, CallOptions options = {},
               Context* context = nullptr)
      : stream::Writing<Request, stream::Base>(MessageStream(channel, method, options, context)) {}

  // No more requests follow; waits for the reply.
  absl::StatusOr<Reply> Finish() {
    Reply reply;
    absl::Status status = this->stream_.FinishWith(&reply);
    if (!status.ok()) return status;
    return reply;
  }
  void FinishThen(ReplyCallback done) {
    auto reply = std::make_unique<Reply>();
    Reply* const to = reply.get();
    this->stream_.FinishWithThen(
        to, [reply = std::move(reply), done = std::move(done)](absl::Status status) mutable {
          if (status.ok()) {
            std::move(done)(std::move(*reply));
          } else {
            std::move(done)(std::move(status));
          }
        });
  }
  auto FinishAsync() {
    return this->template MakeAwaitable<absl::StatusOr<Reply>>(
        [this](auto done) { FinishThen(std::move(done)); });
  }
};

}  // namespace weft::inline v0::grpc

#endif  // WEFT_GRPC_STREAM_H_
