#include "support/h2_frames.h"

#include <string>

#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

TEST_CASE("Frames survive encoding and parsing, byte by byte") {
  const std::string bytes = Encode(SettingsFrame({{kMaxFrameSize, 20000}})) +
                            Encode(PaddedDataFrame(3, "abc", 255, kEndStream)) +
                            Encode(GoawayFrame(7, kCancel, "why"));
  FrameParser parser;
  std::vector<Frame> frames;
  for (char c : bytes) {
    parser.Feed({&c, 1});
    while (auto frame = parser.Next()) frames.push_back(*frame);
  }
  REQUIRE(frames.size() == 3);
  CHECK(ReadSettings(frames[0].payload) == SettingList{{kMaxFrameSize, 20000}});
  CHECK(frames[1].stream == 3);
  CHECK(frames[1].has(kEndStream));
  CHECK(frames[1].payload.size() == 1 + 3 + 255);
  CHECK(Content(frames[1]) == "abc");
  CHECK(ReadU32(frames[2].payload) == 7);
  CHECK(ReadU32(frames[2].payload, 4) == kCancel);
  CHECK(frames[2].payload.substr(8) == "why");
  CHECK(parser.rest().empty());
}

TEST_CASE("A frame can lie about its length") {
  Frame frame = PingFrame(uint64_t{1});
  frame.length = 3;
  CHECK(Encode(frame).substr(0, 3) == std::string("\0\0\3", 3));
  CHECK(ParseFrames(Encode(frame)).size() == 2);  // three bytes, and what is left over
}

TEST_CASE("Padding longer than the frame is no content") {
  Frame frame = PaddedDataFrame(1, "", 4);
  frame.payload[0] = 5;
  CHECK_FALSE(Content(frame).has_value());
}

TEST_CASE("HPACK: what is encoded is decoded, wrong blocks are not") {
  const HeaderList headers = {{":status", "200"},
                              {"X Bad\n", std::string("\0", 1)},
                              {"", ""},
                              {"long", std::string(5000, 'v')}};
  HpackDecoder decoder;
  CHECK(decoder.Decode(HpackEncode(headers)) == headers);
  CHECK(decoder.Decode(HpackAddToTable("a", "b") + HpackIndexed(62)) ==
        HeaderList{{"a", "b"}, {"a", "b"}});
  CHECK(decoder.Decode(HpackIndexed(8)) == HeaderList{{":status", "200"}});
  CHECK(decoder.Decode("") == HeaderList{});
  CHECK_FALSE(HpackDecoder().Decode(HpackIndexed(0)).has_value());
  CHECK_FALSE(HpackDecoder().Decode(HpackIndexed(99)).has_value());
  CHECK_FALSE(HpackDecoder().Decode(HpackTableSize(1 << 20)).has_value());
  CHECK_FALSE(HpackDecoder().Decode(HpackEncode(headers).substr(0, 9)).has_value());
}

TEST_CASE("HPACK integers as in RFC 7541 C.1") {
  CHECK(HpackInteger(10, 5, 0) == "\x0a");
  CHECK(HpackInteger(1337, 5, 0) == "\x1f\x9a\x0a");
  CHECK(HpackInteger(42, 8, 0) == "\x2a");
}

}  // namespace
}  // namespace weft::inline v0::testing
