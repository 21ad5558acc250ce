// grpc_stub_bench: generated gRPC stubs on a Weft channel, against the same servers as call_bench.
// Arguments: closed_loop.h.
#include <chrono>
#include <cstdio>
#include <memory>

#include "bench_client.h"
#include "closed_loop.h"
#include "echo.grpc.pb.h"
#include "echo_message.h"
#include "weft/grpc_stub.h"
#include "weft/weft.h"

namespace {

// One call at a time: its context and reply live here.
struct Caller {
  bench::Echo::Stub* stub;
  const bench::EchoRequest* request;
  std::unique_ptr<grpc::ClientContext> context = {};
  bench::EchoResponse reply = {};

  void Begin() {
    context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  }
  bool IsGood(const grpc::Status& status) const {
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.error_message().c_str());
    return status.ok() && weft::bench::IsReplyTo(*request, reply);
  }

  bool Call() {
    Begin();
    return IsGood(stub->Call(context.get(), *request, &reply));
  }
  template <class Done>
  void Start(Done done) {
    Begin();
    stub->async()->Call(context.get(), request, &reply,
                        [this, done](const grpc::Status& status) { done(IsGood(status)); });
  }
};

}  // namespace

int main(int argc, char** argv) {
  const weft::bench::Arguments args = weft::bench::LoopArguments(argc, argv);
  const weft::bench::Client client(args);
  const auto stub = bench::Echo::NewStub(weft::grpc::MakeChannel(client.channel));
  const bench::EchoRequest request = weft::bench::MakeEchoRequest(args);
  return weft::bench::RunLoop<Caller>("weft-stub", args, [&] {
    return Caller{stub.get(), &request};
  });
}
