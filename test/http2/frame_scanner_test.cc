#include "http2/frame_scanner.h"

#include <string>
#include <vector>

#include "rig.h"
#include "support/catch.h"

namespace weft::http2 {
namespace {

std::string Shown(const FrameHead& head) {
  return std::to_string(head.length) + ":" + std::to_string(head.type) + ":" +
         std::to_string(head.flags) + ":" + std::to_string(head.stream_id);
}

TEST_CASE("every head is seen, however the bytes are cut") {
  const std::string bytes = test::http2::Frame(4, 0, 0, "") +
                            test::http2::Frame(0, 1, 0xffffffff, std::string(300, 'x')) +
                            test::http2::Frame(200, 255, 5, "payload") +
                            test::http2::Frame(6, 1, 0, "12345678");
  const std::vector<std::string> expected = {"0:4:0:0", "300:0:1:2147483647", "7:200:255:5",
                                             "8:6:1:0"};
  for (size_t step = 1; step <= bytes.size(); ++step) {
    FrameScanner scanner;
    std::vector<std::string> seen;
    for (size_t at = 0; at < bytes.size(); at += step) {
      const std::string part = bytes.substr(at, step);
      CHECK(scanner.Scan(part, [&](const FrameHead& head) {
        seen.push_back(Shown(head));
        return true;
      }) == part.size());
    }
    REQUIRE(seen == expected);
  }
}

TEST_CASE("a scan stops behind the head that was refused") {
  const std::string bytes = test::http2::Ping(1) + test::http2::Settings({{1, 2}}) + "more";
  FrameScanner scanner;
  CHECK(scanner.Scan(bytes, [](const FrameHead& head) { return head.type != 4; }) == 17 + 9);
}

TEST_CASE("nothing scanned is nothing seen") {
  FrameScanner scanner;
  CHECK(scanner.Scan("", [](const FrameHead&) { return false; }) == 0);
}

}  // namespace
}  // namespace weft::http2
