#include "grpc/metadata.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "support/catch.h"

namespace weft::grpc {
namespace {

using Catch::Matchers::ContainsSubstring;
using Fields = std::vector<std::pair<std::string, std::string>>;

Fields AllOf(const Headers& headers) {
  Fields fields;
  for (const Headers::Field field : headers) {
    fields.emplace_back(std::string(field.name), std::string(field.value));
  }
  return fields;
}

std::string AllBytes() {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  return bytes;
}

TEST_CASE("metadata goes over the wire in order, binary values as base64 without padding") {
  const Headers metadata = {{"tenant", "7"},     {"trace-bin", std::string_view("\0\xff", 2)},
                            {"tenant", "8"},     {"a.b_c-9", "~ !\"%,"},
                            {"empty", ""},       {"empty-bin", ""},
                            {"-bin", "abc"},     {"X-Upper", "V"},
                            {"one-bin", "\xfb"}, {"three-bin", "\xff\xff\xfe"}};
  Headers wire = {{"te", "trailers"}};
  REQUIRE(AppendMetadata(metadata, wire).ok());
  CHECK(AllOf(wire) == Fields{{"te", "trailers"},
                              {"tenant", "7"},
                              {"trace-bin", "AP8"},
                              {"tenant", "8"},
                              {"a.b_c-9", "~ !\"%,"},
                              {"empty", ""},
                              {"empty-bin", ""},
                              {"-bin", "YWJj"},
                              {"x-upper", "V"},
                              {"one-bin", "+w"},
                              {"three-bin", "///+"}});
  CHECK(wire.Validate().ok());
  Headers back;
  CHECK(ReadMetadata(wire, back) == 0);
  CHECK(AllOf(back) == AllOf(metadata));
}

TEST_CASE("a name that HTTP/2 or gRPC uses is reserved both ways") {
  const std::string name =
      GENERATE(as<std::string>(), ":path", ":status", ":authority", "grpc-status", "grpc-message",
               "grpc-timeout", "grpc-encoding", "grpc-anything", "grpc-status-details-bin", "grpc-",
               "content-type", "te", "user-agent", "content-length", "host", "connection",
               "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "trailer");
  INFO(name);
  Headers metadata = {{"good", "1"}};
  metadata.Add(name, "secret");
  Headers wire;
  const absl::Status status = AppendMetadata(metadata, wire);
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  CHECK(status.message() == "metadata \"" + name + "\": the name is reserved");
  CHECK(wire.empty());
  Headers user;
  CHECK(ReadMetadata(metadata, user) == 0);
  CHECK(AllOf(user) == Fields{{"good", "1"}});
}

TEST_CASE("a name that only resembles a reserved one is the user's") {
  Headers wire;
  CHECK(AppendMetadata({{"grpc", "1"},
                        {"x-grpc-status", "2"},
                        {"content-types", "3"},
                        {"tea", "4"},
                        {"bin", "5"},
                        {"x-bin-x", "6"},
                        {"authorization", "7"},
                        {"date", "8"}},
                       wire)
            .ok());
  CHECK(wire.size() == 8);
}

TEST_CASE("every byte in a name is legal or refused") {
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    INFO(c);
    Headers metadata;
    metadata.Add(std::string("x") + byte + "y", "secret");
    Headers wire;
    const absl::Status status = AppendMetadata(metadata, wire);
    // Headers lowers what is upper case.
    const bool legal = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.';
    CHECK(status.ok() == legal);
    if (legal) continue;
    CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    for (const char shown : status.message()) CHECK((shown >= 0x20 && shown <= 0x7e));
    CHECK(std::string(status.message()).find("secret") == std::string::npos);
  }
  Headers wire;
  CHECK_THAT(std::string(AppendMetadata({{"", "v"}}, wire).message()),
             ContainsSubstring("the name is empty"));
}

TEST_CASE("every byte in a value is legal or refused, and in a binary one legal") {
  for (int c = 0; c < 256; ++c) {
    INFO(c);
    const std::string value = std::string("secret") + static_cast<char>(c) + "secret";
    Headers wire;
    const absl::Status status = AppendMetadata({{"fine", "1"}, {"key", value}}, wire);
    CHECK(status.ok() == (c >= 0x20 && c <= 0x7e));
    if (!status.ok()) {
      CHECK(wire.empty());
      CHECK(status.code() == absl::StatusCode::kInvalidArgument);
      CHECK_THAT(std::string(status.message()), ContainsSubstring("metadata \"key\": "));
      CHECK(std::string(status.message()).find("secret") == std::string::npos);
    }
    Headers binary;
    CHECK(AppendMetadata({{"key-bin", value}}, binary).ok());
  }
}

TEST_CASE("a value with a space at an end is refused, since a peer would take it off") {
  Headers wire;
  for (const char* value : {" v", "v ", " "}) {
    const absl::Status status = AppendMetadata({{"key", value}}, wire);
    CHECK(status.message() == "metadata \"key\": the value has a space at an end");
  }
  CHECK(AppendMetadata({{"key", "v v"}, {"key-bin", " v "}}, wire).ok());
}

TEST_CASE("a name of any length is quoted in part") {
  Headers metadata;
  metadata.Add(std::string(10'000, '!'), "v");
  Headers wire;
  CHECK(AppendMetadata(metadata, wire).message().size() < 200);
}

TEST_CASE("base64 is read with padding and without") {
  const auto [text, bytes] = GENERATE(table<std::string, std::string>({
      {"", ""},
      {"YQ==", "a"},
      {"YQ", "a"},
      {"YWI=", "ab"},
      {"YWI", "ab"},
      {"YWJj", "abc"},
      {"YWJjZA==", "abcd"},
      {"YWJjZA", "abcd"},
      {"+/+/", "\xfb\xff\xbf"},
  }));
  INFO(text);
  CHECK(DecodeBinary(text) == bytes);
}

TEST_CASE("what is no base64 is nothing") {
  const std::string text =
      GENERATE(as<std::string>(), "Y", "YWJjZ", "YQ=", "YQ===", "YQ====", "=", "==", "====", "=YQ",
               "Y=Q", "YWJj=", "YWJj==", "YQ==YQ==", "YQ..", "Y Q", " YQ", "YQ ", "-_-_", "YQ\n",
               "YW%3D", "Y,Q", "\xff\xff", std::string("YQ\0", 3));
  INFO(text);
  CHECK_FALSE(DecodeBinary(text).has_value());
}

TEST_CASE("all bytes in all lengths survive base64") {
  std::string bytes;
  for (const char c : AllBytes() + AllBytes()) {
    bytes += c;
    const std::string base64 = EncodeBinary(bytes);
    CHECK(base64.find('=') == std::string::npos);
    REQUIRE(DecodeBinary(base64) == bytes);
  }
}

TEST_CASE("binary values that were joined with commas come apart") {
  const Headers wire = {{"k-bin", "YQ,YWI="},
                        {"k-bin", "YWJj , \tYQ=="},
                        {"j-bin", "YQ,,YQ"},
                        {"e-bin", ""},
                        {"text", "a,b"}};
  Headers user;
  CHECK(ReadMetadata(wire, user) == 0);
  CHECK(AllOf(user) == Fields{{"k-bin", "a"},
                              {"k-bin", "ab"},
                              {"k-bin", "abc"},
                              {"k-bin", "a"},
                              {"j-bin", "a"},
                              {"j-bin", ""},
                              {"j-bin", "a"},
                              {"e-bin", ""},
                              {"text", "a,b"}});
}

TEST_CASE("bad base64 is left out and counted, and costs nothing else") {
  const Headers wire = {{"good-bin", "YQ"},
                        {"bad-bin", "!!!!"},
                        {"bad-bin", "YQ,Y"},
                        {"bad-bin", "YQ"},
                        {"text", "!!!!"}};
  Headers user;
  CHECK(ReadMetadata(wire, user) == 2);
  CHECK(AllOf(user) == Fields{{"good-bin", "a"}, {"bad-bin", "a"}, {"text", "!!!!"}});
}

TEST_CASE("a long name before thousands of commas is not multiplied") {
  const std::string name = std::string(30'000, 'n') + "-bin";
  Headers wire;
  wire.Add(name, std::string(30'000, ','));
  wire.Add("few-bin", std::string(99, ','));
  wire.Add("many-bin", std::string(100, ','));
  Headers user;
  CHECK(ReadMetadata(wire, user) == 2);
  CHECK(user.size() == 100);
  CHECK_FALSE(user.Has(name));
}

TEST_CASE("received text is given as it came and after what is there") {
  Headers wire;
  wire.Add("server", "caf\xc3\xa9");
  Headers user = {{"first", "1"}};
  CHECK(ReadMetadata(wire, user) == 0);
  CHECK(AllOf(user) == Fields{{"first", "1"}, {"server", "caf\xc3\xa9"}});
}

}  // namespace
}  // namespace weft::grpc
