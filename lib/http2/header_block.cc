#include "http2/header_block.h"

#include <algorithm>
#include <utility>

namespace weft::inline v0::http2 {
namespace {

constexpr size_t kPerField = 32;

// 100 … 999, or 0.
int ParseStatus(std::string_view text) {
  if (text.size() != 3 || text[0] == '0') return 0;
  int status = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    status = status * 10 + (c - '0');
  }
  return status;
}

}  // namespace

void HeaderBlock::Begin() {
  counted_ = 0;
  count_ = 0;
  status_ = 0;
  fields_.Clear();
}

HeaderBlock::Verdict HeaderBlock::Add(std::string_view name, std::string_view value) {
  counted_ += name.size() + value.size() + kPerField;
  ++count_;
  if (count_ > kMaxFields || counted_ > kAbsurd * limit_) return Verdict::kAbsurd;
  if (counted_ > limit_) return Verdict::kOverLimit;
  if (!name.empty() && name[0] == ':') {
    if (name != ":status") return Verdict::kKept;
    status_ = ParseStatus(value);
    return status_ == 0 ? Verdict::kBadStatus : Verdict::kKept;
  }
  if (fields_.empty()) fields_.Reserve(usual_fields_, usual_bytes_);
  fields_.Add(name, value);
  return Verdict::kKept;
}

Headers HeaderBlock::Take() {
  if (!fields_.empty()) {
    usual_fields_ = std::min<size_t>(fields_.size() + 1, 64);
    usual_bytes_ = std::min<size_t>(fields_.bytes() + 32, 4096);
  }
  return std::exchange(fields_, Headers());
}

}  // namespace weft::inline v0::http2
