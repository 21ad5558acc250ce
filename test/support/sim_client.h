// SimClient: a whole client in a simulation: a factory with one channel, and calls whose ends are
// counted.
//
//   auto env = std::make_shared<SimEnv>();
//   RogueServer server(*env, "10.0.0.1:80");
//   SimClient client(env, "static:10.0.0.1:80,10.0.0.2:80");
//   SimCall& call = client.Get("/x", {.timeout = absl::Seconds(1)});  // x-id is set: 1, 2, 3 …
//   REQUIRE(client.RunUntilDone(call));
//   CHECK(call.response().status == 200);  // or call.status(), call.error(), call.took()
//   client.Close();  // destroys channel and factory, runs until idle; every call ended once?
#ifndef WEFT_TEST_SUPPORT_SIM_CLIENT_H_
#define WEFT_TEST_SUPPORT_SIM_CLIENT_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "support/sim_env.h"
#include "weft/weft.h"

namespace weft::inline v0::testing {

// One call and how it ended.
class SimCall {
 public:
  bool done() const { return result_.has_value(); }
  bool ok() const { return done() && result_->ok(); }
  const Response& response() const { return result_.value().value(); }
  const absl::Status& status() const { return result_.value().status(); }
  // The payload of an error; everything default where there is none.
  CallError error() const { return GetCallError(status()).value_or(CallError{}); }
  base::MonoDuration took() const { return ended_ - started_; }
  int ends() const { return ends_; }
  const std::string& id() const { return id_; }
  CallHandle handle;

 private:
  friend class SimClient;
  std::string id_;
  base::MonoTime started_;
  base::MonoTime ended_;
  int ends_ = 0;
  bool silenced_ = false;
  std::optional<absl::StatusOr<Response>> result_;
};

class SimClient {
 public:
  SimClient(std::shared_ptr<SimEnv> env, std::string_view target,
            ChannelFactory::Options options = {});
  ~SimClient();

  SimCall& Start(Request request, CallOptions options = {});
  SimCall& Get(std::string path = "/", CallOptions options = {}) {
    return Start(Request::Get(std::move(path)), std::move(options));
  }
  SimCall& Post(std::string path, std::string body, CallOptions options = {}) {
    return Start(Request::Post(std::move(path), std::move(body)), std::move(options));
  }
  // Destroys the handle: the callback must not come any more.
  void Drop(SimCall& call);

  bool RunUntilDone(const SimCall& call, base::MonoDuration limit = std::chrono::seconds(60));
  bool RunUntilAllDone(base::MonoDuration limit = std::chrono::seconds(60));
  // Runs until a host is connected.
  bool RunUntilReady(base::MonoDuration limit = std::chrono::seconds(60));
  size_t open_calls() const;

  ChannelFactory& factory() { return *factory_; }
  Channel& channel() { return *channel_; }
  FactoryStats stats() const { return factory_->Stats(); }
  std::deque<SimCall>& calls() { return calls_; }

  // Destroys channel and factory, lets everything end. False: a call ended not once, or something
  // is left running.
  bool Close();

 private:
  const std::shared_ptr<SimEnv> env_;
  std::shared_ptr<ChannelFactory> factory_;
  std::shared_ptr<Channel> channel_;
  std::deque<SimCall> calls_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_SIM_CLIENT_H_
