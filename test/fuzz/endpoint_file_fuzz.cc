// Any text: a valid set, or an error that can be read.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "registry/endpoint_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<std::vector<weft::Endpoint>> endpoints =
      weft::registry::ParseEndpointFile(text);
  if (!endpoints.ok()) {
    if (endpoints.status().code() != absl::StatusCode::kInvalidArgument) abort();
    if (endpoints.status().message().empty() || endpoints.status().message().size() > 500) abort();
    return 0;
  }
  for (const weft::Endpoint& endpoint : *endpoints) {
    if (endpoint.address.empty()) abort();
    if (!(endpoint.weight > 0) || !std::isfinite(endpoint.weight)) abort();
    if (endpoint.priority < 0 || endpoint.priority > weft::registry::kMaxPriority) abort();
  }
  return 0;
}
