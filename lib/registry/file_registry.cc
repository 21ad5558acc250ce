// FileRegistry: a FileResolver for each name, on the loop of the factory that asks.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "event/loop.h"
#include "registry/file_resolver.h"
#include "registry/open.h"
#include "weft/registries.h"

namespace weft::inline v0 {
namespace {

constexpr std::string_view kEnding = ".json";
// Before kEnding, in the name of the file that has a service's config.
constexpr std::string_view kServiceConfig = ".service_config";
constexpr size_t kMaxFileName = 255;  // NAME_MAX of Linux's file systems

// Names come from configuration and from requests: none of them may lead out of the directory.
absl::Status CheckName(std::string_view name) {
  std::string_view why;
  if (name.empty()) {
    why = "must not be empty";
  } else if (name.find('/') != std::string_view::npos) {
    why = "must not have a '/'";
  } else if (name.find("..") != std::string_view::npos) {
    why = "must not have \"..\"";
  } else if (name.size() + kServiceConfig.size() + kEnding.size() > kMaxFileName) {
    why = "is too long for a file's name";
  } else if (absl::EndsWith(base::V(name), base::V(kServiceConfig))) {
    // Its endpoints would be another service's config.
    why = "must not end with \".service_config\"";
  } else if (std::any_of(name.begin(), name.end(), [](char c) {
               return absl::ascii_iscntrl(static_cast<unsigned char>(c));
             })) {
    why = "must not have control characters";
  } else {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the name \"" + std::string(name.substr(0, 100)) +
                                    "\" of a service in a FileRegistry " + std::string(why));
}

}  // namespace

Registry FileRegistry(std::string directory) {
  if (directory.empty()) directory = ".";
  return [directory = std::move(directory)](
             std::string_view name) -> absl::StatusOr<std::unique_ptr<Resolver>> {
    const absl::Status checked = CheckName(name);
    if (!checked.ok()) return checked;
    event::Loop* const loop = registry::OpeningLoop();
    if (loop == nullptr) {
      return absl::FailedPreconditionError(
          "a FileRegistry has no loop but within ChannelFactory::GetChannel");
    }
    const std::string path = absl::StrCat(directory, "/", base::V(name));
    return std::make_unique<registry::FileResolver>(
        *loop, absl::StrCat(path, base::V(kEnding)),
        registry::FileResolverOptions{
            .service_config_path = absl::StrCat(path, base::V(kServiceConfig), base::V(kEnding))});
  };
}

}  // namespace weft::inline v0
