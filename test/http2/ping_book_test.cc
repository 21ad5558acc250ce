#include "http2/ping_book.h"

#include "support/catch.h"

namespace weft::http2 {
namespace {

using Kind = PingBook::Kind;

TEST_CASE("each PING is acknowledged once, as the kind that it is") {
  PingBook book;
  book.Add(Kind::kOwner, 1);
  book.Add(Kind::kProbe, 2);
  book.Add(Kind::kOwner, 2);
  CHECK_FALSE(book.Acknowledge(3).has_value());
  CHECK(book.Acknowledge(2) == Kind::kProbe);
  CHECK(book.Acknowledge(2) == Kind::kOwner);
  CHECK_FALSE(book.Acknowledge(2).has_value());
  CHECK(book.Acknowledge(1) == Kind::kOwner);
  CHECK_FALSE(book.Acknowledge(1).has_value());
}

TEST_CASE("of too many, the oldest are forgotten") {
  PingBook book;
  for (uint64_t i = 0; i < 100; ++i) book.Add(Kind::kOwner, i);
  CHECK_FALSE(book.Acknowledge(83).has_value());
  for (uint64_t i = 84; i < 100; ++i) CHECK(book.Acknowledge(i).has_value());
}

}  // namespace
}  // namespace weft::http2
