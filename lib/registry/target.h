// Target: what a string given to GetChannel means. channel_factory.h has the grammar.
#ifndef WEFT_LIB_REGISTRY_TARGET_H_
#define WEFT_LIB_REGISTRY_TARGET_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/endpoint.h"

namespace weft::inline v0::registry {

struct Target {
  enum class Kind {
    kName,       // `name` is for the factory's registry
    kEndpoints,  // `endpoints`: at least one, addresses in canonical form, each of them once
    kFile,       // `path` of a file of endpoints
  };
  Kind kind = Kind::kName;
  std::string name;
  std::string path;
  std::vector<Endpoint> endpoints;
};

// INVALID_ARGUMENT names the part that is wrong and what to write instead. Percent signs mean
// themselves, and so a path is written as it is; a Unix socket whose path has a comma cannot be
// part of a static: list.
absl::StatusOr<Target> ParseTarget(std::string_view text);

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_TARGET_H_
