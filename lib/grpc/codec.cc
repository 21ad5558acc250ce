#include "grpc/codec.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpc/text.h"

namespace weft::inline v0::grpc {
namespace {

constexpr size_t kMinChunk = size_t{1} << 10;
constexpr size_t kMaxChunk = size_t{1} << 18;
constexpr int kMaxWindowBits = 15;
constexpr int kGzipFormat = 16;  // zlib: added to the window's bits

int FormatBits(Encoding encoding) { return encoding == Encoding::kGzip ? kGzipFormat : 0; }

size_t TotalSize(absl::Span<const std::string_view> pieces) {
  size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  return size;
}

// Gives zlib the next bytes of `pieces`; takes them off. False at the end.
class Input {
 public:
  explicit Input(absl::Span<const std::string_view> pieces) : pieces_(pieces) { SkipEmpty(); }

  bool at_end() const { return next_ == pieces_.size(); }
  void Feed(z_stream& stream) {
    const std::string_view rest = pieces_[next_].substr(offset_);
    // zlib does not write there; its interface is older than const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    stream.avail_in = static_cast<uInt>(
        std::min(rest.size(), static_cast<size_t>(std::numeric_limits<uInt>::max())));
    offset_ += stream.avail_in;
    SkipEmpty();
  }

 private:
  void SkipEmpty() {
    while (next_ < pieces_.size() && offset_ == pieces_[next_].size()) {
      ++next_;
      offset_ = 0;
    }
  }

  const absl::Span<const std::string_view> pieces_;
  size_t next_ = 0;
  size_t offset_ = 0;
};

// Memory that grows chunk by chunk and never above a limit, without moving what is there.
class Output {
 public:
  Output(size_t first_chunk, size_t limit)
      : chunk_(std::clamp(first_chunk, kMinChunk, kMaxChunk)), left_(limit) {}

  // Offers zlib the rest of the last chunk or a new one. Once the limit is reached: one byte that
  // is not kept, in which zlib shows whether there is more.
  void Offer(z_stream& stream) {
    if (left_ == 0) {
      at_limit_ = true;
      stream.next_out = &beyond_;
      stream.avail_out = 1;
      return;
    }
    const size_t size = std::min(chunk_, left_);
    chunks_.push_back({std::make_unique_for_overwrite<Bytef[]>(size), size});
    left_ -= size;
    chunk_ = std::min(chunk_ * 2, kMaxChunk);
    stream.next_out = chunks_.back().bytes.get();
    stream.avail_out = static_cast<uInt>(size);
  }
  bool above_limit(const z_stream& stream) const { return at_limit_ && stream.avail_out == 0; }

  // All that was written.
  std::string Take(const z_stream& stream) {
    const size_t unused = at_limit_ ? 0 : stream.avail_out;
    std::string whole;
    size_t size = 0;
    for (const Chunk& chunk : chunks_) size += chunk.size;
    whole.reserve(size - unused);
    if (!chunks_.empty()) chunks_.back().size -= unused;
    for (Chunk& chunk : chunks_) {
      whole.append(reinterpret_cast<const char*>(chunk.bytes.get()), chunk.size);
      chunk.bytes.reset();
    }
    return whole;
  }

 private:
  struct Chunk {
    std::unique_ptr<Bytef[]> bytes;
    size_t size;
  };
  std::vector<Chunk> chunks_;
  size_t chunk_;
  size_t left_;
  bool at_limit_ = false;
  Bytef beyond_ = 0;
};

absl::Status NoMemory() { return absl::ResourceExhaustedError("no memory for zlib"); }

absl::Status Bad(Encoding encoding, std::string_view why) {
  return absl::InternalError(absl::StrCat(
      "sent a message that is not ", std::string(EncodingName(encoding)), ": ", std::string(why)));
}

absl::StatusOr<std::string> Inflate(Encoding encoding, absl::Span<const std::string_view> pieces,
                                    size_t max_bytes) {
  z_stream stream = {};
  if (inflateInit2(&stream, kMaxWindowBits + FormatBits(encoding)) != Z_OK) return NoMemory();
  struct End {
    z_stream& stream;
    ~End() { inflateEnd(&stream); }
  } const end{stream};

  Input input(pieces);
  Output output(TotalSize(pieces) * 4, max_bytes);
  for (int result = Z_OK; result != Z_STREAM_END;) {
    if (stream.avail_in == 0 && !input.at_end()) input.Feed(stream);
    if (stream.avail_out == 0) output.Offer(stream);
    result = inflate(&stream, Z_NO_FLUSH);
    if (output.above_limit(stream)) {
      return absl::ResourceExhaustedError(absl::StrCat("sent a message that is above the limit of ",
                                                       max_bytes, " bytes when decompressed"));
    }
    if (result == Z_MEM_ERROR) return NoMemory();
    // Z_BUF_ERROR only says that there was no progress, for want of input or room.
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return Bad(encoding, stream.msg == nullptr ? "bad data" : stream.msg);
    }
    // zlib has room left and wants input, which there is not.
    if (result != Z_STREAM_END && stream.avail_out > 0 && stream.avail_in == 0 && input.at_end()) {
      return Bad(encoding, "it ends too early");
    }
  }
  if (stream.avail_in > 0 || !input.at_end()) return Bad(encoding, "bytes follow its end");
  return output.Take(stream);
}

// The smallest window that holds the whole message: zlib allocates and clears by it, 256 KiB for
// the largest, which is what most small messages would cost.
int WindowBits(size_t size) {
  int bits = 9;  // zlib's 8 is not what it says.
  while (bits < kMaxWindowBits && (size_t{1} << bits) < size) ++bits;
  return bits;
}

absl::Status Deflate(Encoding encoding, absl::Span<const std::string_view> pieces,
                     std::string& to) {
  z_stream stream = {};
  const int bits = WindowBits(TotalSize(pieces));
  const int memory_level = std::max(1, bits - 7);  // the hash as large as the window; 8 is usual
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, bits + FormatBits(encoding),
                   memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
    return NoMemory();
  }
  Input input(pieces);
  Bytef buffer[size_t{8} << 10];
  for (int result = Z_OK; result != Z_STREAM_END;) {
    if (stream.avail_in == 0 && !input.at_end()) input.Feed(stream);
    stream.next_out = buffer;
    stream.avail_out = sizeof(buffer);
    result = deflate(&stream, input.at_end() ? Z_FINISH : Z_NO_FLUSH);
    to.append(reinterpret_cast<const char*>(buffer), sizeof(buffer) - stream.avail_out);
  }
  deflateEnd(&stream);
  return absl::OkStatus();
}

}  // namespace

std::string_view EncodingName(Encoding encoding) {
  switch (encoding) {
    case Encoding::kIdentity:
      return "identity";
    case Encoding::kDeflate:
      return "deflate";
    case Encoding::kGzip:
      return "gzip";
  }
  return "identity";
}

std::optional<Encoding> EncodingByName(std::string_view name) {
  for (const Encoding encoding : {Encoding::kIdentity, Encoding::kDeflate, Encoding::kGzip}) {
    if (name == EncodingName(encoding)) return encoding;
  }
  return std::nullopt;
}

absl::StatusOr<Encoding> EncodingOfMessage(bool compressed,
                                           std::optional<std::string_view> grpc_encoding) {
  if (!compressed) return Encoding::kIdentity;
  if (!grpc_encoding.has_value() || *grpc_encoding == EncodingName(Encoding::kIdentity)) {
    return absl::InternalError("sent a compressed message without a grpc-encoding");
  }
  const std::optional<Encoding> encoding = EncodingByName(*grpc_encoding);
  if (encoding.has_value()) return *encoding;
  constexpr size_t kMaxShown = 32;
  return absl::InternalError(absl::StrCat("sent a compressed message of the grpc-encoding \"",
                                          Printable(*grpc_encoding, kMaxShown),
                                          "\", which it was not offered"));
}

absl::Status Compress(Encoding encoding, std::string_view message, std::string& to) {
  return Compress(encoding, absl::MakeConstSpan(&message, 1), to);
}

absl::Status Compress(Encoding encoding, absl::Span<const std::string_view> pieces,
                      std::string& to) {
  if (encoding != Encoding::kIdentity) return Deflate(encoding, pieces, to);
  for (const std::string_view piece : pieces) to.append(piece);
  return absl::OkStatus();
}

absl::StatusOr<std::string> Decompress(Encoding encoding, absl::Span<const std::string_view> pieces,
                                       size_t max_bytes) {
  if (encoding != Encoding::kIdentity) return Inflate(encoding, pieces, max_bytes);
  const size_t size = TotalSize(pieces);
  if (size > max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "sent a message of ", size, " bytes, above the limit of ", max_bytes, " bytes"));
  }
  std::string message;
  message.reserve(size);
  for (const std::string_view piece : pieces) message.append(piece);
  return message;
}

}  // namespace weft::inline v0::grpc
