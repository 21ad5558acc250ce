// What a host does to those who dial it, and what becomes of the calls.
#include <string>

#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/says.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a refused dial fails the call with the host's words, not sent") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& call = client.Get();
  REQUIRE(client.RunUntilDone(call));
  CHECK(absl::IsUnavailable(call.status()));
  CHECK(Says(call.status(), "10.0.0.1:80 refused the connection"));
  CHECK(Says(call.status(), "not sent"));
  CHECK(call.error().processed == Processed::kNotSent);
  CHECK(call.took() < 1s);
  CHECK(client.Close());
}

TEST_CASE("a host that cannot be dialled is passed over for one that can") {
  for (const DialFault fault :
       {DialFault::kRefuse, DialFault::kReset, DialFault::kUnreachable, DialFault::kBlackHole}) {
    auto env = std::make_shared<SimEnv>();
    WEFT_SEED_INFO(*env);
    RogueServer good(*env, "10.0.0.2:80");
    env->network().host("10.0.0.1:80").FailDials(fault);
    SimClient client(env, "static:10.0.0.1:80,10.0.0.2:80");
    for (int i = 0; i < 20; ++i) client.Post("/", "x");
    REQUIRE(client.RunUntilAllDone());
    for (const SimCall& call : client.calls()) {
      REQUIRE(call.ok());
      CHECK(call.response().info.host == "10.0.0.2:80");
      CHECK(call.took() < 1s);
    }
    CHECK(client.Close());
  }
}

TEST_CASE("no answer to the dial: the connect timeout ends it") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  env->network().host("10.0.0.1:80").FailDials(DialFault::kBlackHole);
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& call = client.Get("/", {.timeout = absl::Seconds(60)});
  REQUIRE(client.RunUntilDone(call));
  CHECK(Says(call.status(), "did not answer within the connect timeout of 5s"));
  CHECK(call.took() >= 5s);
  CHECK(call.took() < 5100ms);
  CHECK(client.Close());
}

TEST_CASE("accepted, but no SETTINGS: the connect timeout covers them") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer mute(*env, "10.0.0.1:80");
  mute.options().send_settings = false;
  mute.options().acknowledge_settings = false;
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& call = client.Get("/", {.timeout = absl::Seconds(60)});
  REQUIRE(client.RunUntilDone(call));
  CHECK(Says(call.status(), "sent no HTTP/2 SETTINGS within the connect timeout"));
  CHECK(call.error().processed == Processed::kNotSent);
  CHECK(call.took() < 5100ms);
  CHECK(client.Close());
}

TEST_CASE("a peer that speaks something else is named, and nothing is sent to it") {
  for (const std::string& greeting :
       {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"),
        std::string("\x15\x03\x03\x00\x02\x02\x46", 7), std::string("SSH-2.0-OpenSSH_9.2\r\n")}) {
    auto env = std::make_shared<SimEnv>();
    WEFT_SEED_INFO(*env);
    RogueServer other(*env, "10.0.0.1:80");
    other.options().greeting = greeting;
    SimClient client(env, "static:10.0.0.1:80");
    SimCall& call = client.Post("/", "x");
    REQUIRE(client.RunUntilDone(call));
    INFO(call.status().ToString());
    CHECK(Says(call.status(), "does not speak HTTP/2"));
    CHECK(call.error().processed == Processed::kNotSent);
    CHECK(other.request_count() == 0);
    CHECK(client.Close());
  }
}

TEST_CASE("SETTINGS that are never acknowledged end the connection after 10 s") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.options().acknowledge_settings = false;
  server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& call = client.Post("/", "x", {.timeout = absl::Seconds(60)});
  REQUIRE(client.RunUntilDone(call));
  CHECK(Says(call.status(), "did not acknowledge SETTINGS"));
  CHECK(call.error().processed == Processed::kMaybeProcessed);
  CHECK(call.took() < 11s);
  CHECK(client.stats().protocol_errors == 1);
  CHECK(client.Close());
}

TEST_CASE("dialling again: the pauses grow, are jittered, and one success begins anew") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  SimHost& host = env->network().host("10.0.0.1:80");
  SimClient client(env, "static:10.0.0.1:80");
  client.Get();
  env->RunFor(120s);
  const uint64_t failures = client.stats().dial_failures;
  CHECK(failures >= 6);  // 100 ms growing threefold at the most, 30 s at the most
  CHECK(failures <= 120);
  RogueServer server(*env, "10.0.0.1:80");
  env->RunFor(60s);
  CHECK(server.accepted() == 1);
  SimCall& call = client.Get();
  REQUIRE(client.RunUntilDone(call));
  CHECK(call.ok());
  // A host that restarts is back at once.
  server.Kill();
  env->RunFor(1ms);
  server.Listen();
  env->RunFor(500ms);
  CHECK(server.accepted() == 2);
  CHECK(host.stats.open == 1);
  CHECK(client.Close());
}

TEST_CASE("no descriptor left: the call says so, and calls succeed once there are some") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer server(*env, "10.0.0.1:80");
  server.host().FailDials(DialFault::kNoDescriptors, 1);
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& first = client.Get();
  REQUIRE(client.RunUntilDone(first));
  CHECK_FALSE(first.ok());
  CHECK(Says(first.status(), "Too many open files"));
  env->RunFor(1s);
  SimCall& second = client.Get();
  REQUIRE(client.RunUntilDone(second));
  CHECK(second.ok());
  CHECK(client.Close());
}

TEST_CASE("wait_for_ready waits for the host until the deadline") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& late = client.Get("/", {.timeout = absl::Seconds(2), .wait_for_ready = true});
  REQUIRE(client.RunUntilDone(late));
  CHECK(absl::IsDeadlineExceeded(late.status()));
  CHECK(late.took() >= 2s);
  CHECK(late.took() < 2010ms);
  SimCall& patient = client.Get("/", {.timeout = absl::Seconds(100), .wait_for_ready = true});
  env->RunFor(3s);
  CHECK_FALSE(patient.done());
  RogueServer server(*env, "10.0.0.1:80");
  REQUIRE(client.RunUntilDone(patient));
  CHECK(patient.ok());
  CHECK(client.Close());
}

TEST_CASE("a host that accepts, greets with GOAWAY and hangs up is not dialled in a tight loop") {
  auto env = std::make_shared<SimEnv>();
  WEFT_SEED_INFO(*env);
  RogueServer storm(*env, "10.0.0.1:80");
  storm.options().on_frame = [](RogueConnection& connection, const Frame& frame) {
    if (frame.type != kSettings) return false;
    connection.SendGoaway(0);
    connection.stream().Close();
    return false;
  };
  SimClient client(env, "static:10.0.0.1:80");
  SimCall& call = client.Post("/", "x", {.timeout = absl::Seconds(5)});
  REQUIRE(client.RunUntilDone(call));
  CHECK_FALSE(call.ok());
  CHECK(call.error().origin == Origin::kConnection);
  env->RunFor(60s);
  CHECK(storm.accepted() <= 60);
  CHECK(client.Close());
}

}  // namespace
}  // namespace weft::testing
