#include "http2/flood_guard.h"

#include <algorithm>
#include <chrono>

namespace weft::inline v0::http2 {
namespace {

// RFC 9113 section 6.
enum FrameType : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kRstStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoaway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};
constexpr uint8_t kAck = 0x1;
constexpr uint8_t kPadded = 0x8;
constexpr uint32_t kTiny = 5;  // shorter than any gRPC message with its prefix
constexpr uint32_t kMostlyPadding =
    256 + kTiny;  // a padded frame below this may carry almost nothing

double CostOfData(const FrameHead& head) {
  if (head.length == 0) return 1;
  const bool padded = (head.flags & kPadded) != 0;
  return head.length < kTiny || (padded && head.length < kMostlyPadding) ? 0.05 : 0;
}

double Cost(const FrameHead& head) {
  switch (head.type) {
    case kData:
      return CostOfData(head);
    case kSettings:
      return (head.flags & kAck) != 0 ? 1 : 10;
    case kPing:
      return (head.flags & kAck) != 0 ? 0 : 1;  // AdmitStrayPingAck has the others
    case kGoaway:
      return 10;
    default:
      return 1;
  }
}

const char* NameOf(uint8_t type) {
  switch (type) {
    case kData:
      return "empty or tiny DATA frames";
    case kHeaders:
      return "HEADERS frames";
    case kPriority:
      return "PRIORITY frames";
    case kRstStream:
      return "RST_STREAM frames";
    case kSettings:
      return "SETTINGS frames";
    case kPing:
      return "PING frames";
    case kGoaway:
      return "GOAWAY frames";
    case kWindowUpdate:
      return "WINDOW_UPDATE frames";
    case kContinuation:
      return "CONTINUATION frames";
    default:
      return "unknown frames";
  }
}

}  // namespace

bool FloodGuard::Admit(const FrameHead& head, base::MonoTime now) {
  continuations_ = head.type == kContinuation ? continuations_ + 1 : 0;
  excess_ = NameOf(head.type);
  if (continuations_ > kContinuations) return false;
  const double cost = Cost(head);
  if (cost == 0) return true;
  if (filled_ == base::MonoTime()) filled_ = now;
  if (now > filled_) {
    const double seconds = std::chrono::duration<double>(now - filled_).count();
    filled_ = now;
    if (tokens_ < kBurst) tokens_ = std::min(kBurst, tokens_ + seconds * kRate);
  }
  return Pay(cost);
}

bool FloodGuard::Pay(double cost) {
  if (tokens_ < cost) return false;
  tokens_ -= cost;
  return true;
}

void FloodGuard::Earn(double tokens) { tokens_ = std::min(kMaxEarned, tokens_ + tokens); }

}  // namespace weft::inline v0::http2
