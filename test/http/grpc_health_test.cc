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
    CHECK(ParseGrpcHealthResponse(row.message) == row.status);
    GrpcHealthReader reader;
    CHECK(reader.Read(Framed(row.message)));
    CHECK(reader.last() == row.status);
  }
}

TEST_CASE("what is no answer to a health check") {
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
    CHECK_FALSE(ParseGrpcHealthResponse(message).has_value());
    GrpcHealthReader reader;
    CHECK_FALSE(reader.Read(Framed(message)));
    CHECK_FALSE(reader.last().has_value());
  }
}

TEST_CASE("a stream of messages, in pieces of any size") {
  const std::string body = Framed("\x08\x01") + Framed("") +
                           Framed(
                               "\x08\x03\x1a\x03"
                               "abc") +
                           Framed("\x08\x02");
  for (size_t piece = 1; piece <= body.size(); ++piece) {
    CAPTURE(piece);
    GrpcHealthReader reader;
    std::vector<ServingStatus> said;
    for (size_t at = 0; at < body.size(); at += piece) {
      REQUIRE(reader.Read(std::string_view(body).substr(at, piece)));
      if (reader.last().has_value() && (said.empty() || said.back() != *reader.last()))
        said.push_back(*reader.last());
    }
    CHECK(said.back() == ServingStatus::kNotServing);
    if (piece <= 5) {
      CHECK(said == std::vector{ServingStatus::kServing, ServingStatus::kUnknown,
                                ServingStatus::kServiceUnknown, ServingStatus::kNotServing});
    }
  }
}

TEST_CASE("a message that is compressed or too long is refused on its prefix") {
  for (const std::string& prefix : {"\x01\0\0\0\0"s, "\0\xff\xff\xff\xff"s, "\0\0\0\x10\x01"s}) {
    GrpcHealthReader reader;
    for (size_t i = 0; i < 4; ++i) CHECK(reader.Read(prefix.substr(i, 1)));
    CHECK_FALSE(reader.Read(prefix.substr(4)));
  }
  // One that is as long as it may be.
  GrpcHealthReader reader;
  std::string message = "\x1a\xfd\x1f"s + std::string(4093, 'x');
  CHECK(reader.Read(Framed(message)));
  CHECK(reader.last() == ServingStatus::kUnknown);
}

TEST_CASE("random bytes are no trouble, and cut short an answer is none") {
  std::mt19937_64 random(3);
  int answers = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string message(random() % 24, '\0');
    for (char& c : message) c = static_cast<char>(random() % 4 == 0 ? random() : random() % 32);
    if (ParseGrpcHealthResponse(message).has_value()) ++answers;
    GrpcHealthReader reader;
    (void)reader.Read(message);
  }
  CHECK(answers > 100);
  const std::string whole = Framed(
      "\x08\x01\x1a\x03"
      "abc");
  for (size_t size = 0; size < whole.size(); ++size) {
    GrpcHealthReader reader;
    CHECK(reader.Read(std::string_view(whole).substr(0, size)));
    CHECK_FALSE(reader.last().has_value());
  }
}

}  // namespace
}  // namespace weft::http
