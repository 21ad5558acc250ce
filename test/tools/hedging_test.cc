#include <string>
#include <utility>

#include "support/catch.h"
#include "tools/tool.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

// The two times of a row.
std::pair<double, double> Row(const std::string& out, const std::string& name) {
  const size_t at = out.find("\n" + name + " ");
  REQUIRE(at != std::string::npos);
  const size_t first = at + 1 + name.size();
  const size_t second = out.find('#', first);
  REQUIRE(second != std::string::npos);
  return {std::stod(out.substr(first)), std::stod(out.substr(out.find_first_not_of('#', second)))};
}

TEST_CASE("the example of hedging shows what it does to the slowest calls") {
  const auto one = ExampleServer::Start();
  const auto two = ExampleServer::Start();
  const auto tardy = ExampleServer::Start({"--late", "300"});
  WEFT_NEEDS_EXAMPLES(one);
  const Ran ran = RunExample(
      "hedging", {"static:" + one->address() + "," + two->address() + "," + tardy->address()});
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_status == 0);
  // A thirtieth of the calls is late, and a twentieth may be hedged.
  const auto [without, with] = Row(ran.out, "p99");
  CHECK(without >= 300);
  CHECK(with < without);
  CHECK_THAT(ran.out, ContainsSubstring("of 4000 calls were hedged"));
}

TEST_CASE("the example of hedging says what is wrong with its target") {
  if (ExamplePath("hedging").empty()) WEFT_SKIP("the examples are not built");
  const Ran ran = RunExample("hedging", {});
  CHECK(ran.exit_status == 1);
  CHECK_THAT(ran.err, ContainsSubstring("hedging: "));
}

}  // namespace
}  // namespace weft::inline v0::testing
