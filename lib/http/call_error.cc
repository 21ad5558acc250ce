// The payload is text, one line: "<origin> <processed> <attempts> <host>", numbers in decimal, the
// host up to the end. Statuses travel between modules that may be built apart, so what does not
// parse to the letter is no payload. The log of the attempts is a payload of its own.
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "http/attempt_log_text.h"
#include "weft/error.h"

namespace weft::inline v0 {
namespace {

constexpr char kTypeUrl[] = "weft/call-error";
constexpr char kLogUrl[] = "weft/attempt-log";

// Takes a decimal number of 0 … max and the space behind it off the front of `text`.
bool TakeNumber(std::string_view& text, int max, int& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number < 0 || number > max) return false;
  if (text[0] == '-' || (text[0] == '0' && rest != text.data() + 1)) return false;
  if (rest == end || *rest != ' ') return false;
  text.remove_prefix(static_cast<size_t>(rest - text.data()) + 1);
  return true;
}

}  // namespace

std::optional<CallError> GetCallError(const absl::Status& status) {
  const auto payload = status.GetPayload(kTypeUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::string bytes(*payload);
  std::string_view text = bytes;
  CallError error;
  int origin = 0;
  int processed = 0;
  if (!TakeNumber(text, static_cast<int>(Origin::kPeer), origin)) return std::nullopt;
  if (!TakeNumber(text, static_cast<int>(Processed::kMaybeProcessed), processed)) {
    return std::nullopt;
  }
  if (!TakeNumber(text, INT32_MAX, error.attempts)) return std::nullopt;
  error.origin = static_cast<Origin>(origin);
  error.processed = static_cast<Processed>(processed);
  error.host = std::string(text);
  if (const auto log = status.GetPayload(kLogUrl)) {
    error.log = http::ReadAttemptLog(std::string(*log)).value_or(AttemptLog());
  }
  return error;
}

void SetCallError(absl::Status& status, const CallError& error) {
  status.SetPayload(
      kTypeUrl, absl::Cord(absl::StrCat(static_cast<int>(error.origin), " ",
                                        static_cast<int>(error.processed), " ",
                                        error.attempts < 0 ? 0 : error.attempts, " ", error.host)));
  if (error.log.attempts.empty()) {
    status.ErasePayload(kLogUrl);
  } else {
    status.SetPayload(kLogUrl, absl::Cord(http::WriteAttemptLog(error.log)));
  }
}

std::string_view OriginName(Origin origin) {
  switch (origin) {
    case Origin::kLocal:
      return "local";
    case Origin::kConnection:
      return "connection";
    case Origin::kPeer:
      return "peer";
  }
  return "unknown";
}

std::string_view ProcessedName(Processed processed) {
  switch (processed) {
    case Processed::kNotSent:
      return "not sent";
    case Processed::kRefused:
      return "refused unprocessed";
    case Processed::kMaybeProcessed:
      return "may have been processed";
  }
  return "unknown";
}

}  // namespace weft::inline v0
