// PickedWorld: three hosts in a simulation, and a balancer of the test's own over them: the next
// one that this call has not tried, with what the test wants of a pick.
#ifndef WEFT_TEST_CALL_PICKED_WORLD_H_
#define WEFT_TEST_CALL_PICKED_WORLD_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::inline v0::testing {

// What the pickers of one channel share. A simulation has one thread.
struct PickBook {
  uint32_t bounce_above = 0;
  std::vector<PickerHost> hosts;
  std::vector<int> bounces;  // as each pick was told
  size_t next = 0;
};

class BookBalancer final : public Balancer {
 public:
  explicit BookBalancer(std::shared_ptr<PickBook> book) : book_(std::move(book)) {}
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override {
    book_->hosts = hosts;
    return std::make_shared<BookPicker>(book_);
  }

 private:
  class BookPicker final : public Picker {
   public:
    explicit BookPicker(std::shared_ptr<PickBook> book) : book_(std::move(book)) {}
    PickResult Pick(const PickFacts& facts) const override {
      for (size_t i = 0; i < book_->hosts.size(); ++i) {
        const size_t index = (book_->next + i) % book_->hosts.size();
        const HostView* const host = book_->hosts[index].host;
        const bool tried =
            std::find(facts.tried.begin(), facts.tried.end(), host) != facts.tried.end();
        if (tried || host->state() != HostState::kReady) continue;
        book_->next = index + 1;
        book_->bounces.push_back(facts.bounces);
        PickResult result = PickResult::Host(index);
        result.bounce_above = book_->bounce_above;
        return result;
      }
      if (facts.tried.empty()) return PickResult::Queue();
      return PickResult::Fail(absl::UnavailableError("all were tried"));
    }

   private:
    const std::shared_ptr<PickBook> book_;
  };
  const std::shared_ptr<PickBook> book_;
};

struct PickedWorld {
  explicit PickedWorld(uint32_t bounce_above = 0, ChannelOptions channel = {}) {
    for (int i = 1; i <= 3; ++i) {
      servers.emplace_back(*env, "10.0.0." + std::to_string(i) + ":80");
      servers.back().options().handler = [this](const RogueRequest& request) {
        if (request.path() == "/ready") return RogueAnswer{};
        hosts.push_back(std::string(request.authority()));
        asked.push_back(std::string(request.header("weft-bounce-above")));
        return answer(static_cast<int>(asked.size()) - 1);
      };
    }
    channel.balancer = [book = book](uint64_t) { return std::make_unique<BookBalancer>(book); };
    client = std::make_unique<SimClient>(env, "static:10.0.0.1:80,10.0.0.2:80,10.0.0.3:80",
                                         ChannelFactory::Options{.channel = std::move(channel)});
    REQUIRE(client->RunUntilReady());
    env->RunFor(std::chrono::seconds(1));  // all hosts
    book->bounce_above = bounce_above;
    book->bounces.clear();
    book->next = 0;
  }
  const HostView& Host(size_t i) const { return *book->hosts.at(i).host; }

  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  const std::shared_ptr<PickBook> book = std::make_shared<PickBook>();
  std::deque<RogueServer> servers;
  std::function<RogueAnswer(int)> answer = [](int) { return RogueAnswer{}; };  // by its number
  std::vector<std::string> hosts;                                              // of each request
  std::vector<std::string> asked;  // its weft-bounce-above
  std::unique_ptr<SimClient> client;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_CALL_PICKED_WORLD_H_
