#include "grpc/frame_input.h"

#include <string>
#include <vector>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wrappers.pb.h"
#include "grpc/framing.h"
#include "support/catch.h"

namespace weft::grpc {
namespace {

TEST_CASE("a message is parsed the same wherever its bytes are cut") {
  google::protobuf::StringValue sent;
  sent.set_value("what was sent, in more than one piece");
  const std::string bytes = sent.SerializeAsString();
  const std::string_view all = bytes;
  for (size_t i = 0; i <= bytes.size(); ++i) {
    for (size_t j = i; j <= bytes.size(); ++j) {
      const std::vector<std::string_view> pieces = {all.substr(0, i), all.substr(i, j - i),
                                                    all.substr(j)};
      FrameInput input(pieces);
      google::protobuf::StringValue got;
      REQUIRE(got.ParseFromZeroCopyStream(&input));
      REQUIRE(got.value() == sent.value());
      REQUIRE(input.ByteCount() == static_cast<int64_t>(bytes.size()));
    }
  }
}

TEST_CASE("a frame of a deframer is parsed, and an empty one is an empty message") {
  google::protobuf::BytesValue sent;
  sent.set_value(std::string(50'000, '\x80'));
  const std::string bytes = sent.SerializeAsString();
  char prefix[kPrefixBytes];
  WritePrefix(prefix, false, static_cast<uint32_t>(bytes.size()));
  const std::string body = std::string(prefix, kPrefixBytes) + bytes + std::string(5, '\0');
  Deframer deframer(bytes.size());
  for (size_t i = 0; i < body.size(); i += 7'000) REQUIRE(deframer.Add(body.substr(i, 7'000)).ok());
  google::protobuf::BytesValue got;
  std::optional<Frame> frame = deframer.Next();
  REQUIRE(frame.has_value());
  CHECK(frame->pieces.size() > 1);
  FrameInput input(frame->pieces);
  REQUIRE(got.ParseFromZeroCopyStream(&input));
  CHECK(got.value() == sent.value());

  frame = deframer.Next();
  REQUIRE(frame.has_value());
  FrameInput empty(frame->pieces);
  REQUIRE(got.ParseFromZeroCopyStream(&empty));
  CHECK(got.value().empty());
}

TEST_CASE("garbage is not parsed") {
  const std::vector<std::string_view> pieces = {"\x0a", "\x7f", "short"};
  FrameInput input(pieces);
  google::protobuf::StringValue got;
  CHECK_FALSE(got.ParseFromZeroCopyStream(&input));
}

TEST_CASE("next, back up and skip count the bytes and cross the pieces") {
  const std::vector<std::string_view> pieces = {"", "abc", "", "", "defg", ""};
  FrameInput input(pieces);
  const void* data = nullptr;
  int size = 0;
  const auto next = [&]() -> std::string {
    if (!input.Next(&data, &size)) return "(end)";
    return {static_cast<const char*>(data), static_cast<size_t>(size)};
  };
  CHECK(input.ByteCount() == 0);
  CHECK(next() == "abc");
  CHECK(input.ByteCount() == 3);
  input.BackUp(2);
  CHECK(input.ByteCount() == 1);
  CHECK(next() == "bc");
  input.BackUp(0);
  input.BackUp(3);
  CHECK(input.Skip(0));
  CHECK(input.Skip(5));
  CHECK(input.ByteCount() == 5);
  CHECK(next() == "fg");
  CHECK(input.ByteCount() == 7);
  input.BackUp(1);
  CHECK_FALSE(input.Skip(2));
  CHECK(input.Skip(0));
  CHECK(input.ByteCount() == 7);
  CHECK(next() == "(end)");
  FrameInput nothing({});
  CHECK_FALSE(nothing.Next(&data, &size));
  CHECK_FALSE(nothing.Skip(1));
}

}  // namespace
}  // namespace weft::grpc
