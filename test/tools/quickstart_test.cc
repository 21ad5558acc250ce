#include <string>

#include "support/catch.h"
#include "tools/tool.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("the quickstart's 64 threads share one connection to each host") {
  const auto server = ExampleServer::Start();
  const auto other = ExampleServer::Start();
  WEFT_NEEDS_EXAMPLES(server);
  const Ran ran =
      RunExample("quickstart", {"static:" + server->address() + "," + other->address()});
  CAPTURE(ran.err);
  CHECK(ran.exit_status == 0);
  for (const char* part : {"blocking   200", "callback   200", "coroutine  200",
                           "stream     out and back, piece by piece\n"}) {
    CHECK_THAT(ran.out, ContainsSubstring(part));
  }
  for (const std::string& address : {server->address(), other->address()}) {
    CHECK_THAT(ran.out, ContainsSubstring("\n" + address + " took "));
  }
  const size_t first = ran.out.find("\"connections\":1,");
  REQUIRE(first != std::string::npos);
  CHECK(ran.out.find("\"connections\":1,", first + 1) != std::string::npos);
}

TEST_CASE("the quickstart says what is wrong with its target") {
  if (ExamplePath("quickstart").empty()) WEFT_SKIP("the examples are not built");
  const Ran ran = RunExample("quickstart", {});
  CHECK(ran.exit_status == 1);
  CHECK_THAT(ran.err, ContainsSubstring("the target is empty"));
}

}  // namespace
}  // namespace weft::inline v0::testing
