// The length-prefixed message (gRPC over HTTP/2, "Length-Prefixed-Message"): one byte that says
// whether the message is compressed, four with its size, most significant first, then the message.
//
// Messages and the DATA frames of HTTP/2 have nothing to do with each other: a piece of a body may
// end anywhere, the prefix included. The Deframer keeps the pieces as they came and shows a message
// as views of them; what a peer announces is not what is allocated.
#ifndef WEFT_LIB_GRPC_FRAMING_H_
#define WEFT_LIB_GRPC_FRAMING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace weft::inline v0::grpc {

inline constexpr size_t kPrefixBytes = 5;

// Writes kPrefixBytes bytes.
void WritePrefix(char* to, bool compressed, uint32_t size);

// One message as it came, in views that its Deframer lends.
struct Frame {
  bool compressed = false;
  size_t size = 0;                                 // of all pieces together
  absl::Span<const std::string_view> pieces = {};  // none of them empty; none if size is 0
};

// The bytes of the frame in one string.
std::string Join(const Frame& frame);

class Deframer {
 public:
  // A message above `max_message_bytes` (without its prefix, as it is on the wire) is an error.
  explicit Deframer(size_t max_message_bytes) : max_message_bytes_(max_message_bytes) {}
  Deframer(const Deframer&) = delete;
  Deframer& operator=(const Deframer&) = delete;

  // Takes the next piece of the body, of any size. Looks at every prefix as soon as its five bytes
  // are there:
  //
  // RESOURCE_EXHAUSTED  the message is above the limit; the text has both sizes
  // INTERNAL            the first byte is neither 0 nor 1
  //
  // From then on every Add fails alike and keeps nothing; messages that were complete before the
  // bad one can still be taken. Ends the views of the last Frame.
  absl::Status Add(std::string piece);

  // The next complete message, if there is one. Its views live until the next Add or Next, or until
  // the Deframer goes.
  std::optional<Frame> Next();

  // How many complete messages Next has yet to give.
  size_t ready() const { return ready_; }

  // Whether what came last is a part of a message: a body that ends here was truncated.
  bool mid_message() const { return prefix_bytes_ != 0 || message_bytes_left_ != 0; }

  // OK where a body may end; INTERNAL, with what is missing, where it was truncated.
  absl::Status CheckEnd() const;

 private:
  // Walks over the bytes as they come, ahead of Next, and counts complete messages.
  absl::Status Scan(std::string_view bytes);
  absl::Status CheckPrefix();
  // Lets go of the pieces that the last Frame was the last to need.
  void Release();
  // The next bytes that Next has not shown, at most `limit` of them and all of one piece.
  std::string_view Take(size_t limit);

  const size_t max_message_bytes_;
  absl::Status error_;

  // Of the message that the scan is in. Both are 0 between messages.
  size_t prefix_bytes_ = 0;  // seen, of an incomplete prefix
  size_t message_bytes_left_ = 0;
  unsigned char prefix_[kPrefixBytes] = {};
  size_t ready_ = 0;

  // Pieces before `front_` are used up. Room for one piece and one view, because that is the most
  // common body of all: then nothing is allocated.
  absl::InlinedVector<std::string, 1> pieces_;
  size_t released_ = 0;  // pieces whose bytes are freed
  size_t front_ = 0;
  size_t offset_ = 0;  // into the front piece
  absl::InlinedVector<std::string_view, 2> views_;
};

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_FRAMING_H_
