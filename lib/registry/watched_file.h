// WatchedFile: the content of a file whenever it is another one, for the price of one stat where it
// is not.
#ifndef WEFT_LIB_REGISTRY_WATCHED_FILE_H_
#define WEFT_LIB_REGISTRY_WATCHED_FILE_H_

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::inline v0::registry {

// Not thread-safe. A file that is replaced (by rename, or by a symbolic link that is turned, as
// Kubernetes does) is seen by its inode, one that is written in place by its times and size. A
// writer in place may be met half way; what it wrote is then seen by the next look. Two writes of
// the same length within one tick of the file system's clock (4 ms) look like one: that is why
// files are to be replaced by rename.
class WatchedFile {
 public:
  WatchedFile(std::string path, size_t max_bytes);
  const std::string& path() const { return path_; }

  // Nothing where the file is as it was when its content was last given. An error names the path
  // and is given again by each look while it lasts; the first look afterwards gives the content
  // again.
  absl::StatusOr<std::optional<std::string>> Look();

  // As Look, but an error is given only where the look before ended with another one, or none.
  // Nothing: there is no news. After it `status` is what the look ended with.
  std::optional<absl::StatusOr<std::string>> News();
  const absl::Status& status() const { return status_; }

 private:
  // The change time is among it because it moves where a file is made readable, or given another's
  // modification time.
  struct Signature {
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;
    bool operator==(const Signature&) const = default;
  };
  absl::StatusOr<Signature> Check(const struct stat& found) const;
  absl::StatusOr<std::string> Read(int fd, Signature& signature) const;
  absl::Status Error(int error_number, const char* what) const;

  const std::string path_;
  const size_t max_bytes_;
  std::optional<Signature> last_;
  absl::Status status_;
};

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_WATCHED_FILE_H_
