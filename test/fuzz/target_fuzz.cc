// Any text: a target that keeps its promises, or an error that can be read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "registry/target.h"

namespace {

void CheckEndpoints(const std::vector<weft::Endpoint>& endpoints) {
  if (endpoints.empty()) abort();
  std::set<std::string> seen;
  for (const weft::Endpoint& endpoint : endpoints) {
    if (!seen.insert(endpoint.address).second) abort();
    // Canonical: parsed again, it is itself.
    const auto again = weft::registry::ParseTarget(endpoint.address);
    if (!again.ok() || again->kind != weft::registry::Target::Kind::kEndpoints) abort();
    if (again->endpoints.size() != 1 || again->endpoints[0].address != endpoint.address) abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using Kind = weft::registry::Target::Kind;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto target = weft::registry::ParseTarget(text);
  if (!target.ok()) {
    if (target.status().code() != absl::StatusCode::kInvalidArgument) abort();
    if (target.status().message().empty() || target.status().message().size() > 2000) abort();
    return 0;
  }
  switch (target->kind) {
    case Kind::kName:
      if (target->name != text || !target->endpoints.empty()) abort();
      break;
    case Kind::kFile:
      if (target->path.empty() || !target->endpoints.empty()) abort();
      break;
    case Kind::kEndpoints:
      CheckEndpoints(target->endpoints);
      break;
  }
  return 0;
}
