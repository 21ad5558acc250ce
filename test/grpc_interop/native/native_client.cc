#include "grpc_interop/native/native_client.h"

#include <future>
#include <optional>
#include <string_view>
#include <utility>

#include "grpc_interop/interop.pb.h"
#include "weft/grpc.h"
#include "weft/weft.h"

namespace weft::inline v0::testing {
namespace {

using EmptyMessage = ::grpc::testing::Empty;

constexpr char kUnary[] = "/grpc.testing.TestService/UnaryCall";
constexpr char kInput[] = "/grpc.testing.TestService/StreamingInputCall";
constexpr char kOutput[] = "/grpc.testing.TestService/StreamingOutputCall";
constexpr char kFullDuplex[] = "/grpc.testing.TestService/FullDuplexCall";
constexpr char kHalfDuplex[] = "/grpc.testing.TestService/HalfDuplexCall";

const char* PathOf(InteropEmptyMethod method) {
  switch (method) {
    case InteropEmptyMethod::kEmptyCall:
      return "/grpc.testing.TestService/EmptyCall";
    case InteropEmptyMethod::kUnimplementedCall:
      return "/grpc.testing.TestService/UnimplementedCall";
    case InteropEmptyMethod::kUnimplementedService:
      break;
  }
  return "/grpc.testing.UnimplementedService/UnimplementedCall";
}

CallOptions OptionsOf(const InteropCallOptions& options) {
  return {.timeout = options.timeout, .wait_for_ready = options.wait_for_ready};
}

grpc::Context ContextOf(const InteropCallOptions& options) {
  grpc::Context context;
  for (const auto& [name, value] : options.metadata) context.metadata.Add(name, value);
  if (options.compress) context.compression = grpc::Compression::kGzip;
  return context;
}

InteropMetadata Copy(const Headers& headers) {
  InteropMetadata copy;
  for (const Headers::Field field : headers) copy.emplace(field.name, field.value);
  return copy;
}

InteropOutcome OutcomeOf(const absl::Status& status, const grpc::Context& context) {
  return {.code = status.code(),
          .message = std::string(status.message()),
          .details = grpc::StatusDetails(status).value_or(""),
          .initial = Copy(context.initial_metadata),
          .trailing = Copy(context.trailing_metadata)};
}

// Waits for what `begin` gives to its callback.
template <class Result, class Begin>
Result Await(Begin&& begin) {
  std::promise<Result> promise;
  begin([&promise](Result result) { promise.set_value(std::move(result)); });
  return promise.get_future().get();
}

// The two forms of each operation.
struct Blocking {
  template <class Reply>
  static absl::StatusOr<Reply> Call(Channel& channel, std::string_view method,
                                    const google::protobuf::MessageLite& request,
                                    CallOptions options, grpc::Context* context) {
    return grpc::Call<Reply>(channel, method, request, options, context);
  }
  template <class Stream, class Message>
  static absl::Status Write(Stream& stream, const Message& message) {
    return stream.Write(message);
  }
  template <class Reply, class Stream>
  static std::optional<Reply> Read(Stream& stream) {
    return stream.Read();
  }
  template <class Result, class Stream>
  static Result Finish(Stream& stream) {
    return stream.Finish();
  }
};

struct Callback {
  template <class Reply>
  static absl::StatusOr<Reply> Call(Channel& channel, std::string_view method,
                                    const google::protobuf::MessageLite& request,
                                    CallOptions options, grpc::Context* context) {
    CallHandle handle;
    return Await<absl::StatusOr<Reply>>([&](auto done) {
      handle = grpc::Start<Reply>(channel, method, request, options, std::move(done), context);
    });
  }
  template <class Stream, class Message>
  static absl::Status Write(Stream& stream, const Message& message) {
    return Await<absl::Status>([&](auto done) { stream.WriteThen(message, std::move(done)); });
  }
  template <class Reply, class Stream>
  static std::optional<Reply> Read(Stream& stream) {
    return Await<std::optional<Reply>>([&](auto done) { stream.ReadThen(std::move(done)); });
  }
  template <class Result, class Stream>
  static Result Finish(Stream& stream) {
    return Await<Result>([&](auto done) { stream.FinishThen(std::move(done)); });
  }
};

template <class Form, class Interface, class Call>
class NativeStream : public Interface {
 public:
  template <class... Arguments>
  NativeStream(const InteropCallOptions& options, Channel& channel, Arguments&&... arguments)
      : context_(ContextOf(options)),
        call_(channel, std::forward<Arguments>(arguments)..., OptionsOf(options), &context_) {}

  void Cancel() override { call_.Cancel(); }

 protected:
  template <class Message>
  bool Send(const Message& message, bool compress) {
    const grpc::Compression before = context_.compression;
    if (!compress) context_.compression = grpc::Compression::kNone;
    const bool written = Form::Write(call_, message).ok();
    context_.compression = before;
    return written;
  }
  bool Receive(StreamingOutputCallResponse& response) {
    std::optional<StreamingOutputCallResponse> next =
        Form::template Read<StreamingOutputCallResponse>(call_);
    if (!next.has_value()) return false;
    response = *std::move(next);
    return true;
  }
  InteropOutcome FinishStream() {
    return OutcomeOf(Form::template Finish<absl::Status>(call_), context_);
  }

  grpc::Context context_;
  Call call_;
};

template <class Form>
class InputStream final
    : public NativeStream<
          Form, InteropInputStream,
          grpc::ClientStream<StreamingInputCallRequest, StreamingInputCallResponse>> {
 public:
  using InputStream::NativeStream::NativeStream;
  bool Write(const StreamingInputCallRequest& request, bool compress) override {
    return this->Send(request, compress);
  }
  bool HalfClose() override { return this->call_.WritesDone().ok(); }
  InteropOutcome Finish() override {
    auto reply = Form::template Finish<absl::StatusOr<StreamingInputCallResponse>>(this->call_);
    if (reply.ok()) reply_ = *reply;
    return OutcomeOf(reply.status(), this->context_);
  }
  const StreamingInputCallResponse& reply() const override { return reply_; }

 private:
  StreamingInputCallResponse reply_;
};

template <class Form>
class OutputStream final : public NativeStream<Form, InteropOutputStream,
                                               grpc::ServerStream<StreamingOutputCallResponse>> {
 public:
  using OutputStream::NativeStream::NativeStream;
  bool Read(StreamingOutputCallResponse& response) override { return this->Receive(response); }
  InteropOutcome Finish() override { return this->FinishStream(); }
};

template <class Form>
class DuplexStream final
    : public NativeStream<
          Form, InteropDuplexStream,
          grpc::BidiStream<StreamingOutputCallRequest, StreamingOutputCallResponse>> {
 public:
  using DuplexStream::NativeStream::NativeStream;
  bool Write(const StreamingOutputCallRequest& request, bool compress) override {
    return this->Send(request, compress);
  }
  bool HalfClose() override { return this->call_.WritesDone().ok(); }
  bool Read(StreamingOutputCallResponse& response) override { return this->Receive(response); }
  InteropOutcome Finish() override { return this->FinishStream(); }
};

template <class Form>
class NativeClient final : public InteropClient {
 public:
  explicit NativeClient(const std::string& address)
      : factory_(*ChannelFactory::Create({})), channel_(*factory_->GetChannel(address)) {}

  InteropCapabilities Capabilities() const override {
    return {.max_receive_bytes = CallOptions().max_response_bytes};
  }

  InteropOutcome Empty(InteropEmptyMethod method, const InteropCallOptions& options) override {
    grpc::Context context = ContextOf(options);
    const auto reply = Form::template Call<EmptyMessage>(*channel_, PathOf(method), EmptyMessage(),
                                                         OptionsOf(options), &context);
    return OutcomeOf(reply.status(), context);
  }
  InteropReply<SimpleResponse> Unary(const SimpleRequest& request,
                                     const InteropCallOptions& options) override {
    grpc::Context context = ContextOf(options);
    auto reply = Form::template Call<SimpleResponse>(*channel_, kUnary, request, OptionsOf(options),
                                                     &context);
    InteropReply<SimpleResponse> result;
    static_cast<InteropOutcome&>(result) = OutcomeOf(reply.status(), context);
    if (reply.ok()) result.reply = *std::move(reply);
    return result;
  }
  std::unique_ptr<InteropInputStream> StreamingInput(const InteropCallOptions& options) override {
    return std::make_unique<InputStream<Form>>(options, *channel_, kInput);
  }
  std::unique_ptr<InteropOutputStream> StreamingOutput(const StreamingOutputCallRequest& request,
                                                       const InteropCallOptions& options) override {
    return std::make_unique<OutputStream<Form>>(options, *channel_, kOutput, request);
  }
  std::unique_ptr<InteropDuplexStream> FullDuplex(const InteropCallOptions& options) override {
    return std::make_unique<DuplexStream<Form>>(options, *channel_, kFullDuplex);
  }
  std::unique_ptr<InteropDuplexStream> HalfDuplex(const InteropCallOptions& options) override {
    return std::make_unique<DuplexStream<Form>>(options, *channel_, kHalfDuplex);
  }

 private:
  const std::shared_ptr<ChannelFactory> factory_;
  const std::shared_ptr<Channel> channel_;
};

}  // namespace

std::unique_ptr<InteropClient> MakeNativeBlockingClient(const std::string& address) {
  return std::make_unique<NativeClient<Blocking>>(address);
}
std::unique_ptr<InteropClient> MakeNativeCallbackClient(const std::string& address) {
  return std::make_unique<NativeClient<Callback>>(address);
}

}  // namespace weft::inline v0::testing
