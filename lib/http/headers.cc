#include "weft/headers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace weft::inline v0 {
namespace {

constexpr size_t kEchoedName = 64;  // bytes of a bad name that an error shows

constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool EqualsAnyCase(std::string_view lower, std::string_view any) {
  return lower.size() == any.size() && std::equal(lower.begin(), lower.end(), any.begin(),
                                                  [](char a, char b) { return a == Lower(b); });
}

// tchar of RFC 9110 section 5.6.2 without the upper-case letters, which HTTP/2 forbids.
constexpr bool IsNameByte(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) return true;
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return kOthers.find(c) != std::string_view::npos;
}

constexpr bool IsValueByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

constexpr bool IsSpace(char c) { return c == ' ' || c == '\t'; }

bool IsConnectionSpecific(std::string_view name) {
  return name == "connection" || name == "proxy-connection" || name == "keep-alive" ||
         name == "transfer-encoding" || name == "upgrade";
}

std::string Shown(std::string_view name) {
  std::string shown(name.substr(0, kEchoedName));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return name.size() > kEchoedName ? shown + "..." : shown;
}

// Why a field may not be sent; null: it may.
const char* Fault(Headers::Field field) {
  if (field.name.empty()) return "has no name";
  if (field.name[0] == ':') return "is a pseudo-header";
  if (!std::all_of(field.name.begin(), field.name.end(), IsNameByte)) return "has a bad name";
  if (IsConnectionSpecific(field.name)) return "is connection-specific";
  if (field.name == "te" && field.value != "trailers") return "may only be \"trailers\"";
  if (field.value.empty()) return nullptr;
  if (IsSpace(field.value.front()) || IsSpace(field.value.back())) {
    return "has space at an end of its value";
  }
  if (!std::all_of(field.value.begin(), field.value.end(), IsValueByte)) {
    return "has a bad byte in its value";
  }
  return nullptr;
}

}  // namespace

Headers::Headers(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  size_t bytes = 0;
  for (const auto& [name, value] : fields) bytes += name.size() + value.size();
  Reserve(fields.size(), bytes);
  for (const auto& [name, value] : fields) Add(name, value);
}

void Headers::Add(std::string_view name, std::string_view value) {
  const size_t offset = block_.size();
  const size_t end = offset + name.size() + value.size();
  WEFT_DCHECK(end <= UINT32_MAX);
  if (end > block_.capacity()) {
    // Either view may point into the block that is about to move.
    std::string grown;
    grown.reserve(std::max(end, 2 * block_.capacity()));
    grown.append(block_).append(name).append(value);
    block_.swap(grown);
  } else {
    block_.append(name).append(value);
  }
  const auto begin = block_.begin() + static_cast<std::ptrdiff_t>(offset);
  std::transform(begin, begin + static_cast<std::ptrdiff_t>(name.size()), begin, Lower);
  index_.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(name.size()),
                    static_cast<uint32_t>(value.size())});
}

void Headers::Set(std::string_view name, std::string_view value) {
  // Copies: both may be views of fields that are about to go.
  const std::string own_name(name);
  const std::string own_value(value);
  Remove(own_name);
  Add(own_name, own_value);
}

bool Headers::Remove(std::string_view name) {
  if (!Has(name)) return false;
  std::string kept;
  kept.reserve(block_.capacity());
  std::vector<Entry> index;
  index.reserve(index_.capacity());
  for (size_t i = 0; i < index_.size(); ++i) {
    const Field field = at(i);
    if (EqualsAnyCase(field.name, name)) continue;
    Entry entry = index_[i];
    entry.offset = static_cast<uint32_t>(kept.size());
    kept.append(field.name).append(field.value);
    index.push_back(entry);
  }
  block_.swap(kept);
  index_.swap(index);
  return true;
}

void Headers::Clear() {
  block_.clear();
  index_.clear();
}

void Headers::Reserve(size_t fields, size_t bytes) {
  index_.reserve(fields);
  block_.reserve(bytes);
}

std::string_view Headers::operator[](std::string_view name) const {
  return Find(name).value_or(std::string_view());
}

std::optional<std::string_view> Headers::Find(std::string_view name) const {
  for (const Field field : *this) {
    if (EqualsAnyCase(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Headers::All(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const Field field : *this) {
    if (EqualsAnyCase(field.name, name)) values.push_back(field.value);
  }
  return values;
}

size_t Headers::bytes() const { return block_.size(); }

absl::Status Headers::Validate() const {
  for (const Field field : *this) {
    const char* fault = Fault(field);
    if (fault != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("header field \"", Shown(field.name), "\" ", fault));
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::inline v0
