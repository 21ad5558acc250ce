// One host, and exchanges with it, without a client above them.
//
//   HostRig rig({.reset_burst = 0});
//   rig.server.options().handler = ...;
//   Probe probe(rig, {.deadline = 5s});   // bound, not started
//   probe.Start();
//   rig.env.RunFor(10ms);
//   CHECK(probe.data == "hello");
//   CHECK(rig.host->in_flight() == 0);
//
// The thread of the test is none of the loop's: what a probe is told runs at once, on the strand.
#ifndef WEFT_TEST_POOL_HOST_RIG_H_
#define WEFT_TEST_POOL_HOST_RIG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pool/exchange.h"
#include "pool/host_pool.h"
#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_env.h"
#include "telemetry/counters.h"

namespace weft::testing {

struct HostRig {
  explicit HostRig(ConnectionOptions connection_options = {}, int32_t first_stream_id = 1)
      : options(std::move(connection_options)) {
    pool::HostSetup setup;
    setup.loop = loop.get();
    setup.read_buffer = &buffer;
    setup.counters = &counters;
    setup.options = &options;
    setup.connector.network = &env.network();
    setup.seed = env.NewSeed();
    setup.first_stream_id = first_stream_id;
    host = base::MakeRef<pool::HostPool>(*net::Address::Parse("10.0.0.1:80"), std::move(setup));
  }
  ~HostRig() {
    if (host) Close(pool::HostPool::How::kNow);
    CHECK(env.RunUntilIdle());
  }
  // Nothing may be left in flight.
  void Close(pool::HostPool::How how) {
    bool closed = false;
    host->Shutdown(how, absl::CancelledError("over"), [&] { closed = true; });
    CHECK(env.RunUntil([&] { return closed; }, std::chrono::seconds(60)));
    CHECK(host->in_flight() == 0);
    host = {};
  }
  uint64_t resets() const { return counters.resets_sent.value(); }
  uint64_t drained() const { return counters.losers_drained.value(); }

  SimEnv env;
  RogueServer server{env, "10.0.0.1:80"};
  std::unique_ptr<event::Loop> loop = *env.NewLoop(0, nullptr);
  pool::ReadBuffer buffer = pool::ReadBuffer(16384);
  telemetry::Counters counters;
  ConnectionOptions options;
  base::Ref<pool::HostPool> host;
};

// An exchange that writes down what happens to it.
class Probe final : public pool::Exchange {
 public:
  struct Plan {
    base::MonoDuration deadline = std::chrono::seconds(10);  // max: none
    base::MonoDuration look_at = base::MonoDuration::max();  // max: not asked for
    std::optional<std::string> body = {};                    // nothing: a GET
    bool ends_body = true;  // false: there is more, which never comes
    bool consumes = true;
  };
  Probe(HostRig& rig, Plan plan) : env_(rig.env), plan_(std::move(plan)) {
    Bind(*rig.host, env_.Now(), base::After(env_.Now(), plan_.deadline), base::MonoDuration::zero(),
         base::After(env_.Now(), plan_.look_at));
  }
  explicit Probe(HostRig& rig) : Probe(rig, Plan()) {}
  ~Probe() {
    if (!ended()) Cancel();
  }
  static std::unique_ptr<Probe> Started(HostRig& rig, Plan plan) {
    auto probe = std::make_unique<Probe>(rig, std::move(plan));
    probe->Start();
    return probe;
  }
  static std::unique_ptr<Probe> Started(HostRig& rig) { return Started(rig, Plan()); }

  bool ended() const { return end.has_value(); }
  bool ok() const { return ended() && end->status.ok(); }
  // As Abandon and Cancel leave it.
  bool cancelled_here() const {
    return ended() && absl::IsCancelled(end->status) && end->origin == Origin::kLocal;
  }

  int status = 0;
  std::string data;
  std::optional<http::StreamEnd> end;
  base::MonoTime ended_at{};
  std::vector<base::MonoTime> looks;
  std::function<base::MonoTime()> on_look;

 private:
  http::BodyPiece ReadBody(char* to, size_t size) override {
    CHECK_FALSE(ended());
    const size_t bytes = std::min(size, plan_.body->size() - sent_);
    plan_.body->copy(to, bytes, sent_);
    sent_ += bytes;
    using Next = http::BodyPiece::Next;
    if (sent_ < plan_.body->size()) return {bytes, Next::kMore};
    return {bytes, plan_.ends_body ? Next::kEnd : Next::kWait};
  }
  void OnHead(int code, Headers) override {
    CHECK_FALSE(ended());
    status = code;
  }
  void OnData(std::string_view bytes) override {
    CHECK_FALSE(ended());
    data += bytes;
    if (plan_.consumes) ConsumeNow(bytes.size());
  }
  void OnTrailers(Headers) override { CHECK_FALSE(ended()); }
  http::RequestHead RequestHeadFor(bool) override {
    return {.method = plan_.body.has_value() ? "POST" : "GET",
            .scheme = "http",
            .authority = "a",
            .path = "/",
            .has_body = plan_.body.has_value()};
  }
  void OnExchangeEnd(http::StreamEnd how) override {
    REQUIRE_FALSE(ended());
    end = std::move(how);
    ended_at = env_.Now();
  }
  base::MonoTime OnLook() override {
    CHECK_FALSE(ended());
    CHECK(host()->strand().loop().IsCurrent());
    looks.push_back(env_.Now());
    return on_look ? on_look() : base::kNever;
  }
  void Keep() override {}
  void Drop() override {}

  SimEnv& env_;
  Plan plan_;
  size_t sent_ = 0;
};

}  // namespace weft::testing

#endif  // WEFT_TEST_POOL_HOST_RIG_H_
