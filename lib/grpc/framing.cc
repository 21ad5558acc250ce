#include "grpc/framing.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::inline v0::grpc {
namespace {

// A peer may send a body byte by byte, and a string for each byte would be 32 times what is
// charged to its flow-control window. Pieces up to kSmall are copied behind the piece before them,
// if it is small too or has the room.
constexpr size_t kSmall = 256;
constexpr size_t kSmallWhole = 4096;
// Used-up places at the front of the list that are worth moving the others.
constexpr size_t kWorthMoving = 16;

size_t SizeOf(const unsigned char* prefix) {
  return size_t{prefix[1]} << 24 | size_t{prefix[2]} << 16 | size_t{prefix[3]} << 8 |
         size_t{prefix[4]};
}

}  // namespace

void WritePrefix(char* to, bool compressed, uint32_t size) {
  to[0] = compressed ? 1 : 0;
  for (int i = 1; i <= 4; ++i) to[i] = static_cast<char>(size >> (32 - 8 * i) & 0xff);
}

std::string Join(const Frame& frame) {
  std::string joined;
  joined.reserve(frame.size);
  for (const std::string_view piece : frame.pieces) joined.append(piece);
  return joined;
}

absl::Status Deframer::Add(std::string piece) {
  views_.clear();
  Release();
  if (!error_.ok()) return error_;
  if (piece.empty()) return absl::OkStatus();
  error_ = Scan(piece);
  // Without a complete message nobody will ask for these bytes.
  if (!error_.ok() && ready_ == 0) {
    pieces_.clear();
    released_ = front_ = offset_ = 0;
    return error_;
  }
  std::string* last = pieces_.empty() ? nullptr : &pieces_.back();
  if (last != nullptr && piece.size() <= kSmall &&
      (last->capacity() - last->size() >= piece.size() || last->size() < kSmallWhole)) {
    last->append(piece);
  } else {
    pieces_.push_back(std::move(piece));
  }
  return error_;
}

absl::Status Deframer::Scan(std::string_view bytes) {
  while (!bytes.empty()) {
    if (message_bytes_left_ > 0) {
      const size_t step = std::min(message_bytes_left_, bytes.size());
      message_bytes_left_ -= step;
      bytes.remove_prefix(step);
      if (message_bytes_left_ == 0) ++ready_;
      continue;
    }
    const size_t step = std::min(kPrefixBytes - prefix_bytes_, bytes.size());
    std::memcpy(prefix_ + prefix_bytes_, bytes.data(), step);
    prefix_bytes_ += step;
    bytes.remove_prefix(step);
    if (prefix_bytes_ < kPrefixBytes) continue;
    if (absl::Status status = CheckPrefix(); !status.ok()) return status;
    prefix_bytes_ = 0;
    message_bytes_left_ = SizeOf(prefix_);
    if (message_bytes_left_ == 0) ++ready_;
  }
  return absl::OkStatus();
}

absl::Status Deframer::CheckPrefix() {
  if (prefix_[0] > 1) {
    return absl::InternalError(absl::StrCat("sent a message whose compressed-flag is ",
                                            static_cast<int>(prefix_[0]), ", not 0 or 1"));
  }
  if (const size_t size = SizeOf(prefix_); size > max_message_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "sent a message of ", size, " bytes, above the limit of ", max_message_bytes_, " bytes"));
  }
  return absl::OkStatus();
}

std::optional<Frame> Deframer::Next() {
  views_.clear();
  Release();
  if (ready_ == 0) return std::nullopt;
  --ready_;
  unsigned char prefix[kPrefixBytes];
  for (size_t have = 0; have < kPrefixBytes;) {
    const std::string_view bytes = Take(kPrefixBytes - have);
    std::memcpy(prefix + have, bytes.data(), bytes.size());
    have += bytes.size();
  }
  Frame frame;
  frame.compressed = prefix[0] == 1;
  frame.size = SizeOf(prefix);
  for (size_t left = frame.size; left > 0; left -= views_.back().size()) {
    views_.push_back(Take(left));
  }
  frame.pieces = absl::MakeConstSpan(views_);
  return frame;
}

absl::Status Deframer::CheckEnd() const {
  if (!error_.ok()) return error_;
  if (message_bytes_left_ > 0) {
    const size_t size = SizeOf(prefix_);
    return absl::InternalError(
        absl::StrCat("ended the body inside a message: ", size - message_bytes_left_, " of ", size,
                     " bytes came"));
  }
  if (prefix_bytes_ > 0) {
    return absl::InternalError(absl::StrCat("ended the body inside a message: ", prefix_bytes_,
                                            " of the ", kPrefixBytes, " bytes before it came"));
  }
  return absl::OkStatus();
}

std::string_view Deframer::Take(size_t limit) {
  const std::string_view bytes = std::string_view(pieces_[front_]).substr(offset_, limit);
  offset_ += bytes.size();
  if (offset_ == pieces_[front_].size()) {
    ++front_;
    offset_ = 0;
  }
  return bytes;
}

void Deframer::Release() {
  if (front_ == pieces_.size()) {
    pieces_.clear();
    released_ = front_ = 0;
    return;
  }
  for (; released_ < front_; ++released_) pieces_[released_] = std::string();
  if (front_ >= kWorthMoving && front_ * 2 >= pieces_.size()) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(front_));
    released_ = front_ = 0;
  }
}

}  // namespace weft::inline v0::grpc
