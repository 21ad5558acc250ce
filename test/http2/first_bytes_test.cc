#include "http2/first_bytes.h"

#include <string>

#include "rig.h"
#include "support/catch.h"

namespace weft::http2 {
namespace {

// What is said, and after how many bytes when they come one by one.
std::pair<std::string, size_t> Judge(const std::string& bytes) {
  FirstBytes first;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (const auto text = first.Look(bytes.substr(i, 1))) return {*text, i + 1};
    if (first.settled()) return {"", i + 1};
  }
  return {"?", bytes.size()};
}

TEST_CASE("SETTINGS settle it with the ninth byte") {
  CHECK(Judge(test::http2::Settings({{1, 1}})) == std::pair<std::string, size_t>("", 9));
}

TEST_CASE("strangers are named as early as they can be") {
  const auto [bytes, words, size] = GENERATE(table<std::string, std::string, size_t>({
      {std::string("\x15\x03\x03\0\x02\x02\x28", 7), "sent a TLS alert", 3},
      {std::string("\x16\x03\x01\0\0\0\0\0\0", 9), "sent a TLS record", 3},
      {"SSH-2.0-x", "sent an SSH greeting", 4},
      {"HTTP/1.0 404 Not Found", "answered with HTTP/1.0", 9},
      {"HTTP/1.\xff 404", "answered with HTTP/1.?", 9},
      {"HTTP/0.9 12345", "answered with HTTP/0.9", 9},
      {"220 smtp.example.org", "did not begin with SETTINGS", 9},
      {test::http2::Goaway(0, 1), "did not begin with SETTINGS", 9},
      {std::string(20, '\0'), "did not begin with SETTINGS", 9},
  }));
  const auto [text, at] = Judge(bytes);
  CHECK(text == "does not speak HTTP/2 (" + words + ")");
  CHECK(at == size);
  FirstBytes at_once;
  CHECK(at_once.Look(bytes)->rfind("does not speak HTTP/2 (", 0) == 0);
  CHECK_FALSE(at_once.Look(bytes).has_value());
}

TEST_CASE("too little says nothing") {
  for (const std::string bytes : {"", "H", "HTTP/1.1", "\x16\x03"}) {
    FirstBytes first;
    CHECK_FALSE(first.Look(bytes).has_value());
    CHECK_FALSE(first.settled());
  }
}

}  // namespace
}  // namespace weft::http2
