#include "grpc/frame_input.h"

#include <algorithm>
#include <limits>

namespace weft::inline v0::grpc {

bool FrameInput::Next(const void** data, int* size) {
  while (next_ < pieces_.size() && offset_ == pieces_[next_].size()) {
    ++next_;
    offset_ = 0;
  }
  if (next_ == pieces_.size()) return false;
  const std::string_view piece = pieces_[next_];
  // The interface counts in int, and a piece may be larger.
  const size_t step =
      std::min(piece.size() - offset_, static_cast<size_t>(std::numeric_limits<int>::max()));
  *data = piece.data() + offset_;
  *size = static_cast<int>(step);
  // The piece stays the present one, so that BackUp need not step back over pieces.
  offset_ += step;
  count_ += *size;
  return true;
}

void FrameInput::BackUp(int count) {
  offset_ -= static_cast<size_t>(count);
  count_ -= count;
}

bool FrameInput::Skip(int count) {
  while (count > 0) {
    const void* data = nullptr;
    int size = 0;
    if (!Next(&data, &size)) return false;
    if (size > count) BackUp(size - count);
    count -= std::min(size, count);
  }
  return true;
}

}  // namespace weft::inline v0::grpc
