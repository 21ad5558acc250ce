#include "support/rogue_connection.h"

#include <nghttp2/nghttp2.h>

#include <map>
#include <string>
#include <vector>

#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string RequestBlock(const HeaderList& more = {}) {
  HeaderList headers = {
      {":method", "POST"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}};
  headers.insert(headers.end(), more.begin(), more.end());
  return HpackEncode(headers);
}

// Frames as text, bodies shown: "HEADERS 1 end", "DATA 1 abc".
std::vector<Frame> Exchange(RogueConnection& peer, std::string_view bytes) {
  peer.Receive(bytes);
  return ParseFrames(peer.TakeOutput());
}

std::string Hello() {
  return std::string(kPreface) + Encode(SettingsFrame({})) + Encode(SettingsAckFrame());
}

TEST_CASE("Rogue: by default it answers with the request's body and id") {
  RogueConnection peer;
  const auto first = Exchange(peer, Hello());
  REQUIRE(first.size() == 2);
  CHECK(first[0].type == kSettings);
  CHECK(first[1].type == kSettings);
  CHECK(first[1].has(kAck));
  const auto frames = Exchange(peer, Encode(HeadersFrame(1, RequestBlock({{"x-id", "42"}}))) +
                                         Encode(PaddedDataFrame(1, "body", 9, kEndStream)));
  REQUIRE(frames.size() == 3);
  CHECK(frames[0].type == kWindowUpdate);
  CHECK(ReadU32(frames[0].payload) == 1 + 4 + 9);
  HpackDecoder decoder;
  CHECK(decoder.Decode(frames[1].payload) == HeaderList{{":status", "200"}, {"x-id", "42"}});
  CHECK(frames[2].payload == "body");
  CHECK(frames[2].has(kEndStream));
  CHECK(peer.open_streams() == 0);
  CHECK(peer.request(1)->answered);
  CHECK(peer.violations().empty());
}

TEST_CASE("Rogue: it keeps within the client's windows") {
  RogueConnection peer;
  peer.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = std::string(100, 'x'), .trailers = {{"t", "1"}}};
  };
  Exchange(peer, std::string(kPreface) + Encode(SettingsFrame({{kInitialWindowSize, 30}})));
  auto frames = Exchange(peer, Encode(HeadersFrame(1, RequestBlock(), kEndHeaders | kEndStream)));
  REQUIRE(frames.size() == 2);
  CHECK(frames[1].payload.size() == 30);
  CHECK(peer.blocked_bytes() == 70);
  frames = Exchange(peer, Encode(SettingsFrame({{kInitialWindowSize, 50}})));
  REQUIRE(frames.size() == 2);  // the ACK is one
  CHECK(frames[1].payload.size() == 20);
  frames = Exchange(peer, Encode(WindowUpdateFrame(1, 1000)));
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].payload.size() == 50);
  CHECK(frames[1].type == kHeaders);
  CHECK(frames[1].has(kEndStream));
}

TEST_CASE("Rogue: breaches of the protocol by the client are seen") {
  RogueConnection peer;
  peer.options().settings = {{kMaxConcurrentStreams, 1}, {kInitialWindowSize, 10}};
  peer.options().answer = false;
  peer.options().return_windows = false;
  Exchange(peer, Hello());
  Exchange(peer, Encode(HeadersFrame(1, RequestBlock())));
  REQUIRE(peer.violations().empty());
  std::string bad, why;
  SECTION("too many streams") {
    bad = Encode(HeadersFrame(3, RequestBlock()));
    why = "MAX_CONCURRENT_STREAMS";
  }
  SECTION("too many bytes") {
    bad = Encode(DataFrame(1, "12345678901"));
    why = "beyond the window";
  }
  SECTION("DATA after the end") {
    bad = Encode(DataFrame(1, "1", kEndStream)) + Encode(DataFrame(1, "1"));
    why = "after the end";
  }
  SECTION("an idle stream") {
    bad = Encode(DataFrame(5, "1"));
    why = "idle";
  }
  SECTION("an upper-case field") {
    bad =
        Encode(RstStreamFrame(1, kCancel)) + Encode(HeadersFrame(3, RequestBlock({{"Bad", "x"}})));
    why = "bad byte in field name";
  }
  SECTION("an ACK of nothing") {
    bad = Encode(SettingsAckFrame());
    why = "ACK without";
  }
  Exchange(peer, bad);
  REQUIRE(peer.violations().size() == 1);
  CHECK_THAT(peer.violations()[0], ContainsSubstring(why));
}

TEST_CASE("Rogue: a lower limit of streams holds from its acknowledgement on") {
  RogueConnection peer;
  peer.options().answer = false;
  Exchange(peer, Hello());
  peer.SendSettings({{kMaxConcurrentStreams, 1}});
  Exchange(peer, Encode(HeadersFrame(1, RequestBlock())) + Encode(HeadersFrame(3, RequestBlock())));
  CHECK(peer.violations().empty());
  CHECK(peer.most_open_streams() == 2);
  Exchange(peer, Encode(SettingsAckFrame()) + Encode(RstStreamFrame(1, kCancel)));
  CHECK(peer.request(1)->reset == kCancel);
  Exchange(peer, Encode(HeadersFrame(5, RequestBlock())));
  CHECK(peer.violations().size() == 1);
}

TEST_CASE("Rogue: hooks take over") {
  RogueConnection peer;
  peer.options().greeting = "HTTP/1.1 400 Bad Request\r\n\r\n";
  peer.options().on_frame = [](RogueConnection& c, const Frame& frame) {
    if (frame.type == kHeaders) c.SendGoaway(0, kEnhanceYourCalm, "too_many_pings");
    return frame.type == kPing;
  };
  peer.Start();
  CHECK_THAT(peer.TakeOutput(), ContainsSubstring("400 Bad"));
  auto frames = Exchange(
      peer, std::string(kPreface) + Encode(SettingsFrame({})) + Encode(PingFrame(uint64_t{7})) +
                Encode(HeadersFrame(1, RequestBlock(), kEndHeaders | kEndStream)));
  REQUIRE(frames.size() ==
          2);  // no PING ACK, no answer: the GOAWAY said that the stream is not processed
  CHECK(frames[0].has(kAck));
  CHECK(frames[1].type == kGoaway);
  CHECK(peer.request(1)->ignored);
  CHECK(peer.CountFrames(kPing) == 1);
}

TEST_CASE("Rogue: answers of every kind") {
  RogueConnection peer;
  RogueAnswer answer;
  peer.options().handler = [&](const RogueRequest&) { return answer; };
  std::vector<uint8_t> expected;
  SECTION("refused") {
    answer = RogueAnswer::Refused();
    expected = {kRstStream};
  }
  SECTION("silence") { answer = RogueAnswer::Silence(); }
  SECTION("1xx") {
    answer = {.informational = {{100, {}}, {103, {{"link", "a"}}}}};
    expected = {kHeaders, kHeaders, kHeaders};
  }
  SECTION("cut") {
    answer = {.body = "half", .end = false, .reset = kInternalError};
    expected = {kHeaders, kData, kRstStream};
  }
  SECTION("pieces") {
    answer = {.body = "abc", .piece = 1};
    expected = {kHeaders, kData, kData, kData};
  }
  SECTION("gRPC") {
    answer = RogueAnswer::Grpc("m");
    expected = {kHeaders, kData, kHeaders};
  }
  SECTION("a head that needs CONTINUATION") {
    answer = {.headers = {{"big", std::string(40000, 'x')}}};
    expected = {kHeaders, kContinuation, kContinuation};
  }
  Exchange(peer, Hello());
  std::vector<uint8_t> types;
  for (const Frame& frame :
       Exchange(peer, Encode(HeadersFrame(1, RequestBlock(), kEndHeaders | kEndStream)))) {
    types.push_back(frame.type);
  }
  CHECK(types == expected);
}

// nghttp2 as the judge of whether the default behaviour is right.
struct Judge {
  explicit Judge(RogueConnection& with) : peer(with) {
    nghttp2_session_callbacks* callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks,
        [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* self) {
          static_cast<Judge*>(self)->bodies[id].append(reinterpret_cast<const char*>(data), size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, int32_t id, uint32_t code, void* self) {
          static_cast<Judge*>(self)->closed[id] = code;
          return 0;
        });
    nghttp2_session_client_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Judge() { nghttp2_session_del(session); }

  int32_t Post(std::string* body) {
    auto nv = [](std::string_view name, std::string_view value) {
      return nghttp2_nv{const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(name.data())),
                        const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(value.data())),
                        name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
    };
    const nghttp2_nv head[] = {nv(":method", "POST"), nv(":scheme", "http"), nv(":path", "/"),
                               nv(":authority", "a")};
    nghttp2_data_provider provider;
    provider.source.ptr = body;
    provider.read_callback = [](nghttp2_session*, int32_t, uint8_t* to, size_t size,
                                uint32_t* flags, nghttp2_data_source* source, void*) -> ssize_t {
      auto* from = static_cast<std::string*>(source->ptr);
      size = std::min(size, from->size());
      from->copy(reinterpret_cast<char*>(to), size);
      from->erase(0, size);
      if (from->empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(size);
    };
    return nghttp2_submit_request(session, nullptr, head, std::size(head), &provider, nullptr);
  }
  void Run() {
    for (;;) {
      const uint8_t* data;
      const ssize_t size = nghttp2_session_mem_send(session, &data);
      REQUIRE(size >= 0);
      peer.Receive({reinterpret_cast<const char*>(data), static_cast<size_t>(size)});
      const std::string answer = peer.TakeOutput();
      if (size == 0 && answer.empty()) return;
      REQUIRE(nghttp2_session_mem_recv(session, reinterpret_cast<const uint8_t*>(answer.data()),
                                       answer.size()) == static_cast<ssize_t>(answer.size()));
    }
  }
  RogueConnection& peer;
  nghttp2_session* session;
  std::map<int32_t, std::string> bodies;
  std::map<int32_t, uint32_t> closed;
};

TEST_CASE("Rogue: nghttp2 finds nothing wrong with it, nor it with nghttp2") {
  RogueConnection peer;
  const uint32_t window = GENERATE(1u, 100u, 65535u, 1000000u);
  peer.options().settings = {{kMaxConcurrentStreams, 2}, {kInitialWindowSize, window}};
  Judge judge(peer);
  std::vector<std::string> bodies(5);
  for (size_t i = 0; i < bodies.size(); ++i)
    bodies[i] = std::string(window < 100 ? 50 : 200'000, static_cast<char>('a' + i));
  std::vector<std::string> sent = bodies;
  for (std::string& body : sent) judge.Post(&body);
  judge.Run();
  CHECK(judge.closed.size() == 5);
  for (size_t i = 0; i < bodies.size(); ++i)
    CHECK(judge.bodies[static_cast<int32_t>(2 * i + 1)] == bodies[i]);
  CHECK(peer.violations() == std::vector<std::string>{});
  // nghttp2 opens many before it has seen the limit, and refuses none of them.
  CHECK(peer.open_streams() == 0);
}

}  // namespace
}  // namespace weft::inline v0::testing
