// grpc_native_bench: typed gRPC calls without gRPC's core, against the same servers as call_bench.
// Arguments: closed_loop.h.
#include "bench_client.h"
#include "closed_loop.h"
#include "echo.pb.h"
#include "echo_message.h"
#include "weft/grpc.h"
#include "weft/weft.h"

namespace {

constexpr char kMethod[] = "/bench.Echo/Call";

struct Caller {
  weft::Channel* channel;
  const bench::EchoRequest* request;

  static weft::CallOptions Options() { return {.timeout = absl::Seconds(5)}; }
  bool IsGood(const absl::StatusOr<bench::EchoResponse>& reply) const {
    return weft::bench::IsGood(reply, [this](const bench::EchoResponse& answer) {
      return weft::bench::IsReplyTo(*request, answer);
    });
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
  const weft::bench::Arguments args = weft::bench::LoopArguments(argc, argv);
  const weft::bench::Client client(args);
  const bench::EchoRequest request = weft::bench::MakeEchoRequest(args);
  return weft::bench::RunLoop<Caller>("weft-native", args, [&] {
    return Caller{client.channel.get(), &request};
  });
}
