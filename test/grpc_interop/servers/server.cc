// The interop service on gRPC C++: grpc_interop_server [PORT]
//
// Says "ready ADDRESS CAPABILITY..." once it takes calls, on a port of its choice if none or 0 is
// named. Then a line of standard input each is answered with one line:
//   peers   how many addresses of clients calls came from since the start or the last "forget"
//   forget  0
//   health SERVICE serving|not-serving  sets what grpc.health.v1 says of the service, and says it
// Ends in order with SIGTERM, SIGINT or the end of its input.
#include <grpc/compression.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "grpc_interop/interop.grpc.pb.h"

// Of gRPC's core, for tests such as this; no installed header declares it.
uint32_t grpc_call_test_only_get_message_flags(grpc_call* call);

namespace grpc::testing {

// The name is the one that ServerContext has for its friend.
class InteropServerContextInspector {
 public:
  // Whether the message that was read last came compressed.
  static bool WasCompressed(const ServerContext& context) {
    // GRPC_WRITE_INTERNAL_COMPRESS, and the mark that decompression leaves.
    constexpr uint32_t kCompressed = 0x80000000U | 0x40000000U;
    return (grpc_call_test_only_get_message_flags(context.call_.call) & kCompressed) != 0;
  }
};

}  // namespace grpc::testing

namespace {

using grpc::ServerContext;
using grpc::Status;
using grpc::testing::EchoStatus;
using grpc::testing::Empty;
using grpc::testing::InteropServerContextInspector;
using grpc::testing::Payload;
using grpc::testing::ResponseParameters;
using grpc::testing::SimpleRequest;
using grpc::testing::SimpleResponse;
using grpc::testing::StreamingInputCallRequest;
using grpc::testing::StreamingInputCallResponse;
using grpc::testing::StreamingOutputCallRequest;
using grpc::testing::StreamingOutputCallResponse;

class Peers {
 public:
  void Add(const std::string& peer) {
    std::lock_guard<std::mutex> lock(mutex_);
    peers_.insert(peer);
  }
  size_t Count() {
    std::lock_guard<std::mutex> lock(mutex_);
    return peers_.size();
  }
  void Forget() {
    std::lock_guard<std::mutex> lock(mutex_);
    peers_.clear();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> peers_;
};

void EchoMetadata(ServerContext& context) {
  const auto& sent = context.client_metadata();
  constexpr char kInitial[] = "x-grpc-test-echo-initial";
  constexpr char kTrailing[] = "x-grpc-test-echo-trailing-bin";
  if (const auto i = sent.find(kInitial); i != sent.end()) {
    context.AddInitialMetadata(kInitial, std::string(i->second.data(), i->second.size()));
  }
  if (const auto i = sent.find(kTrailing); i != sent.end()) {
    context.AddTrailingMetadata(kTrailing, std::string(i->second.data(), i->second.size()));
  }
}

Status ToStatus(const EchoStatus& status) {
  return {static_cast<grpc::StatusCode>(status.code()), status.message(), status.details()};
}

template <class Request>
bool CameAsSaid(const ServerContext& context, const Request& request) {
  return !request.has_expect_compressed() ||
         request.expect_compressed().value() ==
             InteropServerContextInspector::WasCompressed(context);
}

Status NotAsSaid() {
  return {grpc::StatusCode::INVALID_ARGUMENT, "the request was not compressed as it said"};
}

// False where the call was cancelled meanwhile.
bool Pause(const ServerContext& context, int interval_us) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(interval_us);
  while (!context.IsCancelled()) {
    const auto left = until - std::chrono::steady_clock::now();
    if (left <= left.zero()) return true;
    std::this_thread::sleep_for(
        std::min<std::chrono::nanoseconds>(left, std::chrono::milliseconds(10)));
  }
  return false;
}

class Service final : public grpc::testing::TestService::Service {
 public:
  explicit Service(Peers& peers) : peers_(peers) {}

 private:
  using DuplexStream =
      grpc::ServerReaderWriter<StreamingOutputCallResponse, StreamingOutputCallRequest>;

  void Begin(ServerContext& context) {
    peers_.Add(context.peer());
    EchoMetadata(context);
  }

  // False where the client is gone.
  template <class Writer>
  static bool Answer(ServerContext& context, const ResponseParameters& parameters, Writer& writer) {
    StreamingOutputCallResponse response;
    response.mutable_payload()->set_body(std::string(parameters.size(), '\0'));
    grpc::WriteOptions options;
    if (parameters.has_compressed()) {
      // Of the call, and taken off a message; only the first message can set it.
      context.set_compression_level(GRPC_COMPRESS_LEVEL_HIGH);
      if (!parameters.compressed().value()) options.set_no_compression();
    }
    return Pause(context, parameters.interval_us()) && writer.Write(response, options);
  }

  template <class Writer>
  static bool AnswerAll(ServerContext& context, const StreamingOutputCallRequest& request,
                        Writer& writer) {
    for (const ResponseParameters& parameters : request.response_parameters()) {
      if (!Answer(context, parameters, writer)) return false;
    }
    return true;
  }

  static Status Gone() { return {grpc::StatusCode::CANCELLED, "the client is gone"}; }

  Status EmptyCall(ServerContext* context, const Empty*, Empty*) override {
    Begin(*context);
    return Status::OK;
  }

  Status UnaryCall(ServerContext* context, const SimpleRequest* request,
                   SimpleResponse* response) override {
    Begin(*context);
    if (!CameAsSaid(*context, *request)) return NotAsSaid();
    if (request->has_response_compressed()) {
      context->set_compression_level(request->response_compressed().value()
                                         ? GRPC_COMPRESS_LEVEL_HIGH
                                         : GRPC_COMPRESS_LEVEL_NONE);
    }
    if (request->echo_payload()) {
      *response->mutable_payload() = request->payload();
    } else if (request->response_size() > 0) {
      response->mutable_payload()->set_body(std::string(request->response_size(), '\0'));
    }
    if (request->has_response_status()) return ToStatus(request->response_status());
    return Status::OK;
  }

  Status StreamingOutputCall(ServerContext* context, const StreamingOutputCallRequest* request,
                             grpc::ServerWriter<StreamingOutputCallResponse>* writer) override {
    Begin(*context);
    if (!AnswerAll(*context, *request, *writer)) return Gone();
    if (request->has_response_status()) return ToStatus(request->response_status());
    return Status::OK;
  }

  Status StreamingInputCall(ServerContext* context,
                            grpc::ServerReader<StreamingInputCallRequest>* reader,
                            StreamingInputCallResponse* response) override {
    Begin(*context);
    size_t sum = 0;
    StreamingInputCallRequest request;
    while (reader->Read(&request)) {
      if (!CameAsSaid(*context, request)) return NotAsSaid();
      sum += request.payload().body().size();
    }
    response->set_aggregated_payload_size(static_cast<int32_t>(sum));
    return Status::OK;
  }

  Status FullDuplexCall(ServerContext* context, DuplexStream* stream) override {
    Begin(*context);
    StreamingOutputCallRequest request;
    while (stream->Read(&request)) {
      if (!AnswerAll(*context, request, *stream)) return Gone();
      if (request.response_status().code() != 0) return ToStatus(request.response_status());
    }
    return Status::OK;
  }

  Status HalfDuplexCall(ServerContext* context, DuplexStream* stream) override {
    Begin(*context);
    std::vector<StreamingOutputCallRequest> requests;
    StreamingOutputCallRequest request;
    while (stream->Read(&request)) requests.push_back(request);
    for (const StreamingOutputCallRequest& each : requests) {
      if (!AnswerAll(*context, each, *stream)) return Gone();
    }
    return Status::OK;
  }

  Peers& peers_;
};

// Answers until its input ends, and asks this process to end then.
void AnswerLines(Peers& peers, grpc::HealthCheckServiceInterface& health) {
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line == "peers") {
      std::cout << peers.Count() << std::endl;
    } else if (line == "forget") {
      peers.Forget();
      std::cout << 0 << std::endl;
    } else if (line.starts_with("health ")) {
      std::istringstream words(line);
      std::string word, service, status;
      words >> word >> service >> status;
      health.SetServingStatus(service, status == "serving");
      std::cout << status << std::endl;
    } else {
      std::cout << "no such question: " << line << std::endl;
    }
  }
  kill(getpid(), SIGTERM);
}

}  // namespace

int main(int argc, char** argv) {
  // Before there are threads, so that all of them leave the signals to sigwait.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  Peers peers;
  Service service(peers);
  int port = 0;
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(std::string("127.0.0.1:") + (argc > 1 ? argv[1] : "0"),
                           grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    std::cerr << "grpc_interop_server: cannot listen on that port" << std::endl;
    return 1;
  }
  std::cout << "ready 127.0.0.1:" << port << " sees-compression answers-compressed" << std::endl;
  grpc::HealthCheckServiceInterface& health = *server->GetHealthCheckService();
  std::thread([&] { AnswerLines(peers, health); }).detach();

  int signal = 0;
  sigwait(&ends, &signal);
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  server->Wait();
  std::cout << "ended" << std::endl;
  // The thread that reads may be in the middle of a line; nothing is left to destroy.
  _exit(0);
}
