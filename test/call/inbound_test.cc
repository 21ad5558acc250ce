// What a call inherits from a request that came in, and what of it reaches the host.
#include "call/inbound.h"

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "http/grpc_wire.h"
#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft {
namespace {

using testing::RogueAnswer;
using testing::RogueRequest;
using testing::RogueServer;
using testing::SimCall;
using testing::SimClient;
using testing::SimEnv;

constexpr char kParent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST_CASE("deadline, trace, baggage and tier are read from headers") {
  const Headers inbound = {{"grpc-timeout", "250m"},   {"traceparent", kParent},
                           {"tracestate", "vendor=1"}, {"baggage", "tenant=7"},
                           {"x-weft-tier", "1"},       {"x-request-timeout-ms", "9999"}};
  const CallOptions options = CallOptions::From(inbound);
  CHECK(options.timeout == absl::Milliseconds(250));
  REQUIRE(options.trace.has_value());
  CHECK(options.trace->ToString() == kParent);
  CHECK(options.trace_state == "vendor=1");
  CHECK(options.baggage == "tenant=7");
  CHECK(options.tier == Tier::kSoft);
}

TEST_CASE("the plain form of a deadline is read too, and what is malformed is left out") {
  const Headers plain = {{"x-request-timeout-ms", "40"}};
  CHECK(CallOptions::From(plain).timeout == absl::Milliseconds(40));
  for (const char* text : {"", "-1", "1.5", "1s", "99999999999999999999"}) {
    const Headers wrong = {{"x-request-timeout-ms", text}};
    CHECK_FALSE(CallOptions::From(wrong).timeout.has_value());
  }
  const Headers wrong = {{"grpc-timeout", "soon"},
                         {"traceparent", "00-1-2-3"},
                         {"tracestate", "a=1"},
                         {"x-weft-tier", "3"}};
  const CallOptions none = CallOptions::From(wrong);
  CHECK_FALSE(none.timeout.has_value());
  CHECK_FALSE(none.trace.has_value());
  CHECK(none.trace_state.empty());
  CHECK_FALSE(none.tier.has_value());
}

TEST_CASE("what is inherited reaches the host, with a span of its own for each attempt") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  int asked = 0;
  server.options().handler = [&](const RogueRequest&) {
    return asked++ == 0 ? RogueAnswer::Refused() : RogueAnswer{};
  };
  SimClient client(env, "static:10.0.0.1:80");
  const Headers inbound = {{"traceparent", kParent}, {"tracestate", "a=1"}, {"baggage", "b=2"}};
  CallOptions options = CallOptions::From(inbound);
  options.tier = Tier::kSheddable;
  SimCall& call = client.Get("/", options);
  REQUIRE(client.RunUntilDone(call));
  REQUIRE(call.ok());
  const std::vector<const RogueRequest*> requests = server.requests();
  REQUIRE(requests.size() == 2);
  std::set<std::string> spans;
  for (const RogueRequest* request : requests) {
    const auto trace = TraceContext::Parse(request->header("traceparent"));
    REQUIRE(trace.has_value());
    CHECK(trace->trace_id == TraceContext::Parse(kParent)->trace_id);
    CHECK(trace->flags == 1);
    spans.insert(trace->ToString());
    CHECK(request->header("tracestate") == "a=1");
    CHECK(request->header("baggage") == "b=2");
    CHECK(request->header("x-weft-tier") == "2");
    CHECK(request->header("grpc-timeout").empty());
  }
  CHECK(spans.size() == 2);
  CHECK(spans.count(kParent) == 0);
  CHECK(client.Close());
}

TEST_CASE("a gRPC call tells each attempt's host the time that remains") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  int asked = 0;
  server.options().handler = [&](const RogueRequest&) {
    RogueAnswer answer = asked++ == 0 ? RogueAnswer::Refused() : RogueAnswer{};
    answer.delay = std::chrono::milliseconds(200);
    return answer;
  };
  SimClient client(env, "static:10.0.0.1:80");
  REQUIRE(client.RunUntilReady());
  asked = 0;
  SimCall& call = client.Get("/", {.timeout = absl::Seconds(1), .protocol = Protocol::kGrpc});
  REQUIRE(client.RunUntilDone(call));
  REQUIRE(call.ok());
  std::vector<const RogueRequest*> requests = server.requests();
  std::erase_if(requests, [](const RogueRequest* r) { return r->header("grpc-timeout").empty(); });
  REQUIRE(requests.size() == 2);
  const auto first = http::ParseGrpcTimeout(requests[0]->header("grpc-timeout"));
  const auto second = http::ParseGrpcTimeout(requests[1]->header("grpc-timeout"));
  REQUIRE((first.has_value() && second.has_value()));
  CHECK(*first == absl::Seconds(1));
  CHECK(*second <= absl::Milliseconds(800));
  CHECK(*second > absl::Milliseconds(700));
  SimCall& endless =
      client.Get("/", {.timeout = absl::InfiniteDuration(), .protocol = Protocol::kGrpc});
  REQUIRE(client.RunUntilDone(endless));
  CHECK(server.requests().back()->header("grpc-timeout").empty());
  CHECK(client.Close());
}

}  // namespace
}  // namespace weft
