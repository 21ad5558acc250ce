// call_bench: plain HTTP calls over one channel to a gRPC-speaking echo server (POST
// /bench.Echo/Call over h2c; echo_server is one). Arguments: closed_loop.h.
#include <cstdint>
#include <string>

#include "bench_client.h"
#include "closed_loop.h"
#include "echo_call.h"

int main(int argc, char** argv) {
  using weft::bench::EchoCaller;
  const weft::bench::Arguments args = weft::bench::LoopArguments(argc, argv);
  const weft::bench::Client client(args);
  const auto resp = static_cast<uint32_t>(args.Int("resp"));
  const std::string request = weft::bench::EchoMessage(resp, static_cast<size_t>(args.Int("req")));
  const size_t response_bytes = weft::bench::EchoMessage(0, resp).size();
  return weft::bench::RunLoop<EchoCaller>("weft", args, [&] {
    return EchoCaller{client.channel.get(), &request, response_bytes};
  });
}
