// The examples of gRPC, against the servers that they start themselves.
#include <string>

#include "support/catch.h"
#include "support/sanitizers.h"
#include "tools/tool.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

// The examples' servers are gRPC's, which is not instrumented: what the thread sanitizer says of
// them means nothing.
std::string WhyNot(const char* example) {
#if WEFT_TSAN
  (void)example;
  return "not under the thread sanitizer";
#else
  return ExamplePath(example).empty() ? "the example is not built" : "";
#endif
}

TEST_CASE("native gRPC calls come back as ordered, over one connection") {
  if (const std::string why = WhyNot("grpc_native"); !why.empty()) WEFT_SKIP(why);
  const Ran ran = RunExample("grpc_native", {});
  CAPTURE(ran.err);
  CHECK(ran.exit_status == 0);
  CHECK_THAT(ran.out, ContainsSubstring("connections that were opened: 1\n"));
}

TEST_CASE("the example of native gRPC calls says what is wrong with its target") {
  if (const std::string why = WhyNot("grpc_native"); !why.empty()) WEFT_SKIP(why);
  const Ran ran = RunExample("grpc_native", {"127.0.0.1:0"});
  CHECK(ran.exit_status == 1);
  CHECK_THAT(ran.err, ContainsSubstring("127.0.0.1:0"));
}

TEST_CASE("the calls of 64 threads through one generated stub share one connection") {
  if (const std::string why = WhyNot("grpc_stub"); !why.empty()) WEFT_SKIP(why);
  const Ran ran = RunExample("grpc_stub", {});
  CAPTURE(ran.err);
  CHECK(ran.exit_status == 0);
  CHECK_THAT(ran.out,
             ContainsSubstring("6400 of 6400 calls got their answer, over 1 connection(s)\n"));
}

}  // namespace
}  // namespace weft::inline v0::testing
