#include "http2/first_bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace weft::inline v0::http2 {
namespace {

constexpr size_t kFrameHead = 9;
constexpr size_t kLooked = 16;  // enough for "HTTP/1.1 400 "

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What the bytes look like; empty: nothing known.
std::string Guess(std::string_view bytes) {
  if (bytes.substr(0, 7) == "HTTP/1." || bytes.substr(0, 7) == "HTTP/0.") {
    std::string text = "answered with HTTP/";
    text.append(bytes[5] == '1' ? "1" : "0").append(".");
    if (bytes.size() > 7) text += IsDigit(bytes[7]) ? bytes[7] : '?';
    if (bytes.size() >= 12 && bytes[8] == ' ' &&
        std::all_of(bytes.begin() + 9, bytes.begin() + 12, IsDigit)) {
      text.append(" ").append(bytes.substr(9, 3));
    }
    return text;
  }
  if (bytes.size() >= 3 && bytes[1] == 0x03 && bytes[2] >= 0 && bytes[2] <= 4) {
    if (bytes[0] == 0x15) return "sent a TLS alert";
    if (bytes[0] >= 0x14 && bytes[0] <= 0x17) return "sent a TLS record";
  }
  if (bytes.substr(0, 4) == "SSH-") return "sent an SSH greeting";
  return "";
}

}  // namespace

std::optional<std::string> FirstBytes::Look(std::string_view bytes) {
  if (settled_) return std::nullopt;
  seen_.append(bytes.substr(0, kLooked - seen_.size()));
  if (seen_.empty()) return std::nullopt;
  const std::string_view seen = seen_;
  // A first frame of 2^16 bytes and more is none, whatever follows; some peers send less than a
  // frame's head.
  const bool impossible = seen[0] != 0;
  std::string guess = impossible ? Guess(seen) : "";
  const bool enough = seen.size() >= kFrameHead;
  if (impossible && (enough || guess.rfind("sent", 0) == 0)) {
    settled_ = true;
    if (guess.empty()) guess = "did not begin with SETTINGS";
    return absl::StrCat("does not speak HTTP/2 (", guess, ")");
  }
  if (!enough) return std::nullopt;
  settled_ = true;
  constexpr char kSettings = 4;
  constexpr char kAck = 1;
  if (seen[3] == kSettings && (seen[4] & kAck) == 0) return std::nullopt;
  return "does not speak HTTP/2 (did not begin with SETTINGS)";
}

}  // namespace weft::inline v0::http2
