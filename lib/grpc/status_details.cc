#include "weft/grpc/status_details.h"

#include "absl/strings/cord.h"

namespace weft::inline v0::grpc {

std::optional<std::string> StatusDetails(const absl::Status& status) {
  const auto payload = status.GetPayload(kStatusDetailsUrl);
  if (!payload.has_value()) return std::nullopt;
  return std::string(*payload);
}

}  // namespace weft::inline v0::grpc
