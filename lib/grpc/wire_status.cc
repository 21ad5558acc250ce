#include "grpc/wire_status.h"

#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "grpc/metadata.h"
#include "grpc/text.h"
#include "weft/grpc/status_details.h"
#include "weft/response.h"

namespace weft::inline v0::grpc {
namespace {

constexpr size_t kMaxShown = 64;
constexpr int kMaxCode = static_cast<int>(absl::StatusCode::kUnauthenticated);

bool IsGrpcContentType(std::string_view type) {
  constexpr std::string_view kGrpc = "application/grpc";
  // RFC 9110 section 8.3.1: types are case-insensitive.
  if (type.size() < kGrpc.size()) return false;
  for (size_t i = 0; i < kGrpc.size(); ++i) {
    const char c = type[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) != kGrpc[i]) return false;
  }
  type.remove_prefix(kGrpc.size());
  return type.empty() || type.front() == '+' || type.front() == ';' || type.front() == ' ';
}

// The fields of one (lower-case) name.
struct Found {
  size_t count = 0;
  std::string_view first;
};
Found FindAll(const Headers& headers, std::string_view name) {
  Found found;
  for (const Headers::Field field : headers) {
    if (field.name != name) continue;
    if (found.count++ == 0) found.first = field.value;
  }
  return found;
}

bool HasGrpcContentType(const Headers& headers) {
  const Found types = FindAll(headers, "content-type");
  return types.count == 1 && IsGrpcContentType(types.first);
}

// "0" to "16", without signs, spaces and leading zeros; -1 for anything else.
int ParseCode(std::string_view text) {
  if (text.empty() || text.size() > 2) return -1;
  int code = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    code = code * 10 + (c - '0');
  }
  if ((text.size() == 2 && text.front() == '0') || code > kMaxCode) return -1;
  return code;
}

std::string ContentTypeText(const Headers& headers) {
  const std::optional<std::string_view> type = headers.Find("content-type");
  if (!type.has_value()) return "no content-type";
  return absl::StrCat("content-type \"", Printable(*type, kMaxShown), "\"");
}

// The error that the server named, with all it said.
absl::Status ServersError(int code, const Headers& block) {
  absl::Status status(static_cast<absl::StatusCode>(code), PercentDecode(block["grpc-message"]));
  if (const auto details = block.Find("grpc-status-details-bin")) {
    // Bad base64 costs the details, not the status.
    if (std::optional<std::string> bytes = DecodeBinary(*details)) {
      status.SetPayload(kStatusDetailsUrl, absl::Cord(*std::move(bytes)));
    }
  }
  return status;
}

// What a response says that has the head of a gRPC response, but no grpc-status that can be used.
absl::Status WithoutStatus(const Headers& block, bool trailers_only) {
  const Found status = FindAll(block, "grpc-status");
  if (status.count > 1) return absl::UnknownError("sent grpc-status more than once");
  std::string text;
  if (status.count == 1) {
    text = absl::StrCat("sent the grpc-status \"", Printable(status.first, kMaxShown),
                        "\", which is no code of gRPC");
  } else if (trailers_only || !block.empty()) {
    text = "ended the call without a grpc-status";
  } else {
    text = "ended the body without trailers, and so without a grpc-status";
  }
  const std::string_view message = block["grpc-message"];
  if (!message.empty()) absl::StrAppend(&text, ": ", PercentDecode(message));
  return absl::UnknownError(text);
}

char HexDigit(int value) { return "0123456789ABCDEF"[value & 0xf]; }

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool IsGrpcResponse(int http_status, const Headers& headers) {
  return http_status == 200 && HasGrpcContentType(headers);
}

absl::Status StatusOf(int http_status, const Headers& headers, const Headers& trailers,
                      bool trailers_only) {
  const Headers& block = trailers_only ? headers : trailers;
  const Found found = FindAll(block, "grpc-status");
  const int code = found.count == 1 ? ParseCode(found.first) : -1;
  if (code > 0) return ServersError(code, block);
  if (http_status != 200) {
    const std::string shown =
        found.count == 0
            ? " and no grpc-status"
            : absl::StrCat(" and the grpc-status \"", Printable(found.first, kMaxShown), "\"");
    return absl::Status(CodeOfHttpStatus(http_status),
                        absl::StrCat("answered with HTTP status ", http_status, ", ",
                                     ContentTypeText(headers), shown));
  }
  if (!HasGrpcContentType(headers)) {
    return absl::UnknownError(
        absl::StrCat("answered with ", ContentTypeText(headers), ", which is not gRPC"));
  }
  return code == 0 ? absl::OkStatus() : WithoutStatus(block, trailers_only);
}

bool IsServersError(const Headers& block) {
  const Found found = FindAll(block, "grpc-status");
  return found.count == 1 && ParseCode(found.first) > 0;
}

absl::Status CheckOneMessage(size_t messages) {
  if (messages == 1) return absl::OkStatus();
  return absl::UnimplementedError(
      messages == 0 ? "ended the call with OK and without a message, where one was due"
                    : "sent more than one message, where one was due");
}

std::string PercentEncode(std::string_view text) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (c >= 0x20 && c <= 0x7e && c != '%') {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', HexDigit(byte >> 4), HexDigit(byte)};
    }
  }
  return encoded;
}

std::string PercentDecode(std::string_view encoded) {
  std::string text;
  text.reserve(encoded.size());
  for (size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] == '%' && i + 2 < encoded.size()) {
      const int high = HexValue(encoded[i + 1]);
      const int low = HexValue(encoded[i + 2]);
      if (high >= 0 && low >= 0) {
        text += static_cast<char>(high << 4 | low);
        i += 2;
        continue;
      }
    }
    text += encoded[i];
  }
  return text;
}

}  // namespace weft::inline v0::grpc
