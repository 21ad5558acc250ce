#include "registry/snapshot_file.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "registry/endpoint_file.h"
#include "registry/file_resolver.h"
#include "registry/watched_file.h"

namespace weft::inline v0::registry {
namespace {

std::string FileName(std::string_view name) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    // A point in front would hide the file, or lead to another directory.
    if (absl::ascii_isalnum(byte) || c == '-' || c == '_' || (c == '.' && !encoded.empty())) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

absl::Status ErrorAt(const std::string& path, std::string_view what) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": ", base::V(what)));
}

// Readers find the old content or the new one, whole.
absl::Status Replace(const std::string& path, std::string_view content) {
  const std::string next = absl::StrCat(path, ".new");
  errno = EIO;
  {
    std::ofstream out(next, std::ios::binary | std::ios::trunc);
    out << content;
    out.close();
    if (!out) return ErrorAt(next, "cannot be written");
  }
  if (std::rename(next.c_str(), path.c_str()) != 0) return ErrorAt(path, "cannot be replaced");
  return absl::OkStatus();
}

absl::StatusOr<std::string> Read(const std::string& path, size_t max_bytes) {
  absl::StatusOr<std::optional<std::string>> content = WatchedFile(path, max_bytes).Look();
  if (!content.ok()) return content.status();
  return (*std::move(content)).value();
}

}  // namespace

SnapshotFile::SnapshotFile(std::string_view directory, std::string_view name)
    : endpoints_path_(absl::StrCat(base::V(directory), "/", FileName(name), ".json")),
      config_path_(absl::StrCat(base::V(directory), "/", FileName(name), ".service_config.json")) {}

absl::Status SnapshotFile::Save(const EndpointSet& endpoints,
                                std::string_view service_config) const {
  // The config first: what is read between the two is an older set with it, which is no harm.
  if (!service_config.empty()) {
    if (absl::Status status = Replace(config_path_, service_config); !status.ok()) return status;
  } else if (std::remove(config_path_.c_str()) != 0 && errno != ENOENT) {
    return ErrorAt(config_path_, "cannot be removed");
  }
  return Replace(endpoints_path_, FormatEndpointFile(endpoints));
}

absl::StatusOr<SnapshotFile::Content> SnapshotFile::Load() const {
  const absl::StatusOr<std::string> text = Read(endpoints_path_, kMaxEndpointFileBytes);
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<Endpoint>> endpoints = ParseEndpointFile(*text);
  if (!endpoints.ok()) {
    return absl::Status(endpoints.status().code(),
                        absl::StrCat(endpoints_path_, ": ", endpoints.status().message()));
  }
  absl::StatusOr<std::string> config = Read(config_path_, kMaxServiceConfigFileBytes);
  if (!config.ok() && !absl::IsNotFound(config.status())) return config.status();
  return Content{*std::move(endpoints), config.ok() ? *std::move(config) : std::string()};
}

}  // namespace weft::inline v0::registry
