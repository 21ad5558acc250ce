// Numbers in decimal and strings behind their length, each with a space after it:
// "<why_no_more> <attempts> {<why> <started ns> <took ns> <lost> <code> <http status> <host>
// <error> }".
#include "http/attempt_log_text.h"

#include <charconv>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace weft::inline v0::http {
namespace {

constexpr int64_t kMaxAttempts = 1000;
constexpr int64_t kMaxCode = 16;
constexpr int64_t kMaxStatus = 999;

void Put(std::string& to, int64_t number) { absl::StrAppend(&to, number, " "); }
void Put(std::string& to, std::string_view text) {
  absl::StrAppend(&to, text.size(), " ", base::V(text), " ");
}

// What is read, in order; nothing more once something did not fit.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  int64_t Number(int64_t max) {
    int64_t number = 0;
    const char* const end = text_.data() + text_.size();
    const auto [rest, error] = std::from_chars(text_.data(), end, number);
    good_ = good_ && error == std::errc() && number >= 0 && number <= max && rest != end &&
            *rest == ' ';
    if (!good_) return 0;
    text_.remove_prefix(static_cast<size_t>(rest - text_.data()) + 1);
    return number;
  }
  std::string Text() {
    const auto size = static_cast<size_t>(Number(static_cast<int64_t>(text_.size())));
    good_ = good_ && size < text_.size() && text_[size] == ' ';
    if (!good_) return {};
    std::string text(text_.substr(0, size));
    text_.remove_prefix(size + 1);
    return text;
  }
  bool good() const { return good_; }
  bool AtEnd() const { return good_ && text_.empty(); }

 private:
  std::string_view text_;
  bool good_ = true;
};

}  // namespace

std::string WriteAttemptLog(const AttemptLog& log) {
  std::string text;
  Put(text, log.why_no_more);
  Put(text, static_cast<int64_t>(log.attempts.size()));
  for (const AttemptInfo& attempt : log.attempts) {
    Put(text, static_cast<int64_t>(attempt.why));
    Put(text, absl::ToInt64Nanoseconds(attempt.started));
    Put(text, absl::ToInt64Nanoseconds(attempt.took));
    Put(text, int64_t{attempt.lost});
    Put(text, static_cast<int64_t>(attempt.code));
    Put(text, int64_t{attempt.http_status});
    Put(text, attempt.host);
    Put(text, attempt.error);
  }
  return text;
}

std::optional<AttemptLog> ReadAttemptLog(std::string_view text) {
  Reader reader(text);
  AttemptLog log;
  log.why_no_more = reader.Text();
  for (int64_t left = reader.Number(kMaxAttempts); left > 0 && reader.good(); --left) {
    AttemptInfo& attempt = log.attempts.emplace_back();
    attempt.why = static_cast<AttemptInfo::Why>(
        reader.Number(static_cast<int64_t>(AttemptInfo::Why::kBounce)));
    attempt.started = absl::Nanoseconds(reader.Number(INT64_MAX));
    attempt.took = absl::Nanoseconds(reader.Number(INT64_MAX));
    attempt.lost = reader.Number(1) != 0;
    attempt.code = static_cast<absl::StatusCode>(reader.Number(kMaxCode));
    attempt.http_status = static_cast<int>(reader.Number(kMaxStatus));
    attempt.host = reader.Text();
    attempt.error = reader.Text();
  }
  if (!reader.AtEnd()) return std::nullopt;
  return log;
}

}  // namespace weft::inline v0::http
