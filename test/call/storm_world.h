// StormWorld: five hosts that fail in every way that there is, and a client that makes calls of
// every kind meanwhile; all by chance, from one seed.
#ifndef WEFT_TEST_CALL_STORM_WORLD_H_
#define WEFT_TEST_CALL_STORM_WORLD_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/ref.h"
#include "call/watched_stream.h"
#include "cluster/host.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::inline v0::testing {

// The bodies of requests: each byte says by itself whether it is in its place.
std::string StormBody(size_t from, size_t size);

class StormWorld {
 public:
  explicit StormWorld(uint64_t seed);

  // So many calls, over some seconds, and then until all is still.
  void Run(int calls);
  // The same, but the factory goes when some have been made.
  void RunAndBreakOff(int calls);
  // What must hold after that, whatever happened; the first that did not, else empty.
  std::string Problem();
  // Once, last: whether all has ended with the client.
  bool Close();

  SimEnv& env() { return *env_; }
  FactoryStats stats() const { return stats_; }
  // How many calls ended so, and with several attempts.
  struct Tally {
    int good = 0, failed = 0, late = 0, cancelled = 0, dropped = 0, several = 0;
  };
  Tally tally() const;

 private:
  struct OneCall {
    SimCall* unary = nullptr;
    std::unique_ptr<WatchedStream> stream;  // else
    std::string id;
    int max_attempts = 0;
    base::MonoDuration timeout{0};
    bool cancelled = false;
    bool dropped = false;
    int pieces = 0;  // to be written
    bool done() const { return unary != nullptr ? unary->done() : stream->done(); }
  };

  bool Chance(double share) { return random_.Uniform(0, 1) < share; }
  int Below(int bound) { return static_cast<int>(random_.Below(static_cast<uint64_t>(bound))); }
  base::MonoDuration Between(base::MonoDuration low, base::MonoDuration high);
  template <class Value>
  Value OneOf(std::vector<Value> values) {
    return values.at(random_.Below(values.size()));
  }

  ChannelOptions MakeChannel();
  RogueAnswer Answer(const RogueRequest& request);
  void Fault();
  void GoOnWithFaults();
  void ChangeConfig();
  void Begin(int calls);
  void MakeCalls(int calls);
  void MakeCall();
  CallOptions MakeOptions(OneCall& call);
  Request MakeRequest(bool grpc, const std::string& id, size_t size);
  void WriteOn(OneCall& call);
  std::string ProblemOf(const OneCall& call) const;
  std::string ProblemOfLog(const OneCall& call, const CallInfo& info, int status) const;
  std::string ProblemOfBudget() const;
  std::string ProblemOfServers();

  const std::shared_ptr<SimEnv> env_;
  base::Random random_;
  std::vector<base::Ref<cluster::Host>> hosts_;
  std::deque<RogueServer> servers_;
  RetryOptions retry_;
  HedgeOptions hedge_;
  int config_max_attempts_ = 0;  // of the config that holds; 0: it has no policy
  bool config_hedges_ = false;
  bool stopping_ = false;
  bool broken_off_ = false;
  bool closed_ = true;
  double badness_ = 0;  // of answers
  std::unique_ptr<SimClient> client_;
  std::deque<OneCall> calls_;
  FactoryStats stats_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_CALL_STORM_WORLD_H_
