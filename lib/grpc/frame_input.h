// A message's pieces as protobuf's input stream: parses without joining them first.
//
//   FrameInput input(frame.pieces);
//   if (!message.ParseFromZeroCopyStream(&input)) ...
#ifndef WEFT_LIB_GRPC_FRAME_INPUT_H_
#define WEFT_LIB_GRPC_FRAME_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "google/protobuf/io/zero_copy_stream.h"

namespace weft::inline v0::grpc {

// The pieces must outlive it, and the list of them too.
class FrameInput final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit FrameInput(absl::Span<const std::string_view> pieces) : pieces_(pieces) {}

  bool Next(const void** data, int* size) override;
  void BackUp(int count) override;
  bool Skip(int count) override;
  int64_t ByteCount() const override { return count_; }

 private:
  const absl::Span<const std::string_view> pieces_;
  size_t next_ = 0;    // the piece that the next bytes are of
  size_t offset_ = 0;  // into it
  int64_t count_ = 0;
};

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_FRAME_INPUT_H_
