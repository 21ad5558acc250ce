// call_bench: plain HTTP calls over one channel to a gRPC-speaking echo server (POST
// /bench.Echo/Call over h2c), whose messages it takes for bytes. Arguments: closed_loop.h. Every
// answer is checked: status 200, grpc-status 0 and a body of the length asked for.
#include <cstdint>
#include <string>

#include "bench_client.h"
#include "closed_loop.h"
#include "weft/weft.h"

namespace {

// The message {int32 resp_size = 1; bytes payload = 2} in protobuf's wire format, behind gRPC's
// five-byte prefix.
std::string EchoMessage(uint32_t resp_size, size_t payload) {
  std::string message;
  const auto varint = [&message](uint64_t value) {
    for (; value >= 0x80; value >>= 7) message.push_back(static_cast<char>(value | 0x80));
    message.push_back(static_cast<char>(value));
  };
  if (resp_size > 0) {
    message.push_back(0x08);
    varint(resp_size);
  }
  if (payload > 0) {
    message.push_back(0x12);
    varint(payload);
    message.append(payload, 'x');
  }
  std::string framed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    framed.push_back(static_cast<char>(message.size() >> shift));
  return framed + message;
}

struct Caller {
  weft::Channel* channel;
  const std::string* request_body;
  size_t response_bytes;

  weft::Request MakeRequest() const {
    return weft::Request::Post(
        "/bench.Echo/Call", *request_body,
        {{"te", "trailers"}, {"content-type", "application/grpc"}, {"grpc-timeout", "5S"}});
  }
  static weft::CallOptions Options() { return {.timeout = absl::Seconds(5)}; }
  bool IsGood(const absl::StatusOr<weft::Response>& response) const {
    return weft::bench::IsGood(response, [this](const weft::Response& answer) {
      return answer.status == 200 && answer.trailers["grpc-status"] == "0" &&
             answer.body.size() == response_bytes;
    });
  }

  bool Call() { return IsGood(channel->Call(MakeRequest(), Options())); }
  template <class Done>
  void Start(Done done) {
    channel
        ->Start(MakeRequest(), Options(),
                [this, done](absl::StatusOr<weft::Response> response) { done(IsGood(response)); })
        .Detach();
  }
};

}  // namespace

int main(int argc, char** argv) {
  const weft::bench::Arguments args(argc, argv);
  const weft::bench::Client client(args);
  const auto resp = static_cast<uint32_t>(args.Int("resp"));
  const std::string request = EchoMessage(resp, static_cast<size_t>(args.Int("req")));
  const size_t response_bytes = EchoMessage(0, resp).size();
  weft::bench::ClosedLoop<Caller> loop(args, [&] {
    return Caller{client.channel.get(), &request, response_bytes};
  });
  return loop.Run("weft");
}
