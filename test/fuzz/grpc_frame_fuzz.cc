// A body of gRPC in pieces of any size: the deframer against a plain reading of the whole body, and
// decompression of what is in it, below a small limit.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/struct.pb.h"
#include "grpc/codec.h"
#include "grpc/frame_input.h"
#include "grpc/framing.h"

namespace {

using weft::grpc::Deframer;
using weft::grpc::Encoding;
using weft::grpc::Frame;
using weft::grpc::kPrefixBytes;

constexpr size_t kMaxInflated = 4096;

void Require(bool condition) {
  if (!condition) std::abort();
}

struct Plain {
  std::vector<std::pair<bool, std::string>> messages;
  absl::StatusCode end = absl::StatusCode::kOk;
};

// What a body is, read in one go.
Plain ReadPlainly(std::string_view body, size_t limit) {
  Plain plain;
  while (!body.empty()) {
    plain.end = absl::StatusCode::kInternal;
    if (body.size() < kPrefixBytes) return plain;
    size_t size = 0;
    for (size_t i = 1; i < kPrefixBytes; ++i) {
      size = size << 8 | static_cast<unsigned char>(body[i]);
    }
    const auto flag = static_cast<unsigned char>(body[0]);
    if (flag > 1) return plain;
    if (size > limit) {
      plain.end = absl::StatusCode::kResourceExhausted;
      return plain;
    }
    body.remove_prefix(kPrefixBytes);
    if (body.size() < size) return plain;
    plain.messages.emplace_back(flag == 1, body.substr(0, size));
    body.remove_prefix(size);
    plain.end = absl::StatusCode::kOk;
  }
  return plain;
}

void RequireDecodesSanely(const Frame& frame, const std::string& bytes) {
  for (const Encoding encoding : {Encoding::kIdentity, Encoding::kDeflate, Encoding::kGzip}) {
    const auto message = weft::grpc::Decompress(encoding, frame.pieces, kMaxInflated);
    if (!message.ok()) {
      Require(message.status().code() == absl::StatusCode::kInternal ||
              message.status().code() == absl::StatusCode::kResourceExhausted);
      for (const char c : message.status().message()) Require(c >= 0x20 && c < 0x7f);
      continue;
    }
    Require(message->size() <= kMaxInflated);
    Require(encoding != Encoding::kIdentity || *message == bytes);
  }
  for (const Encoding encoding : {Encoding::kDeflate, Encoding::kGzip}) {
    std::string compressed;
    Require(weft::grpc::Compress(encoding, frame.pieces, compressed).ok());
    const std::string_view whole = compressed;
    const auto back =
        weft::grpc::Decompress(encoding, absl::MakeConstSpan(&whole, 1), bytes.size());
    Require(back.ok() && *back == bytes);
  }
  // In pieces it parses as it does in one.
  google::protobuf::Struct in_pieces;
  google::protobuf::Struct in_one;
  weft::grpc::FrameInput input(frame.pieces);
  const bool parsed = in_pieces.ParsePartialFromZeroCopyStream(&input);
  Require(parsed == in_one.ParsePartialFromString(bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view body(reinterpret_cast<const char*>(data), size);
  if (body.size() < 2) return 0;
  // Two bytes say how the rest is cut, and what the limit is.
  const auto cut = static_cast<uint8_t>(body[0]);
  const size_t limit = static_cast<uint8_t>(body[1]) * size_t{16};
  body.remove_prefix(2);

  const Plain plain = ReadPlainly(body, limit);
  Deframer deframer(limit);
  size_t taken = 0;
  const auto take = [&](size_t leave) {
    while (deframer.ready() > leave) {
      const std::optional<Frame> frame = deframer.Next();
      Require(frame.has_value() && taken < plain.messages.size());
      const auto& [compressed, bytes] = plain.messages[taken++];
      Require(frame->compressed == compressed && frame->size == bytes.size());
      Require(weft::grpc::Join(*frame) == bytes);
      RequireDecodesSanely(*frame, bytes);
    }
  };
  absl::Status status;
  for (size_t step = cut; !body.empty(); step = step * 5 + 3) {
    const std::string piece(body.substr(0, cut == 0 ? 1 : step % 600));
    body.remove_prefix(piece.size());
    const absl::Status added = deframer.Add(piece);
    Require(status.ok() || added == status);
    status = added;
    take(cut & 3);
  }
  take(0);
  Require(!deframer.Next().has_value());
  Require(taken == plain.messages.size());
  Require(deframer.CheckEnd().code() == plain.end);
  Require(deframer.mid_message() == (plain.end != absl::StatusCode::kOk));
  Require(status.ok() || status.code() == plain.end);
  return 0;
}
