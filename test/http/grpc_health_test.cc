#include "http/grpc_health.h"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "http/grpc_wire.h"
#include "support/catch.h"

namespace weft::http {
namespace {

using namespace std::string_literals;

std::string Framed(const std::string& message) {
  std::string body(kGrpcPrefixBytes, '\0');
  body[3] = static_cast<char>(message.size() >> 8);
  body[4] = static_cast<char>(message.size());
  return body + message;
}

TEST_CASE("what a health check asks, byte by byte") {
  CHECK(GrpcHealthRequest("") == "\0\0\0\0\0"s);
  CHECK(GrpcHealthRequest("a.B") ==
        "\0\0\0\0\x05\x0a\x03"
        "a.B"s);
  const std::string name(300, 'n');
  CHECK(GrpcHealthRequest(name) == "\0\0\0\x01\x2f\x0a\xac\x02"s + name);
}

TEST_CASE("what a host says of its health") {
  struct Row {
    std::string message;
    ServingStatus status;
  };
  const std::vector<Row> table = {
      {"", ServingStatus::kUnknown},
      {"\x08\x00"s, ServingStatus::kUnknown},
      {"\x08\x01", ServingStatus::kServing},
      {"\x08\x02", ServingStatus::kNotServing},
      {"\x08\x03", ServingStatus::kServiceUnknown},
      {"\x08\x04", ServingStatus::kUnknown},
      {"\x08\x81\x00"s, ServingStatus::kServing},  // longer than needed
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", ServingStatus::kUnknown},  // -1
      {"\x08\x01\x08\x02", ServingStatus::kNotServing},                           // the last
      // What is not known: a varint, eight bytes, a string, four bytes; field 1 as a string.
      {"\x10\x05\x08\x01", ServingStatus::kServing},
      {"\x11"s + std::string(8, 'x') + "\x08\x01", ServingStatus::kServing},
      {"\x08\x01\x1a\x03"
       "abc",
       ServingStatus::kServing},
      {"\x25"
       "abcd\x08\x01",
       ServingStatus::kServing},
      {"\x0a\x01\x02\x08\x01", ServingStatus::kServing},
      {"\x08\x01\x1a\x80\x01"s + std::string(128, 'x'), ServingStatus::kServing},
  };
  for (const Row& row : table) {
    CAPTURE(row.message);
    CHECK(ParseGrpcHealthResponse(Framed(row.message)) == row.status);
  }
}

TEST_CASE("what is no answer to a health check") {
  for (const std::string& body :
       {""s, "\0\0\0\0"s, "\x01\0\0\0\0"s, "\0\0\0\0\x01"s, "\0\0\0\0\x02\x08"s, "\0\0\0\0\0\0"s,
        "\0\0\0\0\x02\x08\x01\0\0\0\0\0"s, "\0\xff\xff\xff\xff\x08\x01"s}) {
    CHECK_FALSE(ParseGrpcHealthResponse(body).has_value());
  }
  for (const std::string& message :
       {"\x08"s, "\x08\x81"s, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s,
        "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s, "\x00\x01"s, "\x01"s, "\x0b\x0c"s,
        "\x0e"s, "\x0f"s,
        "\x11"
        "1234567"s,
        "\x1a\x04"
        "abc"s,
        "\x1a"s,
        "\x25"
        "abc"s,
        "\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, "\x88\x80\x80\x80\x80\x01\x01"s}) {
    CAPTURE(message);
    CHECK_FALSE(ParseGrpcHealthResponse(Framed(message)).has_value());
  }
}

TEST_CASE("random bytes are no trouble, and cut short an answer is none") {
  std::mt19937_64 random(3);
  int answers = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string message(random() % 24, '\0');
    for (char& c : message) c = static_cast<char>(random() % 4 == 0 ? random() : random() % 32);
    if (ParseGrpcHealthResponse(Framed(message)).has_value()) ++answers;
  }
  CHECK(answers > 100);
  const std::string whole = Framed(
      "\x08\x01\x1a\x03"
      "abc");
  for (size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(ParseGrpcHealthResponse(std::string_view(whole).substr(0, size)).has_value());
  CHECK(ParseGrpcHealthResponse(whole) == ServingStatus::kServing);
}

}  // namespace
}  // namespace weft::http
