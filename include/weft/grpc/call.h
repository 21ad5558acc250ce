// gRPC calls of one message each way, over any protobuf message, without gRPC's core in the path.
//
//   absl::StatusOr<HelloReply> reply =
//       weft::grpc::Call<HelloReply>(*channel, "/helloworld.Greeter/SayHello", request);
//
// Three forms: blocking, with a callback, awaitable; threads and handles as with weft::Channel. The
// error is the server's status as it sent it (StatusDetails has its details), or Weft's own, as for
// every call (weft/error.h); GetCallError tells the two apart. CallOptions::max_response_bytes
// bounds the reply's message, before and after it was inflated.
#ifndef WEFT_GRPC_CALL_H_
#define WEFT_GRPC_CALL_H_

#include <coroutine>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"
#include "weft/call_handle.h"
#include "weft/call_options.h"
#include "weft/channel.h"
#include "weft/grpc/context.h"
#include "weft/request.h"
#include "weft/response.h"

namespace weft::inline v0::grpc {

// What the templates below are made of.
namespace unary {

// A request that is ready to be sent, or one that no call accepts, and why.
struct Prepared {
  Request request;
  CallOptions options;
  absl::Status refused;
};
Prepared Prepare(std::string_view method, const google::protobuf::MessageLite& request,
                 const CallOptions& options, const Context* context);
// `refused` is what Prepare said.
absl::Status Read(absl::StatusOr<Response> response, const absl::Status& refused,
                  const CallOptions& options, Context* context,
                  google::protobuf::MessageLite& reply);

template <class Reply>
absl::StatusOr<Reply> ReadAs(absl::StatusOr<Response> response, const absl::Status& refused,
                             const CallOptions& options, Context* context) {
  absl::StatusOr<Reply> reply{Reply()};
  absl::Status status = Read(std::move(response), refused, options, context, *reply);
  if (!status.ok()) return status;
  return reply;
}

}  // namespace unary

template <class Reply>
using ReplyCallback = absl::AnyInvocable<void(absl::StatusOr<Reply>) &&>;

// Waits for the reply. `method` is the path, "/package.Service/Method".
template <class Reply>
absl::StatusOr<Reply> Call(Channel& channel, std::string_view method,
                           const google::protobuf::MessageLite& request, CallOptions options = {},
                           Context* context = nullptr) {
  unary::Prepared call = unary::Prepare(method, request, options, context);
  if (!call.refused.ok()) return call.refused;
  return unary::ReadAs<Reply>(channel.Call(std::move(call.request), call.options), call.refused,
                              call.options, context);
}

// Returns at once; `done` is called exactly once, unless the handle is destroyed or reset before.
template <class Reply>
[[nodiscard]] CallHandle Start(Channel& channel, std::string_view method,
                               const google::protobuf::MessageLite& request, CallOptions options,
                               ReplyCallback<Reply> done, Context* context = nullptr) {
  unary::Prepared call = unary::Prepare(method, request, options, context);
  const CallOptions prepared = call.options;
  return channel.Start(
      std::move(call.request), prepared,
      [done = std::move(done), refused = std::move(call.refused), prepared,
       context](absl::StatusOr<Response> response) mutable {
        std::move(done)(unary::ReadAs<Reply>(std::move(response), refused, prepared, context));
      });
}

// auto reply = co_await weft::grpc::Async<HelloReply>(*channel, method, request); with any
// coroutine type. Destroying the suspended coroutine cancels.
template <class Reply>
class [[nodiscard]] Awaitable {
 public:
  Awaitable(Channel& channel, unary::Prepared call, Context* context)
      : options_(call.options),
        refused_(std::move(call.refused)),
        context_(context),
        call_(channel.Async(std::move(call.request), call.options)) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) { call_.await_suspend(handle); }
  absl::StatusOr<Reply> await_resume() {
    return unary::ReadAs<Reply>(call_.await_resume(), refused_, options_, context_);
  }

 private:
  CallOptions options_;
  absl::Status refused_;
  Context* context_;
  Channel::Awaitable call_;
};

template <class Reply>
Awaitable<Reply> Async(Channel& channel, std::string_view method,
                       const google::protobuf::MessageLite& request, CallOptions options = {},
                       Context* context = nullptr) {
  return Awaitable<Reply>(channel, unary::Prepare(method, request, options, context), context);
}

}  // namespace weft::inline v0::grpc

#endif  // WEFT_GRPC_CALL_H_
