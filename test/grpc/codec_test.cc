#include "grpc/codec.h"

#include <zlib.h>

#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "support/catch.h"

namespace weft::grpc {
namespace {

using absl::StatusCode;
using Catch::Matchers::ContainsSubstring;

constexpr size_t kLimit = size_t{4} << 20;

std::string Compressed(Encoding encoding, const std::string& message) {
  std::string bytes;
  REQUIRE(Compress(encoding, message, bytes).ok());
  return bytes;
}

absl::StatusOr<std::string> Decompressed(Encoding encoding, std::string_view bytes,
                                         size_t max_bytes = kLimit) {
  return Decompress(encoding, absl::MakeConstSpan(&bytes, 1), max_bytes);
}

// Bytes that do not compress.
std::string Noise(size_t size) {
  std::mt19937 random(7);
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
  return bytes;
}

TEST_CASE("names of encodings") {
  for (const Encoding encoding : {Encoding::kIdentity, Encoding::kDeflate, Encoding::kGzip}) {
    CHECK(EncodingByName(EncodingName(encoding)) == encoding);
    CHECK_THAT(kAcceptEncoding, ContainsSubstring(std::string(EncodingName(encoding))));
  }
  for (const char* name : {"", "GZIP", "x-gzip", "snappy", "gzip,deflate", "gzip "}) {
    CHECK_FALSE(EncodingByName(name).has_value());
  }
}

TEST_CASE("messages of any size come back, and are appended to what is there") {
  const Encoding encoding = GENERATE(Encoding::kIdentity, Encoding::kDeflate, Encoding::kGzip);
  for (const size_t size :
       {0, 1, 2, 100, 511, 512, 513, 1023, 1024, 1025, 8191, 32768, 40000, 300000, 1000000}) {
    for (const std::string& message : {std::string(size, 'a'), Noise(size)}) {
      std::string to = "before";
      REQUIRE(Compress(encoding, message, to).ok());
      REQUIRE(to.substr(0, 6) == "before");
      const absl::StatusOr<std::string> back =
          Decompressed(encoding, std::string_view(to).substr(6));
      REQUIRE(back.ok());
      REQUIRE(*back == message);
    }
  }
}

TEST_CASE("gzip and deflate have the formats of their names") {
  CHECK(Compressed(Encoding::kGzip, "message").substr(0, 3) == "\x1f\x8b\x08");
  const std::string zlib = Compressed(Encoding::kDeflate, "message");
  CHECK((zlib[0] & 0x0f) == 8);  // RFC 1950: the method, and a check over both bytes
  CHECK((static_cast<unsigned char>(zlib[0]) * 256 + static_cast<unsigned char>(zlib[1])) % 31 ==
        0);
  // What zlib itself makes, with its largest window.
  const std::string message = Noise(100) + std::string(100'000, 'x');
  std::string made(compressBound(message.size()), '\0');
  uLongf size = made.size();
  REQUIRE(compress(reinterpret_cast<Bytef*>(made.data()), &size,
                   reinterpret_cast<const Bytef*>(message.data()), message.size()) == Z_OK);
  made.resize(size);
  CHECK(Decompressed(Encoding::kDeflate, made).value() == message);
  CHECK(Decompressed(Encoding::kGzip, made).status().code() == StatusCode::kInternal);
}

TEST_CASE("pieces count as one, wherever they are cut") {
  const Encoding encoding = GENERATE(Encoding::kIdentity, Encoding::kDeflate, Encoding::kGzip);
  const std::string message = "a message, a message, a message in pieces";
  const std::string bytes = Compressed(encoding, message);
  const std::string_view all = bytes;
  for (size_t i = 0; i <= bytes.size(); ++i) {
    const std::vector<std::string_view> pieces = {all.substr(0, i), "", all.substr(i), ""};
    const absl::StatusOr<std::string> back = Decompress(encoding, pieces, message.size());
    REQUIRE(back.ok());
    REQUIRE(*back == message);
  }
  const std::string_view whole = message;
  for (size_t i = 0; i <= message.size(); ++i) {
    const std::vector<std::string_view> pieces = {"", whole.substr(0, i), whole.substr(i)};
    std::string to;
    REQUIRE(Compress(encoding, pieces, to).ok());
    REQUIRE(Decompressed(encoding, to).value() == message);
  }
}

TEST_CASE("a message of just the limit passes, one byte more does not") {
  const Encoding encoding = GENERATE(Encoding::kIdentity, Encoding::kDeflate, Encoding::kGzip);
  for (const size_t size : {0, 1, 100, 1024, 1025, 4096, 100'000}) {
    const std::string bytes = Compressed(encoding, std::string(size, 'z'));
    CHECK(Decompressed(encoding, bytes, size).value().size() == size);
    CHECK(Decompressed(encoding, bytes, size + 1).ok());
    if (size == 0) continue;
    const absl::StatusOr<std::string> above = Decompressed(encoding, bytes, size - 1);
    CHECK(above.status().code() == StatusCode::kResourceExhausted);
    CHECK_THAT(std::string(above.status().message()),
               ContainsSubstring("above the limit of " + std::to_string(size - 1) + " bytes"));
  }
}

TEST_CASE("a bomb ends at the limit") {
  const Encoding encoding = GENERATE(Encoding::kDeflate, Encoding::kGzip);
  const std::string bomb = Compressed(encoding, std::string(size_t{64} << 20, '\0'));
  CHECK(bomb.size() < 100'000);
  CHECK(Decompressed(encoding, bomb, 1'000'000).status().code() == StatusCode::kResourceExhausted);
  CHECK(Decompressed(encoding, bomb, 0).status().code() == StatusCode::kResourceExhausted);
}

TEST_CASE("a compressed message cut anywhere is an error") {
  const Encoding encoding = GENERATE(Encoding::kDeflate, Encoding::kGzip);
  for (const std::string& message :
       {std::string(), std::string("some message"), std::string(3'000, 'm')}) {
    const std::string bytes = Compressed(encoding, message);
    for (size_t size = 0; size < bytes.size(); ++size) {
      // At the limit too, where there is no room left for the last bytes to show.
      for (const size_t limit : {kLimit, message.size()}) {
        const absl::StatusOr<std::string> back =
            Decompressed(encoding, bytes.substr(0, size), limit);
        REQUIRE(back.status().code() == StatusCode::kInternal);
        REQUIRE_THAT(std::string(back.status().message()), ContainsSubstring("ends too early"));
      }
    }
  }
}

TEST_CASE("bytes behind the end are an error") {
  const Encoding encoding = GENERATE(Encoding::kDeflate, Encoding::kGzip);
  const std::string bytes = Compressed(encoding, "some message");
  for (const std::string& behind : {std::string(1, '\0'), std::string("garbage"), bytes}) {
    const absl::StatusOr<std::string> joined = Decompressed(encoding, bytes + behind);
    CHECK(joined.status().code() == StatusCode::kInternal);
    CHECK_THAT(std::string(joined.status().message()), ContainsSubstring("bytes follow its end"));
    const std::vector<std::string_view> pieces = {bytes, behind};
    CHECK(Decompress(encoding, pieces, kLimit).status().code() == StatusCode::kInternal);
  }
}

TEST_CASE("garbage and damage are errors that say what zlib found") {
  const Encoding encoding = GENERATE(Encoding::kDeflate, Encoding::kGzip);
  const absl::Status status = Decompressed(encoding, "this is not compressed").status();
  CHECK(status.code() == StatusCode::kInternal);
  CHECK(status.message() == "sent a message that is not " + std::string(EncodingName(encoding)) +
                                ": incorrect header check");
  // The checksum catches what the format does not. (Bits that fill up the last byte mean nothing.)
  const std::string message = "some message, long enough to be damaged";
  const std::string bytes = Compressed(encoding, message);
  const size_t head = encoding == Encoding::kGzip ? 10 : 2;  // gzip's has a time and a system
  for (size_t i = head; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const absl::StatusOr<std::string> back = Decompressed(encoding, damaged);
      REQUIRE((!back.ok() || *back == message));
    }
  }
}

TEST_CASE("a deflate stream with a dictionary or without zlib's frame is an error") {
  CHECK(Decompressed(Encoding::kDeflate, "\x78\xbb\x11\x22\x33\x44more").status().code() ==
        StatusCode::kInternal);
  const std::string zlib = Compressed(Encoding::kDeflate, "some message");
  CHECK(Decompressed(Encoding::kDeflate, zlib.substr(2)).status().code() == StatusCode::kInternal);
}

TEST_CASE("how a message is read by its flag and the grpc-encoding of its body") {
  CHECK(EncodingOfMessage(false, std::nullopt).value() == Encoding::kIdentity);
  CHECK(EncodingOfMessage(false, "gzip").value() == Encoding::kIdentity);
  CHECK(EncodingOfMessage(false, "snappy").value() == Encoding::kIdentity);
  CHECK(EncodingOfMessage(true, "gzip").value() == Encoding::kGzip);
  CHECK(EncodingOfMessage(true, "deflate").value() == Encoding::kDeflate);
  CHECK(EncodingOfMessage(true, std::nullopt).status() ==
        absl::InternalError("sent a compressed message without a grpc-encoding"));
  CHECK(EncodingOfMessage(true, "identity").status() ==
        absl::InternalError("sent a compressed message without a grpc-encoding"));
  CHECK(EncodingOfMessage(true, "sna\nppy").status() ==
        absl::InternalError("sent a compressed message of the grpc-encoding \"sna?ppy\", which it "
                            "was not offered"));
  CHECK(EncodingOfMessage(true, "").status().code() == StatusCode::kInternal);
}

}  // namespace
}  // namespace weft::grpc
