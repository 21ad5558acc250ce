// RogueServer: a scripted HTTP/2 server on the simulated network: right by default, wrong where a
// test wants it.
//
//   auto env = std::make_shared<SimEnv>();
//   RogueServer server(*env, "10.0.0.1:80");  // 200 with the request's body; echoes x-id
//   server.options().handler = [&](const RogueRequest& request) -> RogueAnswer {
//     if (request.path() == "/slow") return {.body = "late", .delay = 2s};
//     if (request.path() == "/grpc") return RogueAnswer::Grpc("message", 0);
//     if (request.id() == "7") return RogueAnswer::Refused();  // or Reset(code), Silence()
//     if (request.path() == "/loris") return {.body = "abc", .piece = 1, .gap = 1s};
//     if (request.path() == "/cut") return {.body = "half", .end = false, .reset = kInternalError};
//     return {.status = 200, .headers = {{"a", "b"}}, .body = "x", .trailers = {{"t", "1"}},
//             .informational = {{103, {{"link", "y"}}}}};
//   };
//   // Options hold from the moment they are changed (settings: for new connections).
//   server.options().settings = {{kMaxConcurrentStreams, 1}, {kInitialWindowSize, 0}};
//   server.options().acknowledge_pings = false;
//   server.options().greeting = "HTTP/1.1 400 Bad Request\r\n\r\n";  // in place of SETTINGS
//   server.options().on_connection = [](RogueConnection& c) { c.stream().StopReading(); };
//   server.options().on_frame = [](RogueConnection& c, const Frame& frame) {
//     if (frame.type != kHeaders) return false;  // false: the default
//     c.SendGoaway(0);                           // a GOAWAY storm
//     c.stream().Close();                        // or Reset, CloseWrite, SetBlackHole
//     return true;
//   };
//   REQUIRE(env->RunUntil([&] { return server.request_count() == 3; }, 5s));
//   RogueConnection& c = server.last();          // or connection(i)
//   c.SendSettings({{kMaxConcurrentStreams, 0}});
//   c.Answer(5, {.status = 503});                // a request that Silence() left open
//   c.Send(WindowUpdateFrame(0, 0));             // any frame at any time (h2_frames.h)
//   c.SendRaw("garbage");
//   server.Drain();                              // graceful restart: GOAWAY, GOAWAY(n), close
//   server.Kill();  server.Listen();             // SIGKILL, then up again
//   CHECK(server.violations() == std::vector<std::string>{});  // limits and windows were kept
//   CHECK(server.Ids() == std::vector<std::string>{"1", "2"});
//   CHECK(server.accepted() == 1);               // in all; open_connections() now
//
// RogueConnection (rogue_connection.h) is the protocol half, and works without a network. SimHost
// (sim_env.h) is the transport half: latency, chunks, refused dials, black holes: server.host().
#ifndef WEFT_TEST_SUPPORT_ROGUE_SERVER_H_
#define WEFT_TEST_SUPPORT_ROGUE_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/rogue_connection.h"
#include "support/sim_env.h"
#include "support/sim_network.h"

namespace weft::inline v0::testing {

// Dies before its environment.
class RogueServer {
 public:
  RogueServer(SimEnv& env, std::string_view address, RogueOptions options = {});
  RogueServer(const RogueServer&) = delete;
  RogueServer& operator=(const RogueServer&) = delete;
  ~RogueServer();

  RogueOptions& options() { return *options_; }  // of all its connections
  SimHost& host() { return host_; }
  const std::string& address() const { return address_; }

  // Takes connections; the constructor began with it.
  void Listen();
  void StopListening() { host_.StopListening(); }
  // Resets every connection and refuses new ones.
  void Kill();
  // Every connection is drained; new ones are taken.
  void Drain();

  // In order of acceptance, closed ones too; they live as long as the server.
  size_t accepted() const { return connections_.size(); }
  RogueConnection& connection(size_t i) { return *connections_.at(i); }
  RogueConnection& last() { return *connections_.back(); }
  size_t open_connections();
  // In order of acceptance of connections, then of streams.
  std::vector<const RogueRequest*> requests() const;
  std::vector<std::string> Ids() const;  // their x-id
  uint64_t request_count() const;
  size_t open_streams() const;  // of connections that are open
  std::vector<std::string> violations() const;

 private:
  void Accept(SimServerStream stream);

  SimEnv& env_;
  const std::string address_;
  SimHost& host_;
  const std::shared_ptr<RogueOptions> options_;
  std::deque<std::unique_ptr<RogueConnection>> connections_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_ROGUE_SERVER_H_
