#include "cluster/membership.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/catch.h"

namespace weft::cluster {
namespace {

using namespace std::chrono_literals;

constexpr base::MonoTime kStart{1000s};

class TestHost final : public Host {
 public:
  explicit TestHost(std::string address) : Host(std::move(address)) {}
  void Connect() override {}
  void Become(HostState state) { SetState(state); }
};

// Remembers what it was given.
class Recorder final : public Balancer {
 public:
  explicit Recorder(std::vector<std::vector<PickerHost>>& updates) : updates_(updates) {}
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override {
    class First final : public Picker {
      PickResult Pick(const PickFacts&) const override { return PickResult::Host(0); }
    };
    updates_.push_back(hosts);
    return std::make_shared<First>();
  }

 private:
  std::vector<std::vector<PickerHost>>& updates_;
};

struct Spec {
  std::string address;
  int priority = 0;
  std::string zone = {};
  double weight = 1;
  bool draining = false;
};

struct Rig : MemberListener {
  explicit Rig(Membership::Options options = {}) {
    options.balancer = [this](uint64_t) { return std::make_unique<Recorder>(updates); };
    options.counters = &counters;
    membership.emplace(std::move(options), *this, now);
  }
  ~Rig() { membership->Close(); }
  void OnHostState(Member& member) override { moved.push_back(base::Ref<Member>::Share(&member)); }
  void Update(const std::vector<Spec>& specs) {
    NewSet set;
    std::map<std::string, size_t> now_there;
    for (const Spec& spec : specs) {
      base::Ref<TestHost>& host = hosts[spec.address];
      if (!host) {
        host = base::MakeRef<TestHost>(spec.address);
        host->Become(HostState::kReady);
      }
      auto endpoint = std::make_shared<Endpoint>();
      endpoint->address = spec.address;
      endpoint->priority = spec.priority;
      endpoint->locality.zone = spec.zone;
      endpoint->weight = spec.weight;
      endpoint->draining = spec.draining;
      now_there[spec.address] = set.size();
      const auto before = there.find(spec.address);
      if (before == there.end()) {
        set.push_back({.endpoint = std::move(endpoint),
                       .host = std::shared_ptr<Host>(host.get(), [keep = host](Host*) {})});
      } else {
        set.push_back({.before = before->second, .endpoint = std::move(endpoint)});
      }
    }
    there = std::move(now_there);
    membership->Update(std::move(set), now);
    Refresh();
  }
  // Whether something changed.
  bool Refresh() {
    for (const base::Ref<Member>& member : std::exchange(moved, {}))
      membership->OnHostState(*member, now);
    const std::shared_ptr<const Hosts> next = membership->Refresh(now);
    if (next != nullptr) published = next;
    return next != nullptr;
  }
  // Addresses of a group, and the share of calls that it has.
  std::string In(size_t group) const {
    std::string text;
    for (const Member* const member : published->groups.at(group).members)
      text += (text.empty() ? "" : " ") + member->host->address();
    return text;
  }
  Member& MemberOf(const std::string& address) const {
    for (const Group& group : published->groups) {
      for (Member* const member : group.members) {
        if (member->host->address() == address) return *member;
      }
    }
    FAIL("no member " + address);
    std::abort();
  }
  Membership::Standing StandingOf(const std::string& address) const {
    for (Membership::Standing& standing : membership->Standings()) {
      if (standing.host->address() == address) return std::move(standing);
    }
    FAIL("no host " + address);
    std::abort();
  }
  double WeightOf(const std::string& address) const { return StandingOf(address).weight; }
  void Fail(const std::string& address, int times) {
    Member& member = MemberOf(address);
    for (int i = 0; i < times; ++i) {
      if (member.Add({.kind = Outcome::Kind::kError, .took = 1ms}, now))
        membership->OnTrip(member, now);
    }
  }

  base::MonoTime now = kStart;
  telemetry::Counters counters;
  std::map<std::string, base::Ref<TestHost>> hosts;
  std::map<std::string, size_t> there;  // places in the set
  std::vector<base::Ref<Member>> moved;
  std::vector<std::vector<PickerHost>> updates;
  std::shared_ptr<const Hosts> published;
  std::optional<Membership> membership;
};

TEST_CASE("hosts that drain are not given to the balancer") {
  Rig rig;
  rig.Update({{"a"}, {"b", 0, "", 1, true}, {"c"}});
  REQUIRE(rig.published->groups.size() == 1);
  CHECK(rig.In(0) == "a c");
  CHECK(rig.published->all->size() == 3);
  rig.Update({{"b", 0, "", 1, true}});
  CHECK(rig.published->groups.empty());
}

TEST_CASE("nothing is published, and no balancer asked, where nothing has changed") {
  Rig rig;
  rig.Update({{"a"}, {"b"}});
  CHECK(rig.updates.size() == 1);
  rig.now += 1s;
  CHECK_FALSE(rig.Refresh());
  rig.hosts["a"]->Become(HostState::kConnecting);
  CHECK_FALSE(rig.Refresh());
  CHECK(rig.updates.size() == 1);
  CHECK(rig.membership->next(false) == base::kNever);
}

TEST_CASE("a member that stays keeps its record when the set changes") {
  Rig rig;
  rig.Update({{"a"}, {"b"}, {"c"}});
  const Member* const before = &rig.MemberOf("b");
  rig.Fail("b", 3);
  rig.Update({{"c"}, {"b"}, {"d"}});
  CHECK(&rig.MemberOf("b") == before);
  CHECK(rig.MemberOf("b").health.failures_in_row() == 3);
  CHECK(rig.MemberOf("b").place().index == 1);
  CHECK(rig.MemberOf("d").place().index == 2);
}

TEST_CASE("what left is there while an old snapshot is held, and no longer") {
  Rig rig;
  rig.Update({{"a"}, {"b"}});
  rig.hosts.erase("a");  // only the set uses it
  std::shared_ptr<const Hosts> first = rig.published;
  const std::weak_ptr<Host> a = rig.membership->Standings()[0].host;
  rig.Update({{"b"}});
  std::shared_ptr<const Hosts> second = rig.published;
  const std::weak_ptr<Host> b = rig.membership->Standings()[0].host;
  // It leaves later; the first snapshot names it too.
  rig.Update({{"c"}});
  second = nullptr;
  CHECK_FALSE(a.expired());
  CHECK_FALSE(b.expired());
  REQUIRE(first->groups.size() == 1);
  CHECK(first->groups[0].members[0]->host->address() == "a");
  CHECK(first->groups[0].members[1]->host->address() == "b");
  CHECK((*first->all)[1].endpoint->address == "b");
  first = nullptr;
  CHECK(a.expired());
  CHECK(b.expired());
}

TEST_CASE("of many sets that were left behind an old snapshot keeps all, and frees all") {
  Rig rig;
  rig.Update({{"a"}});
  std::shared_ptr<const Hosts> first = rig.published;
  const std::weak_ptr<Host> a = rig.membership->Standings()[0].host;
  for (int i = 0; i < 20'000; ++i) rig.Update({{i % 2 == 0 ? "b" : "c"}});
  CHECK_FALSE(a.expired());
  first = nullptr;
  CHECK(a.expired());
}

TEST_CASE("a host that is ejected is not given to the balancer, until it returns slowly") {
  Rig rig;
  rig.Update({{"a"}, {"b"}, {"c"}});
  rig.Fail("b", 5);
  CHECK(rig.Refresh());
  CHECK(rig.In(0) == "a c");
  CHECK(rig.counters.ejections.value() == 1);
  const Membership::Standing standing = rig.StandingOf("b");
  CHECK(standing.ejected);
  CHECK_FALSE(standing.why.empty());
  // It stays so when the set changes.
  rig.Update({{"a"}, {"b"}, {"c"}, {"d"}});
  CHECK(rig.In(0) == "a c d");
  // 30 s and up to 5 s of jitter.
  rig.now += 29s;
  rig.Refresh();
  CHECK(rig.In(0) == "a c d");
  CHECK(rig.membership->next(false) <= rig.now + 6s);
  rig.now += 6s;
  CHECK(rig.Refresh());
  CHECK(rig.In(0) == "a b c d");
  CHECK(rig.WeightOf("b") == Approx(0.1));
  CHECK(rig.WeightOf("a") == Approx(1));
  rig.now += 5s;
  rig.Refresh();
  CHECK(rig.WeightOf("b") == Approx(0.5).margin(0.11));
  rig.now += 6s;
  rig.Refresh();
  CHECK(rig.WeightOf("b") == Approx(1));
}

TEST_CASE("slow start: of the first set nobody, of later ones from the connection on") {
  Rig rig;
  rig.Update({{"a"}, {"b", 0, "", 2}});
  CHECK(rig.WeightOf("a") == Approx(1));
  CHECK(rig.WeightOf("b") == Approx(2));
  rig.hosts["c"] = base::MakeRef<TestHost>("c");  // idle
  rig.Update({{"a"}, {"b", 0, "", 2}, {"c", 0, "", 4}});
  CHECK(rig.WeightOf("c") == Approx(0.4));
  CHECK(rig.membership->next(false) == base::kNever);  // nothing moves before it is connected
  rig.now += 60s;
  rig.hosts["c"]->Become(HostState::kReady);
  rig.Refresh();
  CHECK(rig.WeightOf("c") == Approx(0.4));
  CHECK(rig.membership->next(false) == rig.now + 500ms);
  rig.now += 5s;
  CHECK(rig.Refresh());
  CHECK(rig.WeightOf("c") == Approx(2));
  rig.now += 5s;
  CHECK(rig.Refresh());
  CHECK(rig.WeightOf("c") == Approx(4));
  CHECK(rig.membership->next(false) == base::kNever);
}

TEST_CASE("slow start: a host that could not be reached begins anew") {
  Rig rig;
  rig.Update({{"a"}, {"b"}});
  rig.hosts["b"]->Become(HostState::kBackoff);
  rig.Refresh();
  rig.hosts["b"]->Become(HostState::kReady);
  rig.now += 1s;
  rig.Refresh();
  CHECK(rig.WeightOf("b") == Approx(0.1));
  // A connection that is replaced is no such thing.
  rig.hosts["a"]->Become(HostState::kConnecting);
  rig.Refresh();
  rig.hosts["a"]->Become(HostState::kReady);
  rig.Refresh();
  CHECK(rig.WeightOf("a") == Approx(1));
}

TEST_CASE("slow start: where all are new, none is spared") {
  Rig rig;
  rig.Update({{"a"}, {"b"}});
  rig.Update({{"c"}, {"d"}});
  CHECK(rig.WeightOf("c") == Approx(1));
  CHECK(rig.WeightOf("d") == Approx(1));
}

TEST_CASE("priorities: the next takes over as hosts of the first are lost, and gives back") {
  Rig rig;
  const std::vector<Spec> set = {{"a"}, {"b"}, {"c"}, {"d"}, {"x", 1}, {"y", 1}};
  rig.Update(set);
  REQUIRE(rig.published->groups.size() == 2);
  CHECK(rig.In(0) == "a b c d");
  CHECK(rig.In(1) == "x y");
  CHECK(rig.published->groups[0].up_to == Approx(1));
  rig.hosts["a"]->Become(HostState::kBackoff);
  rig.hosts["b"]->Become(HostState::kBackoff);
  CHECK(rig.Refresh());
  CHECK(rig.published->groups[0].up_to == Approx(0.7));
  CHECK(rig.published->groups[1].up_to == Approx(1));
  // While they are dialled again they are not back yet.
  rig.hosts["a"]->Become(HostState::kConnecting);
  CHECK_FALSE(rig.Refresh());
  for (const char* host : {"a", "b"}) rig.hosts[host]->Become(HostState::kReady);
  CHECK(rig.Refresh());
  CHECK(rig.published->groups[0].up_to == Approx(1));
}

TEST_CASE("zones: the client's own goes first, and spills") {
  Rig rig({.locality = {.zone = "z1"}});
  rig.Update({{"a", 0, "z1"}, {"b", 0, "z1"}, {"c", 0, "z2"}, {"d", 0, "z3"}});
  REQUIRE(rig.published->groups.size() == 2);
  CHECK(rig.In(0) == "a b");
  CHECK(rig.In(1) == "c d");
  CHECK(rig.published->groups[0].up_to == Approx(1));
  rig.hosts["a"]->Become(HostState::kBackoff);
  rig.Refresh();
  CHECK(rig.published->groups[0].up_to == Approx(0.7));
  Rig nowhere;
  nowhere.Update({{"a", 0, "z1"}, {"c", 0, "z2"}});
  CHECK(nowhere.published->groups.size() == 1);
}

TEST_CASE("panic: those that are ejected are used too, and it is counted once") {
  Membership::Options options;
  options.outlier.max_ejection_percent = 100;
  Rig rig(options);
  rig.Update({{"a"}, {"b"}, {"c"}, {"d"}, {"e"}});
  rig.Fail("a", 5);
  rig.Fail("b", 5);
  rig.Refresh();
  CHECK(rig.In(0) == "c d e");
  CHECK(rig.counters.panics.value() == 0);
  rig.Fail("c", 5);
  rig.Refresh();
  CHECK(rig.In(0) == "a b c d e");
  CHECK(rig.counters.panics.value() == 1);
  rig.now += 1s;
  rig.Refresh();
  CHECK(rig.counters.panics.value() == 1);
}

TEST_CASE("a detector that is off ejects nobody") {
  Membership::Options options;
  options.outlier.enabled = false;
  Rig rig(options);
  rig.Update({{"a"}, {"b"}});
  rig.Fail("a", 50);
  CHECK_FALSE(rig.Refresh());
  CHECK(rig.membership->next(true) == base::kNever);
}

TEST_CASE("slow start's options are checked") {
  CHECK(Validate(SlowStartOptions()).ok());
  CHECK(Validate(SlowStartOptions{.window = absl::ZeroDuration()}).ok());
  for (const SlowStartOptions& bad :
       {SlowStartOptions{.window = -absl::Seconds(1)}, SlowStartOptions{.window = absl::Hours(2)},
        SlowStartOptions{.aggression = 0}, SlowStartOptions{.aggression = 11},
        SlowStartOptions{.aggression = std::nan("")}}) {
    const absl::Status status = Validate(bad);
    CHECK(absl::IsInvalidArgument(status));
    CHECK(std::string(status.message()).find("SlowStartOptions::") == 0);
  }
}

}  // namespace
}  // namespace weft::cluster
