// Callbacks for unary calls, reactors for streams.
#include <grpcpp/support/client_callback.h>

#include <utility>

#include "grpc_interop/stubs/channel.h"
#include "grpc_interop/stubs/stub_clients.h"
#include "grpc_interop/stubs/stub_support.h"

namespace weft::inline v0::testing {
namespace {

// Reactor's callbacks as events. `Interface` is one of the three kinds of stream, `Reactor` gRPC's
// class for it. A hold keeps the call open for what this side starts outside of callbacks, until
// Finish.
template <class Interface, class Reactor>
class CallbackStream : public Interface, protected Reactor {
 public:
  explicit CallbackStream(const InteropCallOptions& options) { Apply(options, context_); }

  void Cancel() override { context_.TryCancel(); }
  InteropOutcome Finish() override {
    finished_ = true;
    this->RemoveHold();
    done_.Take();
    return OutcomeOf(status_, context_);
  }

 protected:
  void StartReactor() {
    this->AddHold();
    this->StartCall();
  }
  // The end of a destructor's last class: its callbacks are still there then.
  void EndReactor() {
    if (finished_) return;
    context_.TryCancel();
    Finish();
  }
  void OnDone(const ::grpc::Status& status) override {
    status_ = status;
    done_.Set(true);
  }

  ::grpc::ClientContext context_;
  Event written_;
  Event read_;

 private:
  Event done_;
  ::grpc::Status status_;
  bool finished_ = false;
};

class InputStream final
    : public CallbackStream<InteropInputStream,
                            ::grpc::ClientWriteReactor<StreamingInputCallRequest>> {
 public:
  InputStream(TestService::Stub& stub, const InteropCallOptions& options)
      : CallbackStream(options) {
    stub.async()->StreamingInputCall(&context_, &reply_, this);
    StartReactor();
  }
  ~InputStream() override { EndReactor(); }

  bool Write(const StreamingInputCallRequest& request, bool compress) override {
    StartWrite(&request, WriteOptionsFor(compress));
    return written_.Take();
  }
  bool HalfClose() override {
    StartWritesDone();
    return written_.Take();
  }
  const StreamingInputCallResponse& reply() const override { return reply_; }

 private:
  void OnWriteDone(bool ok) override { written_.Set(ok); }
  void OnWritesDoneDone(bool ok) override { written_.Set(ok); }

  StreamingInputCallResponse reply_;
};

class OutputStream final
    : public CallbackStream<InteropOutputStream,
                            ::grpc::ClientReadReactor<StreamingOutputCallResponse>> {
 public:
  OutputStream(TestService::Stub& stub, const StreamingOutputCallRequest& request,
               const InteropCallOptions& options)
      : CallbackStream(options), request_(request) {
    stub.async()->StreamingOutputCall(&context_, &request_, this);
    StartReactor();
  }
  ~OutputStream() override { EndReactor(); }

  bool Read(StreamingOutputCallResponse& response) override {
    StartRead(&response);
    return read_.Take();
  }

 private:
  void OnReadDone(bool ok) override { read_.Set(ok); }

  const StreamingOutputCallRequest request_;
};

class DuplexStream final
    : public CallbackStream<
          InteropDuplexStream,
          ::grpc::ClientBidiReactor<StreamingOutputCallRequest, StreamingOutputCallResponse>> {
 public:
  using Reactor =
      ::grpc::ClientBidiReactor<StreamingOutputCallRequest, StreamingOutputCallResponse>;
  using Async = TestService::StubInterface::async_interface;
  using Method = void (Async::*)(::grpc::ClientContext*, Reactor*);

  DuplexStream(TestService::Stub& stub, Method method, const InteropCallOptions& options)
      : CallbackStream(options) {
    (static_cast<Async*>(stub.async())->*method)(&context_, this);
    StartReactor();
  }
  ~DuplexStream() override { EndReactor(); }

  bool Write(const StreamingOutputCallRequest& request, bool compress) override {
    StartWrite(&request, WriteOptionsFor(compress));
    return written_.Take();
  }
  bool HalfClose() override {
    StartWritesDone();
    return written_.Take();
  }
  bool Read(StreamingOutputCallResponse& response) override {
    StartRead(&response);
    return read_.Take();
  }

 private:
  void OnWriteDone(bool ok) override { written_.Set(ok); }
  void OnWritesDoneDone(bool ok) override { written_.Set(ok); }
  void OnReadDone(bool ok) override { read_.Set(ok); }
};

class CallbackClient final : public InteropClient {
 public:
  explicit CallbackClient(const std::shared_ptr<::grpc::ChannelInterface>& channel)
      : stubs_(channel) {}

  InteropCapabilities Capabilities() const override { return InteropChannelCapabilities(); }

  InteropOutcome Empty(InteropEmptyMethod method, const InteropCallOptions& options) override {
    const EmptyMessage request;
    EmptyMessage reply;
    return Call(options, [&](::grpc::ClientContext* context, auto done) {
      switch (method) {
        case InteropEmptyMethod::kEmptyCall:
          return stubs_.test->async()->EmptyCall(context, &request, &reply, done);
        case InteropEmptyMethod::kUnimplementedCall:
          return stubs_.test->async()->UnimplementedCall(context, &request, &reply, done);
        case InteropEmptyMethod::kUnimplementedService:
          return stubs_.unimplemented->async()->UnimplementedCall(context, &request, &reply, done);
      }
    });
  }

  InteropReply<SimpleResponse> Unary(const SimpleRequest& request,
                                     const InteropCallOptions& options) override {
    InteropReply<SimpleResponse> result;
    static_cast<InteropOutcome&>(result) =
        Call(options, [&](::grpc::ClientContext* context, auto done) {
          stubs_.test->async()->UnaryCall(context, &request, &result.reply, done);
        });
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
    return std::make_unique<DuplexStream>(*stubs_.test, &DuplexStream::Async::FullDuplexCall,
                                          options);
  }
  std::unique_ptr<InteropDuplexStream> HalfDuplex(const InteropCallOptions& options) override {
    return std::make_unique<DuplexStream>(*stubs_.test, &DuplexStream::Async::HalfDuplexCall,
                                          options);
  }

 private:
  template <class Start>
  static InteropOutcome Call(const InteropCallOptions& options, const Start& start) {
    ::grpc::ClientContext context;
    Apply(options, context);
    ::grpc::Status status;
    Event event;
    start(&context, [&](::grpc::Status ended) {
      status = std::move(ended);
      event.Set(true);
    });
    event.Take();
    return OutcomeOf(status, context);
  }

  InteropStubs stubs_;
};

}  // namespace

std::unique_ptr<InteropClient> MakeStubCallbackClient(
    std::shared_ptr<::grpc::ChannelInterface> channel) {
  return std::make_unique<CallbackClient>(channel);
}

}  // namespace weft::inline v0::testing
