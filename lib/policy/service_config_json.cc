#include "policy/service_config_json.h"

#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace weft::inline v0::policy {
namespace {

constexpr char kTopLevel[] = "the top level";

void AppendName(std::string_view name, std::string* path) {
  absl::StrAppend(path, path->empty() ? "" : ".", ShownInError(name));
}
void AppendIndex(size_t index, std::string* path) { absl::StrAppend(path, "[", index, "]"); }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// nlohmann's own tree keeps the last of two fields with one name, and any depth.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  absl::Status TakeStatus() { return std::move(status_); }
  Json TakeRoot() { return std::move(root_); }

  bool null() override { return Add(nullptr) != nullptr; }
  bool boolean(bool value) override { return Add(value) != nullptr; }
  bool number_integer(int64_t value) override { return Add(value) != nullptr; }
  bool number_unsigned(uint64_t value) override { return Add(value) != nullptr; }
  bool number_float(double value, const std::string& /*text*/) override {
    return Add(value) != nullptr;
  }
  bool string(std::string& value) override { return Add(std::move(value)) != nullptr; }
  bool binary(Json::binary_t& value) override { return Add(std::move(value)) != nullptr; }
  bool start_object(size_t /*size*/) override { return Open(Json::object()); }
  bool start_array(size_t /*size*/) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(std::string& name) override {
    Level& level = open_.back();
    auto& fields = level.value->get_ref<Json::object_t&>();
    const auto [field, is_new] = fields.try_emplace(std::move(name));
    level.name = &field->first;
    level.field = &field->second;
    if (is_new) return true;
    status_ = absl::InvalidArgumentError(absl::StrCat(Path(), " is given twice"));
    return false;
  }

  bool parse_error(size_t position, const std::string& /*last_token*/,
                   const Json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at ...: syntax error ...; last read: '...'":
    // without the library's name for it, and without the end, which quotes a token of any length.
    std::string_view why = error.what();
    if (const size_t end = why.find("] "); end != std::string_view::npos)
      why.remove_prefix(end + 2);
    why = why.substr(0, why.find("; last read"));
    constexpr size_t kMaxShown = 200;
    status_ = absl::InvalidArgumentError(
        absl::StrCat("the text is not JSON at byte ", position, ": ",
                     absl::Utf8SafeCHexEscape(base::V(why.substr(0, kMaxShown)))));
    return false;
  }

 private:
  // An object or a list that is not closed yet. Its address holds: what it is in takes nothing more
  // before it is closed.
  struct Level {
    Json* value;
    const std::string* name = nullptr;  // of the object's present field
    Json* field = nullptr;
  };

  Json* Add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = open_.back();
    if (level.value->is_object()) {
      *level.field = std::move(value);
      return level.field;
    }
    level.value->push_back(std::move(value));
    return &level.value->back();
  }
  bool Open(Json value) {
    Json* const added = Add(std::move(value));
    if (open_.size() == kMaxServiceConfigDepth) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat(Path(), " is nested deeper than ", kMaxServiceConfigDepth));
      return false;
    }
    open_.push_back({added});
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  // Of the value that was added last, or is to be.
  std::string Path() const {
    std::string path;
    for (const Level& level : open_) {
      if (level.value->is_object()) {
        AppendName(*level.name, &path);
      } else {
        AppendIndex(level.value->size() - 1, &path);
      }
    }
    return path;
  }

  Json root_;
  std::vector<Level> open_;
  absl::Status status_;
};

// [0-9]*(.[0-9]{1,9})?s with a digit at least, to the 10,000 years of protobuf's Duration.
std::optional<absl::Duration> DurationOf(std::string_view text) {
  constexpr int64_t kMostSeconds = 315'576'000'000;
  if (text.empty() || text.back() != 's') return std::nullopt;
  text.remove_suffix(1);
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  int64_t seconds = 0;
  for (const char c : whole) {
    if (!IsDigit(c)) return std::nullopt;
    seconds = seconds * 10 + (c - '0');
    if (seconds > kMostSeconds) return std::nullopt;
  }
  int64_t nanoseconds = 0;
  if (point == std::string_view::npos) {
    if (whole.empty()) return std::nullopt;
  } else {
    const std::string_view decimals = text.substr(point + 1);
    if (decimals.empty() || decimals.size() > 9) return std::nullopt;
    for (size_t i = 0; i < 9; ++i) {
      if (i < decimals.size() && !IsDigit(decimals[i])) return std::nullopt;
      nanoseconds = nanoseconds * 10 + (i < decimals.size() ? decimals[i] - '0' : 0);
    }
    if (seconds == kMostSeconds && nanoseconds > 0) return std::nullopt;
  }
  return absl::Seconds(seconds) + absl::Nanoseconds(nanoseconds);
}

// What JSON takes for a number, and nothing around it.
std::optional<double> NumberOf(std::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t from = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at > from;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const bool zero = at < text.size() && text[at] == '0';
  const size_t first = at;
  if (!digits() || (zero && at > first + 1)) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return std::nullopt;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return std::nullopt;
  }
  if (at != text.size()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::string ShownInError(std::string_view text) {
  constexpr size_t kMaxShown = 64;
  if (text.size() <= kMaxShown) return absl::Utf8SafeCHexEscape(base::V(text));
  size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return absl::StrCat(absl::Utf8SafeCHexEscape(base::V(text.substr(0, end))), "...");
}

absl::StatusOr<Json> ParseServiceConfigJson(std::string_view text) {
  // To nlohmann this is the end of the text, whatever follows.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text is not JSON at byte ", zero + 1, ": a zero byte"));
  }
  TreeBuilder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return builder.TakeStatus();
  return builder.TakeRoot();
}

bool JsonNode::ReadFields(std::initializer_list<std::string_view> known) const {
  if (!value_.is_object()) return Fail("must be an object");
  for (const auto& [name, field] : value_.get_ref<const Json::object_t&>()) {
    bool is_known = false;
    for (const std::string_view other : known) is_known = is_known || name == other;
    if (is_known) continue;
    std::string rule = absl::StrCat("has the unknown field \"", ShownInError(name), "\"; known ");
    if (known.size() == 0) absl::StrAppend(&rule, "is none");
    for (const std::string_view& other : known) {
      absl::StrAppend(&rule, &other == known.begin() ? "are " : ", ", base::V(other));
    }
    return Fail(rule);
  }
  return true;
}

bool JsonNode::ReadBool(bool* to) const {
  if (!value_.is_boolean()) return Fail("must be true or false");
  *to = value_.get<bool>();
  return true;
}

bool JsonNode::ReadString(std::string* to) const {
  if (!value_.is_string()) return Fail("must be a string");
  *to = value_.get_ref<const std::string&>();
  return true;
}

bool JsonNode::ReadDuration(absl::Duration* to) const {
  const std::optional<absl::Duration> duration =
      value_.is_string() ? DurationOf(value_.get_ref<const std::string&>()) : std::nullopt;
  if (!duration.has_value()) {
    return Fail(
        "must be a string of seconds such as \"1.5s\", with up to nine decimals, from 0s to "
        "315576000000s");
  }
  *to = *duration;
  return true;
}

std::optional<double> JsonNode::Number() const {
  if (value_.is_string()) return NumberOf(value_.get_ref<const std::string&>());
  if (!value_.is_number()) return std::nullopt;
  return value_.get<double>();
}

bool JsonNode::ReadNumber(std::string_view rule, double* to) const {
  const std::optional<double> number = Number();
  if (!number.has_value() || !std::isfinite(*number)) {
    return Fail(absl::StrCat("must be ", base::V(rule)));
  }
  *to = *number;
  return true;
}

bool JsonNode::ReadWhole(uint64_t low, uint64_t high, std::string_view rule, uint64_t* to) const {
  const std::optional<double> number = Number();
  if (!number.has_value() || *number != std::floor(*number) || *number < static_cast<double>(low) ||
      *number > static_cast<double>(high)) {
    return Fail(absl::StrCat("must be ", base::V(rule)));
  }
  *to = static_cast<uint64_t>(*number);
  return true;
}

bool JsonNode::Fail(std::string_view rule) const {
  error_ = absl::InvalidArgumentError(
      absl::StrCat(parent_ == nullptr ? kTopLevel : Path(), " ", base::V(rule)));
  return false;
}

bool JsonNode::Missing(std::string_view name) const {
  std::string path = Path();
  AppendName(name, &path);
  error_ = absl::InvalidArgumentError(absl::StrCat(path, " is missing"));
  return false;
}

std::string JsonNode::Path() const {
  if (parent_ == nullptr) return "";
  std::string path = parent_->Path();
  if (index_.has_value()) {
    AppendIndex(*index_, &path);
  } else {
    AppendName(name_, &path);
  }
  return path;
}

}  // namespace weft::inline v0::policy
