// How a call ended and what metadata came with it, from headers and trailers that are anything; and
// metadata of a user on its way there and back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "grpc/metadata.h"
#include "grpc/wire_status.h"
#include "http/grpc_wire.h"
#include "weft/grpc/status_details.h"
#include "weft/headers.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// "name:value" lines; a digit in front of a line takes one of these names.
constexpr std::string_view kNames[] = {
    "grpc-status", "grpc-message", "grpc-status-details-bin", "content-type",
    "key-bin",     "key",          "grpc-encoding",
};

weft::Headers ParseHeaders(std::string_view text) {
  weft::Headers headers;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty()) continue;
    if (const size_t index = static_cast<size_t>(line[0] - '0'); index < std::size(kNames)) {
      headers.Add(kNames[index], line.substr(1));
      continue;
    }
    const size_t colon = std::min(line.find(':', 1), line.size());
    headers.Add(line.substr(0, colon), line.substr(std::min(colon + 1, line.size())));
  }
  return headers;
}

void RequireSame(const weft::Headers& a, const weft::Headers& b) {
  Require(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    Require(a.at(i).name == b.at(i).name && a.at(i).value == b.at(i).value);
  }
}

void RequireStatusIsSane(int http_status, const weft::Headers& headers,
                         const weft::Headers& trailers, bool trailers_only) {
  const absl::Status status = weft::grpc::StatusOf(http_status, headers, trailers, trailers_only);
  const weft::Headers& block = trailers_only ? headers : trailers;
  const auto codes = block.All("grpc-status");
  // OK only without a doubt.
  Require(status.ok() == (http_status == 200 && weft::grpc::IsGrpcResponse(200, headers) &&
                          codes.size() == 1 && codes[0] == "0"));
  Require(status.raw_code() >= 0 && status.raw_code() <= 16);
  if (const auto details = weft::grpc::StatusDetails(status)) {
    Require(codes.size() == 1 && std::to_string(status.raw_code()) == codes[0]);
    Require(block.Has("grpc-status-details-bin"));
  }
}

void RequireMetadataIsSane(const weft::Headers& wire) {
  weft::Headers user;
  const size_t left_out = weft::grpc::ReadMetadata(wire, user);
  Require(left_out <= wire.size());
  for (const auto field : user) Require(!weft::grpc::IsReservedName(field.name));
  // What may be sent comes back as it was.
  weft::Headers sent;
  const absl::Status status = weft::grpc::AppendMetadata(user, sent);
  for (const char c : status.message()) Require(c >= 0x20 && c < 0x7f);
  Require(status.ok() || sent.empty());
  if (!status.ok()) return;
  Require(sent.Validate().ok());
  weft::Headers back;
  Require(weft::grpc::ReadMetadata(sent, back) == 0);
  RequireSame(user, back);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  constexpr int kHttpStatuses[] = {200, 200, 200, 503, 404, 204, 0, -1};
  const auto what = static_cast<uint8_t>(input[0]);
  const int http_status = kHttpStatuses[what & 7];
  const std::string_view text = input.substr(1);
  const size_t half = std::min(text.find('\0'), text.size());
  weft::Headers headers = ParseHeaders(text.substr(0, half));
  if ((what & 8) != 0) headers.Add("content-type", "application/grpc");
  const weft::Headers trailers = ParseHeaders(text.substr(std::min(half + 1, text.size())));

  RequireStatusIsSane(http_status, headers, trailers, false);
  RequireStatusIsSane(http_status, headers, trailers, true);
  RequireMetadataIsSane(headers);
  RequireMetadataIsSane(trailers);

  Require(weft::grpc::PercentDecode(weft::grpc::PercentEncode(text)) == text);
  Require(weft::grpc::PercentDecode(text).size() <= text.size());
  Require(weft::grpc::DecodeBinary(weft::grpc::EncodeBinary(text)) == text);
  if (const auto bytes = weft::grpc::DecodeBinary(text)) {
    Require(bytes->size() <= text.size());
    Require(weft::grpc::DecodeBinary(weft::grpc::EncodeBinary(*bytes)) == bytes);
  }
  const auto timeout = weft::http::ParseGrpcTimeout(text);
  if (timeout.has_value())
    Require(*timeout >= absl::ZeroDuration() && *timeout < absl::InfiniteDuration());
  return 0;
}
