// The tree keeps the rules of floor_rules.h, and the rules catch what they are there to catch.

#include <string>
#include <string_view>
#include <vector>

#include "floors/floor_rules.h"
#include "support/catch.h"

namespace weft::floors {
namespace {

using Catch::Matchers::ContainsSubstring;

// The rule that `file` breaks by `line`, "" if none.
std::string RuleBroken(std::string_view file, std::string_view line) {
  const std::vector<Violation> violations = CheckIncludes(file, line);
  REQUIRE(violations.size() <= 1);
  return violations.empty() ? "" : violations.front().rule;
}

TEST_CASE("the tree keeps the floors and the other rules") {
  int files_seen = 0;
  const std::vector<Violation> violations = CheckTree(WEFT_SOURCE_DIR, &files_seen);
  for (const Violation& violation : violations) UNSCOPED_INFO(Describe(violation));
  CHECK(violations.empty());
  CHECK(files_seen >
        3);  // At least the files of this test: otherwise it looked in the wrong place.
}

TEST_CASE("the table has every folder once, by floor") {
  CHECK(FloorOf("base") == 0);
  CHECK(FloorOf("event") == FloorOf("telemetry"));
  CHECK(FloorOf("net") == FloorOf("http"));
  CHECK(FloorOf("http1") == FloorOf("http2"));
  CHECK(FloorOf("pool") == 5);
  CHECK(FloorOf("grpc") == 9);
  CHECK(FloorOf("grpc_stub") == 10);
  CHECK(FloorOf("util") == -1);
}

TEST_CASE("includes that keep the rules") {
  const std::string_view file = "lib/pool/host_pool.cc";
  for (std::string_view line :
       {"#include \"pool/host_pool.h\"", "#include \"base/time.h\"",
        "#include \"http2/client_session.h\"", "#include \"weft/headers.h\"", "#include <vector>",
        "#include <sys/socket.h>", "#include \"absl/status/status.h\"", "  #  include <net/if.h>",
        "// #include \"pool/host_pool.h\"", "#include <nlohmann/json.hpp>", "int include = 0;",
        ""}) {
    INFO(line);
    CHECK(RuleBroken(file, line).empty());
  }
  CHECK(RuleBroken("lib/http2/client_session.cc", "#include <nghttp2/nghttp2.h>").empty());
  CHECK(RuleBroken("lib/net/tls.cc", "#include <openssl/ssl.h>").empty());
  CHECK(RuleBroken("lib/event/epoll_loop.cc", "#include <sys/epoll.h>").empty());
  CHECK(RuleBroken("lib/grpc/codec.cc", "#include <zlib.h>").empty());
  CHECK(RuleBroken("lib/grpc/codec.cc", "#include \"grpc/codec.h\"").empty());
  CHECK(RuleBroken("lib/grpc/codec.cc", "#include \"weft/grpc/status_details.h\"").empty());
  CHECK(RuleBroken("lib/grpc/a.cc", "#include <google/protobuf/message_lite.h>").empty());
  for (std::string_view line :
       {"#include <grpcpp/channel.h>", "#include <grpc/status.h>",
        "#include <google/protobuf/message_lite.h>", "#include \"grpc_stub/a.h\"",
        "#include \"grpc/codec.h\"", "#include \"weft/grpc_stub.h\"",
        "#include \"weft/grpc/status_details.h\""}) {
    INFO(line);
    CHECK(RuleBroken("lib/grpc_stub/a.cc", line).empty());
  }
  CHECK(RuleBroken("include/weft/channel.h", "#include \"weft/request.h\"").empty());
  CHECK(RuleBroken("include/weft/channel.h", "#include \"absl/time/time.h\"").empty());
  CHECK(RuleBroken("include/weft/channel.h", "#include <string_view>").empty());
  CHECK(RuleBroken("include/weft/grpc/a.h", "#include <google/protobuf/message_lite.h>").empty());
  CHECK(RuleBroken("include/weft/grpc.h", "#include \"weft/grpc/a.h\"").empty());
  CHECK(RuleBroken("include/weft/grpc_stub.h", "#include <grpcpp/channel.h>").empty());
  CHECK(RuleBroken("include/weft/grpc_stub/a.h", "#include \"weft/grpc/a.h\"").empty());
}

TEST_CASE("a higher floor, a neighbour and an unknown folder are caught") {
  CHECK_THAT(RuleBroken("lib/base/a.h", "#include \"event/loop.h\""),
             ContainsSubstring("lower floors"));
  CHECK_THAT(RuleBroken("lib/http2/a.cc", "#include \"pool/a.h\""), ContainsSubstring("floor 5"));
  CHECK_THAT(RuleBroken("lib/net/a.h", "#include \"http/session.h\""),
             ContainsSubstring("never include"));
  CHECK_THAT(RuleBroken("lib/registry/a.h", "#include \"pool/a.h\""),
             ContainsSubstring("never include"));
  CHECK_THAT(RuleBroken("lib/call/a.h", "#include \"util/a.h\""), ContainsSubstring("no floor"));
  CHECK_THAT(RuleBroken("lib/call/a.h", "#include \"a.h\""), ContainsSubstring("name the folder"));
  CHECK_THAT(RuleBroken("lib/grpc/a.h", "#include \"base/time.h\""),
             ContainsSubstring("include/weft"));
  CHECK_THAT(RuleBroken("lib/grpc_stub/a.h", "#include \"base/time.h\""),
             ContainsSubstring("include/weft"));
  CHECK_THAT(RuleBroken("lib/grpc/a.h", "#include \"grpc_stub/a.h\""),
             ContainsSubstring("include/weft"));
  CHECK_THAT(RuleBroken("lib/call/a.h", "#include \"grpc/a.h\""),
             ContainsSubstring("lower floors"));
  CHECK_THAT(RuleBroken("lib/util/a.h", ""), ContainsSubstring("table"));
  CHECK_THAT(RuleBroken("lib/a.h", ""), ContainsSubstring("table"));
}

TEST_CASE("libraries outside of their folder are caught") {
  CHECK_THAT(RuleBroken("lib/pool/a.cc", "#include <nghttp2/nghttp2.h>"),
             ContainsSubstring("lib/http2"));
  CHECK_THAT(RuleBroken("lib/pool/a.cc", "#include \"nghttp2/nghttp2.h\""),
             ContainsSubstring("lib/http2"));
  CHECK_THAT(RuleBroken("lib/http2/a.cc", "#include <openssl/ssl.h>"),
             ContainsSubstring("lib/net"));
  CHECK_THAT(RuleBroken("lib/net/a.cc", "#include <sys/epoll.h>"), ContainsSubstring("lib/event"));
  CHECK_THAT(RuleBroken("lib/http2/a.cc", "#include <zlib.h>"), ContainsSubstring("lib/grpc"));
  for (std::string_view line :
       {"#include <grpcpp/channel.h>", "#include <grpc++/channel.h>", "#include <grpc/status.h>"}) {
    INFO(line);
    CHECK_THAT(RuleBroken("lib/call/a.cc", line), ContainsSubstring("lib/grpc_stub"));
    CHECK_THAT(RuleBroken("lib/grpc/a.cc", line), ContainsSubstring("lib/grpc_stub"));
  }
}

TEST_CASE("headers of a component above are caught") {
  CHECK_THAT(RuleBroken("lib/channel/a.cc", "#include \"weft/grpc.h\""),
             ContainsSubstring("component above"));
  CHECK_THAT(RuleBroken("lib/grpc/a.cc", "#include \"weft/grpc_stub/a.h\""),
             ContainsSubstring("component above"));
  CHECK_THAT(RuleBroken("include/weft/weft.h", "#include \"weft/grpc/a.h\""),
             ContainsSubstring("higher component"));
  CHECK_THAT(RuleBroken("include/weft/grpc/a.h", "#include \"weft/grpc_stub.h\""),
             ContainsSubstring("higher component"));
}

TEST_CASE("public headers that show more than they may are caught") {
  for (std::string_view line :
       {"#include <nghttp2/nghttp2.h>", "#include <openssl/ssl.h>", "#include <sys/epoll.h>",
        "#include <sys/socket.h>", "#include \"base/time.h\"", "#include <nlohmann/json.hpp>",
        "#include \"channel.h\"", "#include <grpcpp/channel.h>",
        "#include <google/protobuf/message_lite.h>"}) {
    INFO(line);
    CHECK_THAT(RuleBroken("include/weft/channel.h", line), ContainsSubstring("public header"));
  }
  CHECK_THAT(RuleBroken("include/weft/grpc/a.h", "#include <grpcpp/channel.h>"),
             ContainsSubstring("public header"));
  CHECK_THAT(RuleBroken("include/weft/grpc/a.h", "#include <zlib.h>"),
             ContainsSubstring("public header"));
}

TEST_CASE("a violation says where") {
  const std::string_view text = "// One.\n\n#include <vector>\n#include \"call/call.h\"\n";
  const std::vector<Violation> violations = CheckIncludes("lib/base/a.h", text);
  REQUIRE(violations.size() == 1);
  CHECK(violations.front().line == 4);
  CHECK_THAT(Describe(violations.front()),
             Catch::Matchers::StartsWith("lib/base/a.h:4: base (floor 0)"));
}

TEST_CASE("a file of more than 500 lines is caught") {
  CHECK(CheckLength("lib/base/a.cc", std::string(kMaxLines, '\n')).empty());
  CHECK(CheckLength("lib/base/a.cc", std::string(kMaxLines + 1, '\n')).size() == 1);
}

TEST_CASE("a test case that ctest would pass over is caught") {
  constexpr std::string_view kGood = "TEST_CASE(\"one, two: three\", \"[tag]\") {\n";
  constexpr std::string_view kBad = "TEST_CASE(\"one; two\") {\n";
  CHECK(CheckTestNames("test/base/a_test.cc", kGood).empty());
  CHECK(CheckTestNames("test/base/a_test.cc", kBad).size() == 1);
}

}  // namespace
}  // namespace weft::floors
