#include <memory>
#include <string>
#include <vector>

#include "support/catch.h"
#include "tools/tool.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr size_t kServers = 5;

struct Servers {
  std::vector<std::unique_ptr<ExampleServer>> all;
  std::string target = "static:";
};

Servers StartServers() {
  Servers servers;
  for (size_t i = 0; i < kServers; ++i) {
    servers.all.push_back(ExampleServer::Start());
    if (servers.all.back() == nullptr) break;
    servers.target += (i > 0 ? "," : "") + servers.all.back()->address();
  }
  return servers;
}

// What the table of a phase says of a host, behind its address.
std::string Row(const std::string& out, const std::string& phase, const std::string& host) {
  const size_t at = out.find(phase + "\n");
  REQUIRE(at != std::string::npos);
  const size_t row = out.find("\n" + host + " ", at);
  REQUIRE(row != std::string::npos);
  const size_t begin = row + 1 + host.size();
  return out.substr(begin, out.find('\n', begin) - begin);
}

double Share(const std::string& out, const std::string& phase, const std::string& host) {
  return std::stod(Row(out, phase, host));
}

void CheckWhatItShows(const std::vector<std::string>& flags) {
  const Servers servers = StartServers();
  WEFT_NEEDS_EXAMPLES(servers.all.back());
  std::vector<std::string> args = flags;
  args.push_back(servers.target);
  const Ran ran = RunExample("balancing", args);
  CAPTURE(ran.out, ran.err);
  REQUIRE(ran.exit_status == 0);
  const std::string& out = ran.out;
  const std::string slow = servers.all[1]->address();
  const std::string bad = servers.all[3]->address();

  // Not how much less or more: servers of a busy machine are late by themselves.
  for (const auto& server : servers.all) {
    CHECK(Share(out, "All is well", server->address()) > 5);
    if (server->address() != slow)
      CHECK(Share(out, "answers 200 ms late", slow) <
            Share(out, "answers 200 ms late", server->address()));
  }
  CHECK(Share(out, "is well again", slow) > Share(out, "answers 200 ms late", slow));
  const std::string failing = Row(out, "with a status of 500", bad);
  CHECK_THAT(failing, ContainsSubstring(" 0.00  ejected: "));
  CHECK(std::stod(failing) < 5);
  CHECK_THAT(Row(out, "gets little at first", bad), ContainsSubstring("ready, starts slowly"));
  CHECK(Share(out, "gets little at first", bad) < Share(out, "has its share again", bad));
  CHECK_THAT(Row(out, "has its share again", bad), ContainsSubstring(" 1.00  ready"));
  CHECK_THAT(out, ContainsSubstring(" calls were answered, 0 failed"));
  CHECK_THAT(out, ContainsSubstring(", 1 ejections."));
}

TEST_CASE("the example of balancing shows who gets how many calls") { CheckWhatItShows({}); }

TEST_CASE("the balancer that the example brings along does the same") {
  CheckWhatItShows({"--own"});
}

TEST_CASE("the example of balancing says what is wrong with its target") {
  if (ExamplePath("balancing").empty()) WEFT_SKIP("the examples are not built");
  const Ran nothing = RunExample("balancing", {});
  CHECK(nothing.exit_status == 1);
  CHECK_THAT(nothing.err, ContainsSubstring("balancing: "));
}

}  // namespace
}  // namespace weft::inline v0::testing
