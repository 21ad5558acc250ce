// A stub that protoc generated, on Weft: MakeChannel is the only line that changes. It starts a
// server of its own, or talks to one:  grpc_stub static:10.0.0.7:50051,10.0.0.8:50051
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "greeter.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "weft/channel_factory.h"
#include "weft/grpc_stub.h"

namespace {

using greeter::Greeter;
using greeter::HelloReply;
using greeter::HelloRequest;

constexpr int kThreads = 64;
constexpr int kCallsPerThread = 100;

// Any gRPC server will do. This one is gRPC's own.
class Server final : public Greeter::Service {
 public:
  Server() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  grpc::Status SayHello(grpc::ServerContext*, const HelloRequest* request,
                        HelloReply* reply) override {
    reply->set_text("Hello, " + request->name());
    return grpc::Status::OK;
  }
  grpc::Status Chat(grpc::ServerContext*,
                    grpc::ServerReaderWriter<HelloReply, HelloRequest>* stream) override {
    HelloRequest request;
    HelloReply reply;
    while (stream->Read(&request)) {
      reply.set_text("And " + request.name() + "!");
      if (!stream->Write(reply)) break;
    }
    return grpc::Status::OK;
  }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

HelloRequest From(const std::string& name) {
  HelloRequest request;
  request.set_name(name);
  return request;
}

grpc::Status SayHello(Greeter::Stub& stub, const std::string& name, std::string& answer) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  HelloReply reply;
  grpc::Status status = stub.SayHello(&context, From(name), &reply);
  answer = reply.text();
  return status;
}

// An error says who was called, how often, and whether the call may have been processed.
int Fail(const std::string& error) {
  std::fprintf(stderr, "grpc_stub: %s\n", error.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::unique_ptr<Server> server;
  if (argc < 2) server = std::make_unique<Server>();

  auto factory = weft::ChannelFactory::Create();
  if (!factory.ok()) return Fail(factory.status().ToString());
  auto channel = (*factory)->GetChannel(server != nullptr ? server->address() : argv[1]);
  if (!channel.ok()) return Fail(channel.status().ToString());

  // Was: Greeter::NewStub(grpc::CreateChannel(target, grpc::InsecureChannelCredentials()))
  const auto stub = Greeter::NewStub(weft::grpc::MakeChannel(*channel));

  std::string answer;
  if (const grpc::Status status = SayHello(*stub, "blocking", answer); !status.ok())
    return Fail(status.error_message());
  std::printf("%s\n", answer.c_str());

  // With a callback, on a thread of gRPC's.
  grpc::ClientContext context;
  const HelloRequest request = From("callback");
  HelloReply reply;
  std::promise<grpc::Status> done;
  stub->async()->SayHello(&context, &request, &reply,
                          [&done](grpc::Status status) { done.set_value(std::move(status)); });
  if (const grpc::Status status = done.get_future().get(); !status.ok())
    return Fail(status.error_message());
  std::printf("%s\n", reply.text().c_str());

  // A stream, both ways.
  grpc::ClientContext chat_context;
  const auto chat = stub->Chat(&chat_context);
  for (const char* name : {"there", "back"}) {
    if (chat->Write(From(name)) && chat->Read(&reply)) std::printf("%s\n", reply.text().c_str());
  }
  chat->WritesDone();
  if (const grpc::Status status = chat->Finish(); !status.ok()) return Fail(status.error_message());

  // Threads share the one connection to each host.
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&stub, &right, i] {
      const std::string name = std::to_string(i);
      std::string heard;
      for (int call = 0; call < kCallsPerThread; ++call) {
        if (SayHello(*stub, name, heard).ok() && heard == "Hello, " + name) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d threads: %d of %d calls got their answer, over %d connection(s)\n", kThreads,
              right.load(), kThreads * kCallsPerThread,
              static_cast<int>((*factory)->Stats().connections_opened));
  return right == kThreads * kCallsPerThread ? 0 : 1;
}
