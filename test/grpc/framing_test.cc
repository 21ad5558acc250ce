#include "grpc/framing.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "support/catch.h"

namespace weft::grpc {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

std::string Wire(const std::string& message, bool compressed = false) {
  char prefix[kPrefixBytes];
  WritePrefix(prefix, compressed, static_cast<uint32_t>(message.size()));
  return std::string(prefix, kPrefixBytes) + message;
}

std::string WirePrefix(unsigned char flag, uint32_t size) {
  char prefix[kPrefixBytes];
  WritePrefix(prefix, false, size);
  prefix[0] = static_cast<char>(flag);
  return std::string(prefix, kPrefixBytes);
}

using Messages = std::vector<std::pair<bool, std::string>>;

void TakeAll(Deframer& deframer, Messages& to) {
  while (std::optional<Frame> frame = deframer.Next()) {
    size_t size = 0;
    for (const std::string_view piece : frame->pieces) {
      CHECK_FALSE(piece.empty());
      size += piece.size();
    }
    CHECK(size == frame->size);
    to.emplace_back(frame->compressed, Join(*frame));
  }
}

TEST_CASE("the prefix is a flag and a size, most significant byte first") {
  CHECK(Wire("abc") == std::string("\0\0\0\0\3abc", 8));
  CHECK(Wire("", true) == std::string("\1\0\0\0\0", 5));
  CHECK(WirePrefix(0, 0x01020304) == std::string("\0\1\2\3\4", 5));
  CHECK(WirePrefix(0, 0xfffefdfc) == std::string("\0\xff\xfe\xfd\xfc", 5));
}

TEST_CASE("messages come out the same wherever the body is cut into three") {
  const std::string body =
      Wire("first") + Wire("", true) + Wire("second message", true) + Wire("x");
  const Messages expected = {{false, "first"}, {true, ""}, {true, "second message"}, {false, "x"}};
  for (size_t i = 0; i <= body.size(); ++i) {
    for (size_t j = i; j <= body.size(); ++j) {
      // Whether the messages are taken in between or all at the end.
      for (const bool take_early : {false, true}) {
        Deframer deframer(100);
        Messages messages;
        for (const std::string& piece :
             {body.substr(0, i), body.substr(i, j - i), body.substr(j)}) {
          REQUIRE(deframer.Add(piece).ok());
          if (take_early) TakeAll(deframer, messages);
        }
        TakeAll(deframer, messages);
        REQUIRE(messages == expected);
        REQUIRE_FALSE(deframer.mid_message());
        REQUIRE(deframer.CheckEnd().ok());
      }
    }
  }
}

TEST_CASE("messages come out the same byte by byte") {
  const std::string large(10'000, 'l');
  const std::string body = Wire("one") + Wire(large) + Wire("") + Wire("two", true);
  Deframer deframer(large.size());
  Messages messages;
  for (const char byte : body) {
    REQUIRE(deframer.Add(std::string(1, byte)).ok());
    TakeAll(deframer, messages);
  }
  CHECK(messages == Messages{{false, "one"}, {false, large}, {false, ""}, {true, "two"}});
}

TEST_CASE("a body cut anywhere is known to be truncated, except between messages") {
  const std::string first = Wire("hello");
  const std::string body = first + Wire("") + Wire("world");
  for (size_t size = 0; size <= body.size(); ++size) {
    INFO(size);
    Deframer deframer(100);
    REQUIRE(deframer.Add(body.substr(0, size)).ok());
    const bool whole = size == 0 || size == first.size() || size == first.size() + kPrefixBytes ||
                       size == body.size();
    CHECK(deframer.mid_message() == !whole);
    CHECK(deframer.CheckEnd().ok() == whole);
    if (!whole) CHECK(deframer.CheckEnd().code() == absl::StatusCode::kInternal);
    // And what is incomplete is never shown.
    Messages messages;
    TakeAll(deframer, messages);
    CHECK(messages.size() == (size < first.size()                  ? 0
                              : size < first.size() + kPrefixBytes ? 1
                              : size < body.size()                 ? 2
                                                                   : 3));
  }
}

TEST_CASE("the text of a truncated body says what is missing") {
  Deframer in_message(100);
  REQUIRE(in_message.Add(Wire("hello").substr(0, 7)).ok());
  CHECK(in_message.CheckEnd().message() == "ended the body inside a message: 2 of 5 bytes came");
  Deframer in_prefix(100);
  REQUIRE(in_prefix.Add(Wire("hello").substr(0, 3)).ok());
  CHECK(in_prefix.CheckEnd().message() ==
        "ended the body inside a message: 3 of the 5 bytes before it came");
}

TEST_CASE("a message above the limit fails with its fifth byte, however it is cut") {
  const uint32_t size = GENERATE(101u, 1u << 20, 0x7fffffffu, 0x80000000u, 0xffffffffu);
  const std::string prefix = WirePrefix(0, size);
  for (size_t cut = 0; cut < kPrefixBytes; ++cut) {
    Deframer deframer(100);
    REQUIRE(deframer.Add(prefix.substr(0, cut)).ok());
    const absl::Status status = deframer.Add(prefix.substr(cut));
    CHECK(status.code() == absl::StatusCode::kResourceExhausted);
    CHECK(status.message() ==
          "sent a message of " + std::to_string(size) + " bytes, above the limit of 100 bytes");
    CHECK(deframer.Add("more") == status);
    CHECK(deframer.CheckEnd() == status);
    CHECK_FALSE(deframer.Next().has_value());
  }
}

TEST_CASE("a message of just the limit, a limit of nothing, and no limit") {
  Deframer just(4);
  CHECK(just.Add(Wire("four")).ok());
  CHECK(just.ready() == 1);
  Deframer nothing(0);
  CHECK(nothing.Add(Wire("")).ok());
  CHECK(nothing.Add(Wire("1")).code() == absl::StatusCode::kResourceExhausted);
  Deframer none(kNoLimit);
  CHECK(none.Add(WirePrefix(1, 0xffffffff)).ok());
  CHECK(none.mid_message());
  CHECK_FALSE(none.Next().has_value());
}

TEST_CASE("a compressed-flag that is neither 0 nor 1 is an error") {
  for (int flag = 0; flag < 256; ++flag) {
    Deframer deframer(100);
    const absl::Status status = deframer.Add(WirePrefix(static_cast<unsigned char>(flag), 0));
    if (flag < 2) {
      CHECK(status.ok());
    } else {
      CHECK(status.code() == absl::StatusCode::kInternal);
      CHECK_THAT(std::string(status.message()),
                 ContainsSubstring("flag is " + std::to_string(flag) + ","));
    }
  }
}

TEST_CASE("messages before a bad one can still be taken") {
  Deframer deframer(100);
  REQUIRE(deframer.Add(Wire("good").substr(0, 2)).ok());
  const absl::Status status =
      deframer.Add(Wire("good").substr(2) + Wire("too") + WirePrefix(7, 1) + Wire("never"));
  CHECK(status.code() == absl::StatusCode::kInternal);
  Messages messages;
  TakeAll(deframer, messages);
  CHECK(messages == Messages{{false, "good"}, {false, "too"}});
  CHECK(deframer.Add(Wire("never")) == status);
  TakeAll(deframer, messages);
  CHECK(messages.size() == 2);
}

TEST_CASE("large pieces are viewed where they lie, not copied") {
  const std::string message(20'000, 'm');
  std::string body = Wire(message);
  const char* where = body.data();
  Deframer deframer(kNoLimit);
  REQUIRE(deframer.Add(std::move(body)).ok());
  const std::optional<Frame> frame = deframer.Next();
  REQUIRE(frame.has_value());
  REQUIRE(frame->pieces.size() == 1);
  CHECK(frame->pieces[0].data() == where + kPrefixBytes);

  std::string first = Wire(message).substr(0, 9'000);
  std::string second = Wire(message).substr(9'000);
  const std::array<const char*, 2> places = {first.data(), second.data()};
  REQUIRE(deframer.Add(std::move(first)).ok());
  REQUIRE(deframer.Add(std::move(second)).ok());
  const std::optional<Frame> halves = deframer.Next();
  REQUIRE(halves.has_value());
  REQUIRE(halves->pieces.size() == 2);
  CHECK(halves->pieces[0].data() == places[0] + kPrefixBytes);
  CHECK(halves->pieces[1].data() == places[1]);
}

TEST_CASE("a large message that comes in drops is not kept as one string for each") {
  const std::string message(100'000, 'm');
  const std::string body = Wire(message);
  Deframer deframer(kNoLimit);
  for (size_t i = 0; i < body.size(); i += 10) REQUIRE(deframer.Add(body.substr(i, 10)).ok());
  const std::optional<Frame> frame = deframer.Next();
  REQUIRE(frame.has_value());
  CHECK(frame->pieces.size() <= body.size() / 4096 + 1);
  CHECK(Join(*frame) == message);
}

TEST_CASE("a long stream of messages that straddle their pieces") {
  std::string body;
  Messages expected;
  for (int i = 0; i < 2'000; ++i) {
    const std::string message(static_cast<size_t>(i * 37 % 1'500), static_cast<char>('a' + i % 26));
    body += Wire(message, i % 3 == 0);
    expected.emplace_back(i % 3 == 0, message);
  }
  const size_t step = GENERATE(1'000u, 5'000u, 70'000u);
  const size_t behind = GENERATE(0u, 50u);  // how many messages are left lying
  Deframer deframer(2'000);
  Messages messages;
  for (size_t i = 0; i < body.size(); i += step) {
    REQUIRE(deframer.Add(body.substr(i, step)).ok());
    while (deframer.ready() > behind) {
      const std::optional<Frame> frame = deframer.Next();
      messages.emplace_back(frame->compressed, Join(*frame));
    }
  }
  TakeAll(deframer, messages);
  CHECK(messages == expected);
  CHECK_FALSE(deframer.mid_message());
}

}  // namespace
}  // namespace weft::grpc
