#include "http2/header_block.h"

#include <string>

#include "support/catch.h"

namespace weft::http2 {
namespace {

using Verdict = HeaderBlock::Verdict;

TEST_CASE("a block gathers fields and the status") {
  HeaderBlock block(1000);
  for (int round = 0; round < 3; ++round) {
    block.Begin();
    CHECK(block.status() == 0);
    CHECK(block.Add(":status", "204") == Verdict::kKept);
    CHECK(block.Add("a", "1") == Verdict::kKept);
    CHECK(block.status() == 204);
    const Headers headers = block.Take();
    CHECK(headers.size() == 1);
    CHECK(headers["a"] == "1");
  }
}

TEST_CASE("a status is three digits, the first of them not 0") {
  for (const char* bad : {"", "2", "20", "2000", "+20", "-20", "2 0", "20a", "000", "099", "٢٠٠"}) {
    HeaderBlock block(1000);
    block.Begin();
    CAPTURE(bad);
    CHECK(block.Add(":status", bad) == Verdict::kBadStatus);
  }
  for (const char* good : {"100", "200", "599", "999"}) {
    HeaderBlock block(1000);
    block.Begin();
    CHECK(block.Add(":status", good) == Verdict::kKept);
    CHECK(block.status() == std::stoi(good));
  }
}

TEST_CASE("limits: the size, sixteen times the size, the number of fields") {
  HeaderBlock block(100);
  block.Begin();
  CHECK(block.Add("name", std::string(64, 'v')) == Verdict::kKept);
  CHECK(block.Add("", "") == Verdict::kOverLimit);
  CHECK(block.Add("", std::string(1600 - 132 - 32, 'v')) == Verdict::kOverLimit);
  CHECK(block.Add("", "") == Verdict::kAbsurd);
  block.Begin();
  CHECK(block.Add("name", std::string(64, 'v')) == Verdict::kKept);
  HeaderBlock wide(size_t{1} << 30);
  wide.Begin();
  for (size_t i = 0; i < HeaderBlock::kMaxFields; ++i) REQUIRE(wide.Add("a", "") == Verdict::kKept);
  CHECK(wide.Add("a", "") == Verdict::kAbsurd);
}

TEST_CASE("a block that was not taken does not reach the next one") {
  HeaderBlock block(1000);
  block.Begin();
  block.Add(":status", "200");
  block.Add("a", "1");
  block.Begin();
  CHECK(block.status() == 0);
  CHECK(block.Take().empty());
}

}  // namespace
}  // namespace weft::http2
