// grpc_stub_bench: generated gRPC stubs on a Weft channel, against the same servers as call_bench.
// Arguments: closed_loop.h.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "closed_loop.h"
#include "echo.grpc.pb.h"
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
    return status.ok() && reply.payload().size() == request->resp_size();
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
  const weft::bench::Arguments args(argc, argv);
  const auto factory = weft::ChannelFactory::Create({.loops = args.Int("loops")});
  if (!factory.ok()) {
    std::fprintf(stderr, "%s\n", factory.status().ToString().c_str());
    return 1;
  }
  const auto channel = (*factory)->GetChannel("127.0.0.1:" + args.Text("port")).value();
  const auto stub = bench::Echo::NewStub(weft::grpc::MakeChannel(channel));
  bench::EchoRequest request;
  request.set_resp_size(static_cast<uint32_t>(args.Int("resp")));
  request.set_payload(std::string(static_cast<size_t>(args.Int("req")), 'x'));
  weft::bench::ClosedLoop<Caller> loop(args, [&] { return Caller{stub.get(), &request}; });
  return loop.Run("weft-stub");
}
