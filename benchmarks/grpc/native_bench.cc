// grpc_native_bench: typed gRPC calls without gRPC's core, against the same servers as call_bench.
// Arguments: closed_loop.h.
#include <cstdint>
#include <cstdio>
#include <string>

#include "closed_loop.h"
#include "echo.pb.h"
#include "weft/grpc.h"
#include "weft/weft.h"

namespace {

constexpr char kMethod[] = "/bench.Echo/Call";

struct Caller {
  weft::Channel* channel;
  const bench::EchoRequest* request;

  static weft::CallOptions Options() { return {.timeout = absl::Seconds(5)}; }
  bool IsGood(const absl::StatusOr<bench::EchoResponse>& reply) const {
    if (!reply.ok()) std::fprintf(stderr, "%s\n", reply.status().ToString().c_str());
    return reply.ok() && reply->payload().size() == request->resp_size();
  }

  bool Call() {
    return IsGood(weft::grpc::Call<bench::EchoResponse>(*channel, kMethod, *request, Options()));
  }
  template <class Done>
  void Start(Done done) {
    weft::grpc::Start<bench::EchoResponse>(
        *channel, kMethod, *request, Options(),
        [this, done](absl::StatusOr<bench::EchoResponse> reply) { done(IsGood(reply)); })
        .Detach();
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
  bench::EchoRequest request;
  request.set_resp_size(static_cast<uint32_t>(args.Int("resp")));
  request.set_payload(std::string(static_cast<size_t>(args.Int("req")), 'x'));
  weft::bench::ClosedLoop<Caller> loop(args, [&] { return Caller{channel.get(), &request}; });
  return loop.Run("weft-native");
}
