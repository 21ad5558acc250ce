// Header fields and messages that are against the rules: faults 24 to 29 of the catalogue.
#include "rig.h"
#include "support/catch.h"

namespace weft::test::http2 {
namespace {

using Catch::Matchers::ContainsSubstring;

const Fields kOk = {{":status", "200"}};

// The call ends as malformed at every split, and its neighbour on the connection does not notice.
void CheckMalformed(const std::string& script, const std::string& words) {
  for (size_t split = 0; split < std::min<size_t>(script.size(), 200); ++split) {
    CAPTURE(split);
    Rig rig;
    rig.Start();
    User& user = rig.Open();
    User& other = rig.Open();
    rig.Collect();
    REQUIRE(rig.Feed(script.substr(0, split)).ok());
    rig.Collect();
    REQUIRE(rig.Feed(script.substr(split)).ok());
    const auto frames = rig.CollectFrames();
    REQUIRE(user.ends == 1);
    REQUIRE(user.end.status.code() == absl::StatusCode::kInternal);
    REQUIRE(user.end.origin == Origin::kConnection);
    REQUIRE(user.end.processed == Processed::kMaybeProcessed);
    REQUIRE_THAT(std::string(user.end.status.message()), ContainsSubstring(words));
    for (const char c : user.end.status.message()) REQUIRE((c >= 0x20 && c < 0x7f));
    REQUIRE(rig.session->open_streams() == 1);
    REQUIRE(rig.Feed(Head(3, kOk, true)).ok());
    REQUIRE(other.end.status.ok());
    REQUIRE(rig.session->open_streams() == 0);
  }
}

TEST_CASE("fault 24: a header list over the limit fails that call alone") {
  const bool trailers = GENERATE(false, true);
  weft::http2::SessionOptions options;
  options.max_header_list_bytes = 1000;
  Rig rig(options);
  rig.Start();
  User& user = rig.Open();
  User& other = rig.Open();
  rig.Collect();
  Fields fields = trailers ? Fields() : kOk;
  for (int i = 0; i < 30; ++i) fields.emplace_back("name-" + std::to_string(i), "value");
  REQUIRE(rig.Feed((trailers ? Head(1, kOk) : "") + Head(1, fields, true)).ok());
  CHECK(user.end.status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(user.end.origin == Origin::kPeer);
  CHECK(user.end.processed == Processed::kMaybeProcessed);
  CHECK(user.ends == 1);
  rig.Collect();
  REQUIRE(rig.Feed(Head(3, kOk, true)).ok());
  CHECK(other.end.status.ok());
}

TEST_CASE("fault 24: the limit counts 32 bytes for each field, and allows what fits exactly") {
  weft::http2::SessionOptions options;
  options.max_header_list_bytes = 7 + 3 + 32 + 4 + 60 + 32;
  const size_t value = GENERATE(size_t{60}, size_t{61});
  Rig rig(options);
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, {{":status", "200"}, {"name", std::string(value, 'v')}}, true)).ok());
  CHECK(user.end.status.ok() == (value == 60));
}

TEST_CASE("fault 24: a list beyond all measure ends the connection") {
  weft::http2::SessionOptions options;
  options.max_header_list_bytes = 500;
  Rig rig(options);
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  const absl::Status status =
      rig.Feed(Head(1, {{":status", "200"}, {"big", std::string(9000, 'v')}}, true));
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(FindFrame(rig.CollectFrames(), kGoaway)->code() == kEnhanceYourCalm);
  rig.session->EndAll(status, SIZE_MAX - 1);
  CHECK(user.ends == 1);
}

TEST_CASE("fault 25: an HPACK bomb is stopped early") {
  // One entry of 4,000 bytes in the table, then a reference to it with every byte.
  const std::string entry = std::string("\x40\x01x\x7f\xa1\x1e", 6) + std::string(4000, 'v');
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  const absl::Status status =
      rig.Feed(Frame(kHeaders, 0, 1, Block(kOk) + entry) +
               Frame(kContinuation, kEndHeaders, 1, std::string(16000, '\xbe')));
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(user.ends <= 1);
}

TEST_CASE("fault 25: blocks that cannot be decoded end the connection") {
  const std::string block =
      GENERATE(std::string("\x80", 1),          // index 0
               std::string("\xff\x80\x01", 3),  // index beyond the table
               std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),  // integer overflow
               std::string("\x00\x81\xff\x01x", 5),                          // bad Huffman padding
               std::string("\x3f\xe1\xff\x03", 4),  // a table above our setting
               std::string("\x00\x05"
                           "ab",
                           4));  // torn
  for (size_t split = 0; split <= 9 + block.size(); ++split) {
    Rig rig;
    rig.Start();
    User& user = rig.Open();
    rig.Collect();
    const std::string script = Frame(kHeaders, kEndHeaders, 1, block) + Data(1, "x");
    absl::Status status = rig.Feed(script.substr(0, split));
    if (status.ok()) status = rig.Feed(script.substr(split));
    CHECK(status.code() == absl::StatusCode::kInternal);
    CHECK_THAT(std::string(status.message()), ContainsSubstring("COMPRESSION_ERROR"));
    CHECK(FindFrame(rig.CollectFrames(), kGoaway)->code() == kCompressionError);
    CHECK(user.ends == 0);
    rig.session->EndAll(status, SIZE_MAX - 1);
    CHECK(user.ends == 1);
  }
}

TEST_CASE("fault 26: fields that are not allowed make the response malformed, and are not echoed") {
  const auto [name, value] = GENERATE(table<std::string, std::string>({
      {"Upper", "x"},
      {"na me", "x"},
      {"na\x01me", "x"},
      {"nul", std::string("a\0b", 3)},
      {"cr", "a\rb"},
      {"lf", "a\nb"},
      {"leading", " x"},
      {"trailing", "x "},
      {"connection", "close"},
      {"transfer-encoding", "chunked"},
      {"keep-alive", "1"},
      {"proxy-connection", "x"},
      {"upgrade", "h2c"},
      {"", "x"},
      {":unknown", "x"},
      {":path", "/"},
  }));
  CheckMalformed(Head(1, {{":status", "200"}, {name, value}}, true), "malformed response");
}

TEST_CASE("fault 27: a status that is missing, doubled, late or no number") {
  CheckMalformed(Head(1, {{"x", "y"}}, true), "header block");
  CheckMalformed(Head(1, {{":status", "200"}, {":status", "200"}}, true), "header field");
  CheckMalformed(Head(1, {{"x", "y"}, {":status", "200"}}, true), "header field");
  for (const char* status : {"abc", "20", "2000", "+20", "-20", "20x", " 20", "", "000", "099"}) {
    CAPTURE(status);
    CheckMalformed(Head(1, {{":status", status}}, true), "malformed response");
  }
  CheckMalformed(Head(1, {{":status", "101"}}), "header field");
}

TEST_CASE("fault 27: interim responses are passed over, sixteen of them") {
  const int interim = GENERATE(1, 16);
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  for (int i = 0; i < interim; ++i)
    REQUIRE(rig.Feed(Head(1, {{":status", "100"}, {"i", "1"}})).ok());
  REQUIRE(rig.Feed(Head(1, kOk, true)).ok());
  CHECK(user.Log() == "head 200; end OK peer may have been processed");
}

TEST_CASE("fault 27: endless interim responses fail the call") {
  std::string script;
  for (int i = 0; i < 17; ++i) script += Head(1, {{":status", "102"}});
  CheckMalformed(script, "over 16 interim responses");
}

TEST_CASE("fault 27: an interim response may not be the last, nor may a body follow it") {
  CheckMalformed(Head(1, {{":status", "100"}}, true), "malformed");
  CheckMalformed(Head(1, {{":status", "100"}}) + Data(1, "x"), "before the final head");
}

TEST_CASE("fault 27: pseudo-headers in trailers, and trailers that do not end") {
  CheckMalformed(Head(1, kOk) + Head(1, {{":status", "200"}}, true), "header field");
  CheckMalformed(Head(1, kOk) + Head(1, {{"t", "1"}}), "header block");
}

TEST_CASE("fault 28: a body that is not as long as content-length says") {
  const Fields three = {{":status", "200"}, {"content-length", "3"}};
  CheckMalformed(Head(1, three) + Data(1, "12", true), "content-length");
  CheckMalformed(Head(1, three) + Data(1, "1234"), "content-length");
  CheckMalformed(Head(1, three, true), "malformed");
  CheckMalformed(Head(1, three) + Data(1, "12") + Head(1, {{"t", "1"}}, true), "malformed");
  CheckMalformed(Head(1, {{":status", "200"}, {"content-length", "x"}}), "header field");
  CheckMalformed(Head(1, {{":status", "200"}, {"content-length", "-1"}}), "header field");
  CheckMalformed(Head(1, {{":status", "200"}, {"content-length", "3"}, {"content-length", "3"}}),
                 "header field");
}

TEST_CASE(
    "fault 28: what content-length counts is enough without END_STREAM, which is waited for") {
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, {{":status", "200"}, {"content-length", "3"}}) + Data(1, "123")).ok());
  CHECK(user.ends == 0);
  REQUIRE(rig.Feed(Data(1, "", true)).ok());
  CHECK(user.end.status.ok());
}

TEST_CASE("fault 29: thousands of fields end the connection") {
  weft::http2::SessionOptions options;
  options.max_header_list_bytes = 1 << 20;
  Rig rig(options);
  rig.Start();
  rig.Open();
  rig.Collect();
  std::string block = Block(kOk);
  for (int i = 0; i < 4096; ++i) block += Block({{"a", ""}});
  CHECK(rig.Feed(Frame(kHeaders, 0, 1, block.substr(0, 16000)) +
                 Frame(kContinuation, kEndHeaders, 1, block.substr(16000)))
            .code() == absl::StatusCode::kResourceExhausted);
}

TEST_CASE("duplicate fields are kept in order") {
  Rig rig;
  rig.Start();
  User& user = rig.Open();
  rig.Collect();
  REQUIRE(rig.Feed(Head(1, {{":status", "200"}, {"b", "1"}, {"a", "2"}, {"b", "3"}}, true)).ok());
  CHECK(user.log[0] == "head 200 b=1 a=2 b=3");
}

TEST_CASE("request headers that are too large are not sent, and the connection goes on") {
  Rig rig;
  rig.Start();
  User& user = rig.Prepare();
  const Headers headers = {{"big", std::string(400000, 'x')}};
  http::RequestHead head;
  head.method = "GET";
  head.scheme = "http";
  head.authority = "a";
  head.path = "/";
  head.headers = &headers;
  user.stream = rig.session->Open(user, head);
  CHECK(rig.Collect().empty());
  CHECK(user.Log() == "end RESOURCE_EXHAUSTED local not sent");
  User& next = rig.Open();
  CHECK(CountFrames(rig.CollectFrames(), kHeaders) == 1);
  REQUIRE(rig.Feed(Head(3, kOk, true)).ok());
  CHECK(next.end.status.ok());
}

TEST_CASE("large request headers go out with CONTINUATION and count as sent with their last byte") {
  Rig rig;
  rig.Start();
  uint64_t before = 0;
  {
    Rig measure;  // the same bytes up to here
    before = 24 + measure.Collect().size();
    REQUIRE(measure.Feed(Settings() + SettingsAck()).ok());
    before += measure.Collect().size();
  }
  User& user = rig.Prepare();
  const Headers headers = {{"big", std::string(60000, '\xfe')}};
  http::RequestHead head;
  head.method = "GET";
  head.scheme = "http";
  head.authority = "a";
  head.path = "/";
  head.headers = &headers;
  user.stream = rig.session->Open(user, head);
  const std::string out = rig.Collect();
  CHECK(out.size() > 60000);
  CHECK_FALSE(rig.session->HeadSent(user.stream, before + out.size() - 1));
  CHECK(rig.session->HeadSent(user.stream, before + out.size()));
}

}  // namespace
}  // namespace weft::test::http2
