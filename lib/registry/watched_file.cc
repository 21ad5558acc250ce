#include "registry/watched_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"

namespace weft::inline v0::registry {
namespace {

int64_t Nanoseconds(const timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

WatchedFile::WatchedFile(std::string path, size_t max_bytes)
    : path_(std::move(path)), max_bytes_(max_bytes) {}

absl::Status WatchedFile::Error(int error_number, const char* what) const {
  return absl::ErrnoToStatus(error_number, path_ + ": " + what);
}

absl::StatusOr<WatchedFile::Signature> WatchedFile::Check(const struct stat& found) const {
  if (!S_ISREG(found.st_mode)) return absl::InvalidArgumentError(path_ + ": is not a file");
  if (found.st_size < 0 || static_cast<uint64_t>(found.st_size) > max_bytes_) {
    return absl::InvalidArgumentError(path_ + ": is longer than " +
                                      std::to_string(max_bytes_ >> 20) + " MiB");
  }
  return Signature{static_cast<uint64_t>(found.st_dev), static_cast<uint64_t>(found.st_ino),
                   static_cast<int64_t>(found.st_size), Nanoseconds(found.st_mtim),
                   Nanoseconds(found.st_ctim)};
}

absl::StatusOr<std::string> WatchedFile::Read(int fd, Signature& signature) const {
  struct stat found;
  if (fstat(fd, &found) != 0) return Error(errno, "cannot be looked at");
  absl::StatusOr<Signature> checked = Check(found);
  if (!checked.ok()) return checked.status();
  signature = *checked;

  // One byte more than the size it has now: it may grow meanwhile, and the end is found by reading
  // nothing.
  std::string content(static_cast<size_t>(signature.size) + 1, '\0');
  size_t length = 0;
  while (true) {
    const ssize_t count = read(fd, content.data() + length, content.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error(errno, "cannot be read");
    if (count == 0) break;
    length += static_cast<size_t>(count);
    if (length > max_bytes_) {
      return absl::InvalidArgumentError(path_ + ": is longer than " +
                                        std::to_string(max_bytes_ >> 20) + " MiB");
    }
    if (length == content.size()) content.resize(std::min(2 * length, max_bytes_ + 1));
  }
  content.resize(length);
  return content;
}

absl::StatusOr<std::optional<std::string>> WatchedFile::Look() {
  struct stat found;
  const int stat_result = stat(path_.c_str(), &found);
  const int stat_error = errno;
  const std::optional<Signature> last = std::exchange(last_, std::nullopt);
  if (stat_result != 0) return Error(stat_error, "cannot be looked at");
  const absl::StatusOr<Signature> present = Check(found);
  if (!present.ok()) return present.status();
  if (last == *present) {
    last_ = last;
    return std::nullopt;
  }

  // Not blocking, should it have become a pipe since.
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return Error(errno, "cannot be opened");
  const auto close_it = absl::MakeCleanup([fd] { close(fd); });
  Signature read_as;
  absl::StatusOr<std::string> content = Read(fd, read_as);
  if (!content.ok()) return content.status();
  last_ = read_as;
  return std::optional<std::string>(*std::move(content));
}

std::optional<absl::StatusOr<std::string>> WatchedFile::News() {
  absl::StatusOr<std::optional<std::string>> content = Look();
  const absl::Status before = std::exchange(status_, content.status());
  if (!content.ok()) {
    if (status_ == before) return std::nullopt;
    return status_;
  }
  if (!content->has_value()) return std::nullopt;
  return **std::move(content);
}

}  // namespace weft::inline v0::registry
