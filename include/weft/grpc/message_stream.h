// MessageStream: a gRPC call as messages both ways, without their types. Typed streams
// (weft/grpc/stream.h) are made of it; use it by itself for proxies and for messages that are
// bytes.
//
// Threads, forms and back-pressure as with weft::Stream: three forms of each operation, one read
// and one write at a time, reads and writes from different threads. Errors: a read or write that
// says no only says that the stream is over; Finish says why.
#ifndef WEFT_GRPC_MESSAGE_STREAM_H_
#define WEFT_GRPC_MESSAGE_STREAM_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "weft/call_options.h"
#include "weft/channel.h"
#include "weft/grpc/context.h"
#include "weft/headers.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace weft::inline v0::grpc {

class MessageStream {
 public:
  // Whether there was a message.
  using ReadCallback = absl::AnyInvocable<void(bool) &&>;
  using StatusCallback = absl::AnyInvocable<void(absl::Status) &&>;

  MessageStream();
  // `method` is the path, "/package.Service/Method". `context` may be null.
  MessageStream(Channel& channel, std::string_view method, CallOptions options, Context* context);
  // With its only request, to which WritesDone has been said.
  MessageStream(Channel& channel, std::string_view method,
                const google::protobuf::MessageLite& request, CallOptions options,
                Context* context);
  MessageStream(Channel& channel, std::string_view method, std::string_view request,
                CallOptions options, Context* context);
  // Cancels a stream that has not ended; no callback runs once the destructor has returned.
  ~MessageStream();
  MessageStream(MessageStream&&) noexcept;
  MessageStream& operator=(MessageStream&&) noexcept;

  // Takes the message and returns when there is room for more.
  absl::Status Write(const google::protobuf::MessageLite& message);
  absl::Status Write(std::string_view message);
  void WriteThen(const google::protobuf::MessageLite& message, StatusCallback done);
  void WriteThen(std::string_view message, StatusCallback done);
  // No more messages follow. Never waits.
  absl::Status WritesDone();

  // Waits for the server's initial metadata, which then is in the context too.
  absl::Status InitialMetadata();
  void InitialMetadataThen(StatusCallback done);
  // The next message into `to`, which must live until then. False at the end.
  bool Read(google::protobuf::MessageLite* to);
  bool Read(std::string* to);
  void ReadThen(google::protobuf::MessageLite* to, ReadCallback done);
  void ReadThen(std::string* to, ReadCallback done);

  // Waits for the status. Messages that have not been read are thrown away; no more may be written.
  absl::Status Finish();
  void FinishThen(StatusCallback done);
  // For calls that have one reply: WritesDone, the reply, the status. UNIMPLEMENTED, as gRPC has
  // it, where the status is OK and there was no reply or more than one.
  absl::Status FinishWith(google::protobuf::MessageLite* reply);
  absl::Status FinishWith(std::string* reply);
  void FinishWithThen(google::protobuf::MessageLite* reply, StatusCallback done);
  void FinishWithThen(std::string* reply, StatusCallback done);

  // Ends the stream with CANCELLED. Any thread, any time.
  void Cancel();

  explicit operator bool() const { return state_ != nullptr; }

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::inline v0::grpc

#endif  // WEFT_GRPC_MESSAGE_STREAM_H_
