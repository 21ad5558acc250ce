// The blocking stubs.
#include <grpcpp/support/sync_stream.h>

#include <utility>

#include "grpc_interop/stubs/channel.h"
#include "grpc_interop/stubs/stub_clients.h"
#include "grpc_interop/stubs/stub_support.h"

namespace weft::inline v0::testing {
namespace {

// `Interface` is one of the three kinds of stream, `Call` gRPC's class for it.
template <class Interface, class Call>
class SyncStream : public Interface {
 public:
  explicit SyncStream(const InteropCallOptions& options) { Apply(options, context_); }

  void Cancel() override { context_.TryCancel(); }
  InteropOutcome Finish() override {
    const ::grpc::Status status = call_->Finish();
    call_.reset();
    return OutcomeOf(status, context_);
  }

 protected:
  ::grpc::ClientContext context_;
  std::unique_ptr<Call> call_;  // until Finish

  // The end of a destructor's last class: what `call_` refers to is still there then.
  void EndCall() {
    if (call_ == nullptr) return;
    context_.TryCancel();
    call_->Finish();
  }
};

class InputStream final
    : public SyncStream<InteropInputStream, ::grpc::ClientWriter<StreamingInputCallRequest>> {
 public:
  InputStream(TestService::Stub& stub, const InteropCallOptions& options) : SyncStream(options) {
    call_ = stub.StreamingInputCall(&context_, &reply_);
  }
  ~InputStream() override { EndCall(); }

  bool Write(const StreamingInputCallRequest& request, bool compress) override {
    return call_->Write(request, WriteOptionsFor(compress));
  }
  bool HalfClose() override { return call_->WritesDone(); }
  const StreamingInputCallResponse& reply() const override { return reply_; }

 private:
  StreamingInputCallResponse reply_;
};

class OutputStream final
    : public SyncStream<InteropOutputStream, ::grpc::ClientReader<StreamingOutputCallResponse>> {
 public:
  OutputStream(TestService::Stub& stub, const StreamingOutputCallRequest& request,
               const InteropCallOptions& options)
      : SyncStream(options) {
    call_ = stub.StreamingOutputCall(&context_, request);
  }
  ~OutputStream() override { EndCall(); }

  bool Read(StreamingOutputCallResponse& response) override { return call_->Read(&response); }
};

using DuplexCall =
    ::grpc::ClientReaderWriter<StreamingOutputCallRequest, StreamingOutputCallResponse>;

class DuplexStream final : public SyncStream<InteropDuplexStream, DuplexCall> {
 public:
  using Method = std::unique_ptr<DuplexCall> (TestService::Stub::*)(::grpc::ClientContext*);

  DuplexStream(TestService::Stub& stub, Method method, const InteropCallOptions& options)
      : SyncStream(options) {
    call_ = (stub.*method)(&context_);
  }
  ~DuplexStream() override { EndCall(); }

  bool Write(const StreamingOutputCallRequest& request, bool compress) override {
    return call_->Write(request, WriteOptionsFor(compress));
  }
  bool HalfClose() override { return call_->WritesDone(); }
  bool Read(StreamingOutputCallResponse& response) override { return call_->Read(&response); }
};

class SyncClient final : public InteropClient {
 public:
  explicit SyncClient(const std::shared_ptr<::grpc::ChannelInterface>& channel) : stubs_(channel) {}

  InteropCapabilities Capabilities() const override { return InteropChannelCapabilities(); }

  InteropOutcome Empty(InteropEmptyMethod method, const InteropCallOptions& options) override {
    ::grpc::ClientContext context;
    Apply(options, context);
    const EmptyMessage request;
    EmptyMessage reply;
    ::grpc::Status status;
    switch (method) {
      case InteropEmptyMethod::kEmptyCall:
        status = stubs_.test->EmptyCall(&context, request, &reply);
        break;
      case InteropEmptyMethod::kUnimplementedCall:
        status = stubs_.test->UnimplementedCall(&context, request, &reply);
        break;
      case InteropEmptyMethod::kUnimplementedService:
        status = stubs_.unimplemented->UnimplementedCall(&context, request, &reply);
        break;
    }
    return OutcomeOf(status, context);
  }

  InteropReply<SimpleResponse> Unary(const SimpleRequest& request,
                                     const InteropCallOptions& options) override {
    ::grpc::ClientContext context;
    Apply(options, context);
    InteropReply<SimpleResponse> result;
    const ::grpc::Status status = stubs_.test->UnaryCall(&context, request, &result.reply);
    static_cast<InteropOutcome&>(result) = OutcomeOf(status, context);
    return result;
  }

  std::unique_ptr<InteropInputStream> StreamingInput(const InteropCallOptions& options) override {
    return std::make_unique<InputStream>(*stubs_.test, options);
  }
  std::unique_ptr<InteropOutputStream> StreamingOutput(const StreamingOutputCallRequest& request,
                                                       const InteropCallOptions& options) override {
    return std::make_unique<OutputStream>(*stubs_.test, request, options);
  }
  std::unique_ptr<InteropDuplexStream> FullDuplex(const InteropCallOptions& options) override {
    return std::make_unique<DuplexStream>(*stubs_.test, &TestService::Stub::FullDuplexCall,
                                          options);
  }
  std::unique_ptr<InteropDuplexStream> HalfDuplex(const InteropCallOptions& options) override {
    return std::make_unique<DuplexStream>(*stubs_.test, &TestService::Stub::HalfDuplexCall,
                                          options);
  }

 private:
  InteropStubs stubs_;
};

}  // namespace

std::unique_ptr<InteropClient> MakeStubSyncClient(
    std::shared_ptr<::grpc::ChannelInterface> channel) {
  return std::make_unique<SyncClient>(channel);
}

}  // namespace weft::inline v0::testing
