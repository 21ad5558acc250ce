// gRPC's generated C++ stubs, over a Weft channel:
//
//   auto stub = helloworld::Greeter::NewStub(weft::grpc::MakeChannel(channel));
//
// is the only line that changes. All of gRPC's APIs go through it, the blocking one, completion
// queues, callbacks and reactors, for all four kinds of methods; what carries the calls is Weft:
// one connection per host, its balancing, its retries, its limits.
//
// Threads: as with gRPC. A channel and its stubs are used from any number of threads. A blocking
// call on a loop thread of Weft's (in a callback of its own API) fails with FAILED_PRECONDITION.
//
// Lifetime: a channel keeps the weft::Channel. The ChannelFactory may go before it, and before its
// calls: each of them then ends once, with CANCELLED, and so does every one that is made later. A
// ClientContext has to outlive its call, as with gRPC. Channels may be dropped anywhere, within a
// callback too.
//
// Errors are grpc::Status. The server's come as it sent them: code, message, error_details(). Those
// that arise in Weft (UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, RESOURCE_EXHAUSTED, ...) have
// Weft's sentence for a message: which host, how many attempts, whether the request may have been
// processed (weft/error.h).
//
// Of a ClientContext
//   set_deadline                 holds, and goes to the server as grpc-timeout
//   TryCancel                    at any time; never waits
//   AddMetadata                  sent; "-bin" values are any bytes. `traceparent`, `tracestate`,
//                                `baggage` and `x-weft-tier` are not sent as they are: each attempt
//                                gets a span id of its own (CallOptions::trace)
//   set_wait_for_ready           holds
//   set_compression_algorithm    gzip, deflate
//   FromServerContext            the deadline and the end of the server call end the call; what the
//                                server learns of the deadline is only what ChildContext sets
//   set_initial_metadata_corked  taken; nothing is gained by it
//   set_authority                holds
//   set_credentials              the call fails with UNAUTHENTICATED: add the metadata yourself
//   peer, auth_context           say nothing: "unknown", and an empty context
//   debug_error_string           empty
//   census, channelz             see nothing of the calls
// Of the rest
//   WriteOptions                 set_last_message holds; the others change nothing
//   OnReadInitialMetadataDone    comes with true even where the call fails before any metadata, as
//                                does the tag of StartCall; the status says what happened
//   ChannelArguments             have no place; what is needed of them is in StubOptions, and in
//                                ChannelOptions and ConnectionOptions of Weft
//   messages                     protobuf's; ByteBuffer with MakeRawChannel. Others: not supported
//   Finish before the last Read  waits, as gRPC does, until what has come has been read; it returns
//                                at once after TryCancel
#ifndef WEFT_GRPC_STUB_H_
#define WEFT_GRPC_STUB_H_

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/client_interceptor.h"
#include "weft/call_options.h"
#include "weft/channel.h"

namespace weft::inline v0::grpc {

// The defaults are gRPC's, so that a program that changes nothing but the channel sees no other
// limits than before.
struct StubOptions {
  // Of calls whose ClientContext has no deadline. (The weft::Channel's own default is not used.)
  absl::Duration timeout = absl::InfiniteDuration();
  // A larger message, also one that is larger only once it is inflated, ends the call with
  // RESOURCE_EXHAUSTED. Each message of a stream counts for itself.
  size_t max_receive_message_bytes = size_t{4} << 20;
  // Before compression.
  size_t max_send_message_bytes = std::numeric_limits<size_t>::max();
  // Of calls that did not call set_wait_for_ready.
  bool wait_for_ready = false;
  // Every method that is called through this channel may be run twice without harm
  // (CallOptions::idempotent). Two channels, one of them for what only reads, cost nothing.
  bool idempotent = false;
  // Client interceptors of gRPC's, outermost first. What they do to metadata and messages is sent.
  std::vector<std::unique_ptr<::grpc::experimental::ClientInterceptorFactoryInterface>>
      interceptors = {};
};

// For generated stubs. GetState, WaitForConnected, WaitForStateChange and NotifyOnStateChange tell
// of the Weft channel: READY is that a host is connected. Waiting for another state than IDLE makes
// an idle channel connect.
std::shared_ptr<::grpc::ChannelInterface> MakeChannel(std::shared_ptr<Channel> channel,
                                                      StubOptions options = {});

// For grpc::GenericStub and proxies: messages are grpc::ByteBuffer, both ways. Nothing but that may
// be called through it, and nothing but protobuf through the others: gRPC does not say which it is,
// so that a mistake here is not found but misread memory.
std::shared_ptr<::grpc::ChannelInterface> MakeRawChannel(std::shared_ptr<Channel> channel,
                                                         StubOptions options = {});

// For code that insists on a grpc::Channel, a class that cannot be derived from: as MakeChannel,
// but GetState always says TRANSIENT_FAILURE, and the functions that wait for a state wait in vain.
std::shared_ptr<::grpc::Channel> MakeGrpcChannel(std::shared_ptr<Channel> channel,
                                                 StubOptions options = {});

// Within a server
// ------------------------------------------------------------------------------------------------

// What a call that is made for a request that came in inherits from it: its deadline, traceparent,
// tracestate, baggage and x-weft-tier. For weft::grpc::Call and weft::Channel. The views point into
// the ServerContext's metadata: they live as long as it does.
CallOptions From(const ::grpc::ServerContextBase& inbound);

// The same for stubs: ClientContext::FromServerContext, and with it the deadline and those
// metadata. The call ends with CANCELLED when the server call is cancelled, or over, before it;
// costs some microseconds more than a context of one's own. `inbound` has to live when the call
// begins.
std::unique_ptr<::grpc::ClientContext> ChildContext(const ::grpc::ServerContextBase& inbound);

}  // namespace weft::inline v0::grpc

#endif  // WEFT_GRPC_STUB_H_
