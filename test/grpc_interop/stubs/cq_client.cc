// The asynchronous stubs over one completion queue.
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>

#include <thread>
#include <utility>

#include "grpc_interop/stubs/channel.h"
#include "grpc_interop/stubs/stub_clients.h"
#include "grpc_interop/stubs/stub_support.h"

namespace weft::inline v0::testing {
namespace {

using ::grpc::CompletionQueue;

// A queue whose tags are Events, and the thread that takes them.
class Queue {
 public:
  Queue() : thread_([this] { Run(); }) {}
  ~Queue() {
    queue_.Shutdown();
    thread_.join();
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  CompletionQueue* get() { return &queue_; }

 private:
  void Run() {
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) static_cast<Event*>(tag)->Set(ok);
  }

  CompletionQueue queue_;
  std::thread thread_;
};

// `Interface` is one of the three kinds of stream, `Call` gRPC's class for it. Reading, writing and
// the rest have an event each, as they may be under way at once.
template <class Interface, class Call>
class CqStream : public Interface {
 public:
  explicit CqStream(const InteropCallOptions& options) { Apply(options, context_); }

  void Cancel() override { context_.TryCancel(); }
  InteropOutcome Finish() override {
    ::grpc::Status status;
    call_->Finish(&status, &event_);
    event_.Take();
    call_.reset();
    return OutcomeOf(status, context_);
  }

 protected:
  void StartCall() {
    call_->StartCall(&event_);
    event_.Take();  // Where it says that the call has failed, so does everything after it.
  }
  // The end of a destructor's last class: what `call_` refers to is still there then.
  void EndCall() {
    if (call_ == nullptr) return;
    context_.TryCancel();
    Finish();
  }
  template <class Request>
  bool WriteOne(const Request& request, bool compress) {
    call_->Write(request, WriteOptionsFor(compress), &written_);
    return written_.Take();
  }
  bool WritesDone() {
    call_->WritesDone(&written_);
    return written_.Take();
  }
  template <class Response>
  bool ReadOne(Response& response) {
    call_->Read(&response, &read_);
    return read_.Take();
  }

  ::grpc::ClientContext context_;
  std::unique_ptr<Call> call_;  // until Finish
  Event event_;
  Event written_;
  Event read_;
};

class InputStream final
    : public CqStream<InteropInputStream, ::grpc::ClientAsyncWriter<StreamingInputCallRequest>> {
 public:
  InputStream(TestService::Stub& stub, CompletionQueue* queue, const InteropCallOptions& options)
      : CqStream(options) {
    call_ = stub.PrepareAsyncStreamingInputCall(&context_, &reply_, queue);
    StartCall();
  }
  ~InputStream() override { EndCall(); }

  bool Write(const StreamingInputCallRequest& request, bool compress) override {
    return WriteOne(request, compress);
  }
  bool HalfClose() override { return WritesDone(); }
  const StreamingInputCallResponse& reply() const override { return reply_; }

 private:
  StreamingInputCallResponse reply_;
};

class OutputStream final
    : public CqStream<InteropOutputStream, ::grpc::ClientAsyncReader<StreamingOutputCallResponse>> {
 public:
  OutputStream(TestService::Stub& stub, CompletionQueue* queue,
               const StreamingOutputCallRequest& request, const InteropCallOptions& options)
      : CqStream(options) {
    call_ = stub.PrepareAsyncStreamingOutputCall(&context_, request, queue);
    StartCall();
  }
  ~OutputStream() override { EndCall(); }

  bool Read(StreamingOutputCallResponse& response) override { return ReadOne(response); }
};

using DuplexCall =
    ::grpc::ClientAsyncReaderWriter<StreamingOutputCallRequest, StreamingOutputCallResponse>;

class DuplexStream final : public CqStream<InteropDuplexStream, DuplexCall> {
 public:
  using Method = std::unique_ptr<DuplexCall> (TestService::Stub::*)(::grpc::ClientContext*,
                                                                    CompletionQueue*);

  DuplexStream(TestService::Stub& stub, Method method, CompletionQueue* queue,
               const InteropCallOptions& options)
      : CqStream(options) {
    call_ = (stub.*method)(&context_, queue);
    StartCall();
  }
  ~DuplexStream() override { EndCall(); }

  bool Write(const StreamingOutputCallRequest& request, bool compress) override {
    return WriteOne(request, compress);
  }
  bool HalfClose() override { return WritesDone(); }
  bool Read(StreamingOutputCallResponse& response) override { return ReadOne(response); }
};

class CqClient final : public InteropClient {
 public:
  explicit CqClient(const std::shared_ptr<::grpc::ChannelInterface>& channel) : stubs_(channel) {}

  InteropCapabilities Capabilities() const override { return InteropChannelCapabilities(); }

  InteropOutcome Empty(InteropEmptyMethod method, const InteropCallOptions& options) override {
    const EmptyMessage request;
    EmptyMessage reply;
    using Stub = TestService::Stub;
    switch (method) {
      case InteropEmptyMethod::kEmptyCall:
        return Call(*stubs_.test, &Stub::PrepareAsyncEmptyCall, request, reply, options);
      case InteropEmptyMethod::kUnimplementedCall:
        return Call(*stubs_.test, &Stub::PrepareAsyncUnimplementedCall, request, reply, options);
      case InteropEmptyMethod::kUnimplementedService:
        break;
    }
    return Call(*stubs_.unimplemented, &UnimplementedService::Stub::PrepareAsyncUnimplementedCall,
                request, reply, options);
  }

  InteropReply<SimpleResponse> Unary(const SimpleRequest& request,
                                     const InteropCallOptions& options) override {
    InteropReply<SimpleResponse> result;
    static_cast<InteropOutcome&>(result) = Call(
        *stubs_.test, &TestService::Stub::PrepareAsyncUnaryCall, request, result.reply, options);
    return result;
  }

  std::unique_ptr<InteropInputStream> StreamingInput(const InteropCallOptions& options) override {
    return std::make_unique<InputStream>(*stubs_.test, queue_.get(), options);
  }
  std::unique_ptr<InteropOutputStream> StreamingOutput(const StreamingOutputCallRequest& request,
                                                       const InteropCallOptions& options) override {
    return std::make_unique<OutputStream>(*stubs_.test, queue_.get(), request, options);
  }
  std::unique_ptr<InteropDuplexStream> FullDuplex(const InteropCallOptions& options) override {
    return std::make_unique<DuplexStream>(
        *stubs_.test, &TestService::Stub::PrepareAsyncFullDuplexCall, queue_.get(), options);
  }
  std::unique_ptr<InteropDuplexStream> HalfDuplex(const InteropCallOptions& options) override {
    return std::make_unique<DuplexStream>(
        *stubs_.test, &TestService::Stub::PrepareAsyncHalfDuplexCall, queue_.get(), options);
  }

 private:
  template <class Stub, class Request, class Reply>
  InteropOutcome Call(Stub& stub,
                      std::unique_ptr<::grpc::ClientAsyncResponseReader<Reply>> (Stub::*prepare)(
                          ::grpc::ClientContext*, const Request&, CompletionQueue*),
                      const Request& request, Reply& reply, const InteropCallOptions& options) {
    ::grpc::ClientContext context;
    Apply(options, context);
    ::grpc::Status status;
    Event event;
    const auto call = (stub.*prepare)(&context, request, queue_.get());
    call->StartCall();
    call->Finish(&reply, &status, &event);
    event.Take();
    return OutcomeOf(status, context);
  }

  InteropStubs stubs_;
  Queue queue_;
};

}  // namespace

std::unique_ptr<InteropClient> MakeStubCqClient(std::shared_ptr<::grpc::ChannelInterface> channel) {
  return std::make_unique<CqClient>(channel);
}

}  // namespace weft::inline v0::testing
