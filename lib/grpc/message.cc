#include "grpc/message.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/message_lite.h"
#include "grpc/codec.h"
#include "grpc/frame_input.h"

namespace weft::inline v0::grpc {
namespace {

Encoding EncodingOf(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      break;
    case Compression::kGzip:
      return Encoding::kGzip;
    case Compression::kDeflate:
      return Encoding::kDeflate;
  }
  return Encoding::kIdentity;
}

absl::Status TooLarge(size_t size, size_t limit) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the message to be sent has ", size, " bytes, and the limit is ", limit));
}

}  // namespace

absl::Status Outgoing::AppendTo(std::string& out, Compression compression,
                                const Context* context) const {
  const size_t size = message_ != nullptr ? message_->ByteSizeLong() : bytes_.size();
  size_t limit = std::numeric_limits<uint32_t>::max();
  if (message_ != nullptr) limit = std::numeric_limits<int32_t>::max();  // protobuf's own
  if (context != nullptr) limit = std::min(limit, context->max_request_bytes);
  if (size > limit) return TooLarge(size, limit);

  const size_t start = out.size();
  out.resize(start + kPrefixBytes + size);
  char* const place = out.data() + start + kPrefixBytes;
  if (message_ == nullptr) {
    bytes_.copy(place, size);
  } else {
    message_->SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(place));
  }
  WritePrefix(out.data() + start, false, static_cast<uint32_t>(size));
  if (compression == Compression::kNone) return absl::OkStatus();

  std::string small(kPrefixBytes, '\0');
  absl::Status status =
      Compress(EncodingOf(compression), std::string_view(out).substr(start + kPrefixBytes), small);
  if (!status.ok()) return status;
  if (small.size() >= kPrefixBytes + size) return absl::OkStatus();  // it would not help
  WritePrefix(small.data(), true, static_cast<uint32_t>(small.size() - kPrefixBytes));
  out.replace(start, std::string::npos, small);
  return absl::OkStatus();
}

absl::Status Incoming::Take(const Frame& frame, std::optional<std::string_view> grpc_encoding,
                            size_t max_bytes) const {
  const absl::StatusOr<Encoding> encoding = EncodingOfMessage(frame.compressed, grpc_encoding);
  if (!encoding.ok()) return encoding.status();
  absl::Span<const std::string_view> pieces = frame.pieces;
  std::string inflated;
  std::string_view inflated_view;
  if (*encoding != Encoding::kIdentity) {
    absl::StatusOr<std::string> bytes = Decompress(*encoding, frame.pieces, max_bytes);
    if (!bytes.ok()) return bytes.status();
    inflated = *std::move(bytes);
    inflated_view = inflated;
    pieces = inflated.empty() ? absl::Span<const std::string_view>()
                              : absl::Span<const std::string_view>(&inflated_view, 1);
  }
  if (message_ == nullptr) {
    if (bytes_ == nullptr) return absl::OkStatus();
    bytes_->clear();
    for (const std::string_view piece : pieces) bytes_->append(piece);
    return absl::OkStatus();
  }
  bool parsed;
  if (pieces.size() == 1 && pieces[0].size() <= std::numeric_limits<int32_t>::max()) {
    parsed = message_->ParseFromArray(pieces[0].data(), static_cast<int>(pieces[0].size()));
  } else {
    FrameInput input(pieces);
    parsed = message_->ParseFromZeroCopyStream(&input);
  }
  if (parsed) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("sent a message that is no ", message_->GetTypeName()));
}

}  // namespace weft::inline v0::grpc
