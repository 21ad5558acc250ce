// SnapshotFile: the last good set of one service on disk, and its config, in the form of a
// FileRegistry; RegistryOptions::snapshot_directory says what for.
#ifndef WEFT_LIB_REGISTRY_SNAPSHOT_FILE_H_
#define WEFT_LIB_REGISTRY_SNAPSHOT_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/endpoint.h"

namespace weft::inline v0::registry {

// Not thread-safe. Reads and writes block.
class SnapshotFile {
 public:
  struct Content {
    std::vector<Endpoint> endpoints;
    std::string service_config = {};  // empty: none
  };

  // Any name: what could not be part of a file's name is percent-encoded.
  SnapshotFile(std::string_view directory, std::string_view name);

  // Errors name the path. What is there already stays where it cannot be replaced as a whole.
  absl::Status Save(const EndpointSet& endpoints, std::string_view service_config) const;
  absl::StatusOr<Content> Load() const;

 private:
  const std::string endpoints_path_;
  const std::string config_path_;
};

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_SNAPSHOT_FILE_H_
