// A gRPC server for tests: grpc_echo_server <port> [<oldest age of a connection, in ms>]
// /bench.Echo/Call answers with the message that it was asked with, and with x-connection: the
// client's address, of which each connection has another. Says "listening" when it does.
#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "echo.grpc.pb.h"

namespace {

class EchoService final : public bench::Echo::CallbackService {
  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context,
                                 const bench::Message* request, bench::Message* response) override {
    context->AddInitialMetadata("x-connection", context->peer());
    response->set_payload(request->payload());
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  EchoService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(std::string("127.0.0.1:") + argv[1], grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(64 << 20);
  if (argc > 2) builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, std::atoi(argv[2]));
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  std::cout << "listening" << std::endl;
  server->Wait();
}
