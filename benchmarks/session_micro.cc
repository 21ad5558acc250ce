// The protocol's share of a call: a request's head through HPACK into bytes, and the answer's bytes
// into events.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <string_view>

#include "http/session.h"
#include "http2/client_session.h"
#include "weft/headers.h"

namespace weft {
namespace {

struct Owner final : http::SessionOwner {
  void OnSettings() override {}
  void OnGoaway(uint32_t, std::string_view) override {}
  void OnPingAck(uint64_t) override {}
  void OnReset() override {}
};

struct User final : http::StreamUser {
  http::BodyPiece ReadBody(char*, size_t) override { return {}; }
  void OnHead(int, Headers) override {}
  void OnData(std::string_view) override {}
  void OnTrailers(Headers) override {}
  void OnEnd(http::StreamEnd) override { ended = true; }
  bool ended = false;
};

std::string Frame(char type, char flags, uint32_t stream, std::string_view payload) {
  std::string frame;
  for (int shift : {16, 8, 0}) frame.push_back(static_cast<char>(payload.size() >> shift));
  frame.push_back(type);
  frame.push_back(flags);
  for (int shift : {24, 16, 8, 0}) frame.push_back(static_cast<char>(stream >> shift));
  return frame.append(payload);
}

// One exchange: open, collect, and the answer HEADERS(:status 200) DATA(64) with END_STREAM.
void Exchange(benchmark::State& state) {
  Owner owner;
  const std::unique_ptr<http::Session> session = http2::NewClientSession({}, owner);
  std::string out;
  session->Collect(out, 1 << 20);
  base::MonoTime now{};
  if (!session->Feed(Frame(4, 0, 0, "") + Frame(4, 1, 0, ""), now).ok())
    state.SkipWithError("no settings");
  const Headers headers{
      {"te", "trailers"}, {"content-type", "application/grpc"}, {"grpc-timeout", "5S"}};
  const std::string data(64, 'x');
  uint32_t id = 1;
  for (auto _ : state) {
    User user;
    out.clear();
    session->Open(user, {.method = "POST",
                         .scheme = "http",
                         .authority = "127.0.0.1:80",
                         .path = "/bench.Echo/Call",
                         .headers = &headers,
                         .has_body = false});
    session->Collect(out, 1 << 20);
    now += std::chrono::microseconds(10);
    const std::string answer = Frame(1, 4, id, "\x88") + Frame(0, 1, id, data);
    if (!session->Feed(answer, now).ok() || !user.ended) {
      state.SkipWithError("the exchange did not end");
      break;
    }
    id += 2;
  }
  session->EndAll(absl::CancelledError(""), 0);
}
BENCHMARK(Exchange)->Iterations(500000);

}  // namespace
}  // namespace weft

BENCHMARK_MAIN();
