#include "grpc/metadata.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "grpc/text.h"

namespace weft::inline v0::grpc {
namespace {

constexpr std::string_view kReserved[] = {
    "connection",  // RFC 9113 section 8.2.2
    "content-length", "content-type",      "host",    "keep-alive", "proxy-connection", "te",
    "trailer",        "transfer-encoding", "upgrade", "user-agent",
};

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

bool IsPrintable(char c) { return c >= 0x20 && c <= 0x7e; }

// "metadata "x-name"" for the text of an error; the name itself may be anything.
std::string Named(std::string_view name) {
  constexpr size_t kMaxShown = 64;
  return absl::StrCat("metadata \"", Printable(name, kMaxShown), "\": ");
}

absl::Status CheckField(Headers::Field field) {
  const auto fail = [&](std::string_view why) {
    return absl::InvalidArgumentError(Named(field.name) + std::string(why));
  };
  if (field.name.empty()) return fail("the name is empty");
  if (IsReservedName(field.name)) return fail("the name is reserved");
  if (!std::all_of(field.name.begin(), field.name.end(), IsNameByte)) {
    return fail("a name has only letters, digits and _ - . in it");
  }
  if (IsBinaryName(field.name)) return absl::OkStatus();
  if (!std::all_of(field.value.begin(), field.value.end(), IsPrintable)) {
    return fail("the value is not printable ASCII; a name that ends in -bin may have any bytes");
  }
  if (field.value.starts_with(' ') || field.value.ends_with(' ')) {
    return fail("the value has a space at an end");
  }
  return absl::OkStatus();
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

// Values in one field. Each of them repeats the name, and a long name with thousands of commas
// behind it would become far more memory than it was on the wire.
constexpr size_t kMaxJoined = 100;

// Appends each value of a list of base64, or none if one of them is bad or there are too many.
bool AppendBinary(Headers::Field field, Headers& to) {
  std::vector<std::string> values;
  std::string_view rest = field.value;
  while (true) {
    const size_t comma = rest.find(',');
    std::optional<std::string> value = DecodeBinary(Trimmed(rest.substr(0, comma)));
    if (!value.has_value() || values.size() == kMaxJoined) return false;
    values.push_back(*std::move(value));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  for (const std::string& value : values) to.Add(field.name, value);
  return true;
}

}  // namespace

bool IsReservedName(std::string_view name) {
  if (name.starts_with(':') || name.starts_with("grpc-")) return true;
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

std::string EncodeBinary(std::string_view bytes) {
  std::string base64 = absl::Base64Escape(V(bytes));
  while (base64.ends_with('=')) base64.pop_back();
  return base64;
}

std::optional<std::string> DecodeBinary(std::string_view base64) {
  // Abseil also takes spaces, and dots for padding.
  constexpr std::string_view kOther = "+/=";
  for (const char c : base64) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && kOther.find(c) == std::string_view::npos) return std::nullopt;
  }
  std::string bytes;
  if (!absl::Base64Unescape(V(base64), &bytes)) return std::nullopt;
  return bytes;
}

absl::Status AppendMetadata(const Headers& metadata, Headers& to) {
  for (const Headers::Field field : metadata) {
    if (absl::Status status = CheckField(field); !status.ok()) return status;
  }
  for (const Headers::Field field : metadata) {
    if (IsBinaryName(field.name)) {
      to.Add(field.name, EncodeBinary(field.value));
    } else {
      to.Add(field.name, field.value);
    }
  }
  return absl::OkStatus();
}

size_t ReadMetadata(const Headers& wire, Headers& to) {
  size_t left_out = 0;
  for (const Headers::Field field : wire) {
    if (IsReservedName(field.name)) continue;
    if (!IsBinaryName(field.name)) {
      to.Add(field.name, field.value);
    } else if (!AppendBinary(field, to)) {
      ++left_out;
    }
  }
  return left_out;
}

}  // namespace weft::inline v0::grpc
