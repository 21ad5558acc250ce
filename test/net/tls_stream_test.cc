// The bytes: pieces of every size, blocking, ends, and messages that are no data.
#include <openssl/ssl.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "net/tls_harness.h"
#include "net/tls_stream.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using net::IoResult;
using std::chrono::seconds;

const TestCertificate& Ca() {
  static const TestCertificate ca = MakeCa("Weft Test CA");
  return ca;
}

const TestCertificate& Server() {
  static const TestCertificate server = MakeCertificate({.dns_names = {kTlsName}}, &Ca());
  return server;
}

std::string Bytes(size_t size, uint64_t seed = 1) {
  base::Random random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random.Next());
  return bytes;
}

TEST_CASE("tls: bytes go both ways whole, whatever the pieces") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsHarness harness({.certificate = Server(), .max_version = version});
    WEFT_SEED_INFO(harness.env());
    size_t size = 300'000;
    SECTION("as they come") {}
    SECTION("one byte at a time arrives") {
      size = 5'000;
      harness.host().link.chunk = 1;
    }
    SECTION("seven bytes at a time are moved") {
      size = 50'000;
      harness.host().link.max_read = harness.host().link.max_write = 7;
    }
    SECTION("every write blocks") {
      harness.host().link.max_write = 1'000;
      harness.host().link.block_between_writes = true;
    }
    SECTION("small buffers on the way") {
      harness.host().link.send_buffer = 3'000;
      harness.host().link.receive_buffer = 2'000;
    }
    SECTION("small reads") { harness.read_size = 13; }
    SECTION("large reads") { harness.read_size = 1 << 20; }
    SECTION("edges without need") {
      harness.host().link.spurious_edges = true;
      harness.host().link.chunk = 1'000;
    }
    REQUIRE(harness.Connect(Ca()));
    const std::string there = Bytes(size, 1), back = Bytes(size, 2);
    harness.owner().Send(there);
    harness.server().Write(back);
    REQUIRE(harness.env().RunUntil(
        [&] {
          return harness.server().received().size() == size &&
                 harness.owner().received().size() == size;
        },
        seconds(60)));
    CHECK(harness.server().received() == there);
    CHECK(harness.owner().received() == back);
    CHECK(harness.owner().failure().ok());
  }
}

TEST_CASE("tls: random pieces, sizes and interruptions") {
  base::Random random(TestSeed());
  for (int round = 0; round < 30; ++round) {
    TlsHarness harness({.certificate = Server(),
                        .max_version = random.Below(2) ? TLS1_2_VERSION : TLS1_3_VERSION});
    WEFT_SEED_INFO(harness.env());
    INFO("round " << round);
    LinkOptions& link = harness.host().link;
    link.chunk = random.Below(2) ? 0 : 1 + random.Below(3'000);
    link.max_read = random.Below(2) ? 0 : 1 + random.Below(20'000);
    link.max_write = random.Below(2) ? 0 : 1 + random.Below(20'000);
    link.send_buffer = 1 + random.Below(40'000);
    link.receive_buffer = 1 + random.Below(40'000);
    link.block_between_writes = random.Below(2) == 0;
    link.spurious_edges = random.Below(2) == 0;
    harness.read_size = 1 + random.Below(40'000);
    REQUIRE(harness.Connect(Ca()));
    std::string there, back;
    for (int i = 0; i < 20; ++i) {
      const std::string out = Bytes(random.Below(20'000), random.Next());
      const std::string in = Bytes(random.Below(20'000), random.Next());
      there += out;
      back += in;
      harness.owner().Send(out);
      harness.server().Write(in);
      if (random.Below(4) == 0) harness.owner().Pause();
      if (random.Below(3) == 0) harness.server().stream().StopReading();
      harness.env().RunFor(base::MonoDuration(random.Below(2'000'000)));
      harness.owner().Resume();
      harness.server().stream().ResumeReading();
    }
    REQUIRE(harness.env().RunUntil(
        [&] {
          return harness.server().received().size() == there.size() &&
                 harness.owner().received().size() == back.size();
        },
        seconds(60)));
    CHECK(harness.server().received() == there);
    CHECK(harness.owner().received() == back);
  }
}

TEST_CASE("tls: a write that blocked may be repeated shorter or longer, with the same bytes") {
  for (const size_t retry : {size_t{1}, size_t{100}, size_t{5'000}, size_t{20'000}}) {
    TlsHarness harness({.certificate = Server()});
    REQUIRE(harness.Connect(Ca()));
    harness.host().link.send_buffer = 1'000;
    harness.server().stream().StopReading();
    harness.host().link.receive_buffer = 1'000;
    const std::string bytes = Bytes(60'000);
    net::ByteStream& stream = harness.owner().stream();
    size_t sent = 0;
    IoResult result = stream.Write(std::string_view(bytes).substr(0, 5'000));
    CHECK(result.kind == IoResult::Kind::kBlocked);
    harness.server().stream().ResumeReading();
    for (int i = 0; i < 100'000 && sent < bytes.size(); ++i) {
      result = stream.Write(std::string_view(bytes).substr(sent, retry));
      REQUIRE(result.kind != IoResult::Kind::kFailed);
      sent += result.bytes;
      if (result.kind == IoResult::Kind::kBlocked)
        harness.env().RunFor(std::chrono::microseconds(200));
    }
    harness.Run();
    CHECK(harness.server().received() == bytes);
  }
}

TEST_CASE("tls: an orderly end is an end, the bytes before it come first") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsHarness harness({.certificate = Server(), .max_version = version});
    REQUIRE(harness.Connect(Ca()));
    harness.server().Write("last words");
    harness.server().Close();
    harness.Run();
    CHECK(harness.owner().received() == "last words");
    CHECK(harness.owner().ended());
    CHECK(harness.owner().failure().ok());
  }
}

TEST_CASE("tls: an end without close_notify is a failure, the bytes before it come first") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsHarness harness({.certificate = Server(), .max_version = version});
    REQUIRE(harness.Connect(Ca()));
    harness.server().Write("last words");
    harness.server().stream().CloseWrite();
    harness.Run();
    CHECK(harness.owner().received() == "last words");
    CHECK(!harness.owner().ended());
    CHECK(harness.owner().failure().code() == absl::StatusCode::kUnavailable);
    CHECK(harness.owner().error() == "closed the connection without TLS close_notify");
    char byte;
    CHECK(harness.owner().stream().Read(&byte, 1).status == harness.owner().failure());
    CHECK(harness.owner().stream().Write("x").status == harness.owner().failure());
  }
}

TEST_CASE("tls: a reset is the transport's failure") {
  TlsHarness harness({.certificate = Server()});
  REQUIRE(harness.Connect(Ca()));
  harness.server().stream().Reset();
  harness.Run();
  CHECK(harness.owner().failure().code() == absl::StatusCode::kUnavailable);
  CHECK_THAT(harness.owner().error(), ContainsSubstring("reset"));
}

TEST_CASE("tls: destroying the stream says close_notify, and never waits") {
  TlsHarness harness({.certificate = Server()});
  SECTION("when it can") {
    REQUIRE(harness.Connect(Ca()));
    harness.DropOwner();
    harness.Run();
    CHECK(harness.server().ended());
    CHECK(harness.server().error() == "");
  }
  SECTION("when a record is half sent") {
    REQUIRE(harness.Connect(Ca()));
    harness.host().link.send_buffer = harness.host().link.receive_buffer = 1'000;
    harness.server().stream().StopReading();
    harness.owner().Send(Bytes(10'000));
    CHECK(harness.owner().unsent() > 0);
    harness.DropOwner();
    harness.server().stream().ResumeReading();
    harness.Run();
    CHECK(!harness.server().ended());
  }
  CHECK(harness.host().stats.open == 0);
}

TEST_CASE("tls: a changed byte in a record ends the connection") {
  TlsHarness harness({.certificate = Server()});
  REQUIRE(harness.Connect(Ca()));
  harness.server().stream().Write(std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x'));
  harness.Run();
  CHECK(harness.owner().failure().code() == absl::StatusCode::kUnavailable);
  CHECK_THAT(harness.owner().error(), ContainsSubstring("broke TLS: "));
  CHECK(harness.owner().received() == "");
}

TEST_CASE("tls: renegotiation ends the connection") {
  TlsHarness harness({.certificate = Server(), .max_version = TLS1_2_VERSION});
  REQUIRE(harness.Connect(Ca()));
  REQUIRE(harness.server().AskForRenegotiation());
  harness.Run();
  CHECK(harness.owner().failure().code() == absl::StatusCode::kUnavailable);
  CHECK(harness.owner().error() == "asked for a TLS renegotiation");
}

TEST_CASE("tls: a few key updates and tickets are nothing special") {
  TlsHarness harness({.certificate = Server()});
  REQUIRE(harness.Connect(Ca()));
  for (int i = 0; i < 5; ++i) {
    REQUIRE(harness.server().SendKeyUpdate(true));
    REQUIRE(harness.server().SendTicket());
    harness.server().Write("x");
    harness.Run();
    harness.owner().Send("y");
    harness.Run();
  }
  CHECK(harness.owner().received() == "xxxxx");
  CHECK(harness.server().received() == "yyyyy");
  CHECK(harness.server().client_key_updates() == 5);
  CHECK(harness.owner().failure().ok());
}

TEST_CASE("tls: the answer to a key update survives a blocked transport") {
  TlsHarness harness({.certificate = Server()});
  REQUIRE(harness.Connect(Ca()));
  harness.host().link.max_write = 1;
  harness.host().link.block_between_writes = true;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(harness.server().SendKeyUpdate(true));
    harness.Run();
    harness.owner().Send("hello");
    harness.Run();
  }
  CHECK(harness.server().received() == "hellohellohello");
  CHECK(harness.server().client_key_updates() == 3);
}

TEST_CASE("tls: floods of messages that are no data end the connection") {
  const auto flood = [](auto send, const char* says) {
    TlsHarness harness({.certificate = Server()});
    REQUIRE(harness.Connect(Ca()));
    for (int i = 0; i < 100; ++i) send(harness.server());
    harness.Run();
    CHECK(harness.owner().failure().code() == absl::StatusCode::kUnavailable);
    CHECK_THAT(harness.owner().error(), ContainsSubstring(says));
  };
  flood([](TlsServer& server) { server.SendKeyUpdate(false); }, "flooded the connection");
  flood([](TlsServer& server) { server.SendKeyUpdate(true); }, "flooded the connection");
  flood([](TlsServer& server) { server.SendTicket(); }, "flooded the connection");
  // A byte of data with each makes it no better.
  flood([](TlsServer& server) { server.SendKeyUpdate(false), server.Write("x"); },
        "flooded the connection");
}

TEST_CASE("tls: forged messages after the handshake end the connection") {
  struct Case {
    const char* what;
    int type;
    std::string bytes;
    int count;
    const char* says;
  };
  const std::string certificate_request(
      "\x0d\x00\x00\x0b\x00\x00\x08\x00\x0d\x00\x04\x00\x02\x04\x03", 15);
  for (const Case& one :
       {Case{"certificate request", SSL3_RT_HANDSHAKE, certificate_request, 1,
             "unexpected message"},
        Case{"hello request", SSL3_RT_HANDSHAKE, std::string(4, '\0'), 1, "unexpected message"},
        Case{"finished", SSL3_RT_HANDSHAKE, std::string("\x14\0\0\0", 4), 1, "unexpected message"},
        Case{"key update of a bad kind", SSL3_RT_HANDSHAKE, std::string("\x18\0\0\1\7", 5), 1,
             "bad key update"},
        Case{"unknown handshake message", SSL3_RT_HANDSHAKE, std::string("\x63\0\0\0", 4), 1,
             "unexpected message"},
        Case{"ticket cut short", SSL3_RT_HANDSHAKE, std::string("\4\0\0\2\0\0", 6), 1,
             "length mismatch"},
        Case{"alert", SSL3_RT_ALERT, std::string("\2\x28", 2), 1,
             "sent the TLS alert \"handshake failure\""},
        Case{"unknown record", 99, "x", 1, "broke TLS: "},
        Case{"empty data", SSL3_RT_APPLICATION_DATA, "", 1'000, "broke TLS: "},
        Case{"user cancelled alerts", SSL3_RT_ALERT, std::string("\1\x5a", 2), 1'000,
             "too many warn alerts"}}) {
    INFO(one.what);
    TlsHarness harness({.certificate = Server(), .tickets = 0});
    REQUIRE(harness.Connect(Ca()));
    for (int i = 0; i < one.count; ++i) harness.server().SendForged(one.type, one.bytes);
    harness.Run();
    CHECK(harness.owner().failure().code() == absl::StatusCode::kUnavailable);
    CHECK_THAT(harness.owner().error(), ContainsSubstring(one.says));
    CHECK(harness.owner().received() == "");
  }
}

TEST_CASE("tls: a forged record of data is read, so the forger works") {
  TlsHarness harness({.certificate = Server(), .tickets = 0});
  REQUIRE(harness.Connect(Ca()));
  harness.server().SendForged(SSL3_RT_APPLICATION_DATA, "x");
  harness.server().SendForged(SSL3_RT_APPLICATION_DATA, "y");
  harness.Run();
  CHECK(harness.owner().received() == "xy");
}

TEST_CASE("tls: a flood of messages within the handshake ends it") {
  TlsHarness harness({.certificate = Server()});
  harness.on_accept = [](SimServerStream stream) {
    for (int i = 0; i < 10'000; ++i)
      stream.Write(std::string("\x16\3\3\0\4\0\0\0\0", 9));  // hello requests
  };
  REQUIRE(!harness.Connect(Ca()));
  CHECK(harness.status().code() == absl::StatusCode::kUnavailable);
  CHECK(harness.error() == "flooded the TLS handshake with messages");
}

TEST_CASE("tls: messages in proportion to the data are no flood") {
  TlsHarness harness({.certificate = Server()});
  REQUIRE(harness.Connect(Ca()));
  const std::string block = Bytes(64 * 1024);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(harness.server().SendKeyUpdate(false));
    harness.server().Write(block);
    harness.Run();
  }
  CHECK(harness.owner().failure().ok());
  CHECK(harness.owner().received().size() == 100 * block.size());
}

TEST_CASE("tls: nothing is told after SetWatcher(null), and a new watcher begins with an edge") {
  TlsHarness harness({.certificate = Server()});
  REQUIRE(harness.Connect(Ca()));
  net::ByteStream& stream = harness.owner().stream();
  stream.SetWatcher(nullptr);
  harness.server().Write("x");
  harness.Run();
  CHECK(harness.owner().received() == "");
  stream.SetWatcher(&harness.owner());
  harness.Run();
  CHECK(harness.owner().received() == "x");
}

}  // namespace
}  // namespace weft::inline v0::testing
