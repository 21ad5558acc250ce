#include "channel/service_config_source.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "registry/file_resolver.h"
#include "registry/watched_file.h"

namespace weft::inline v0::channel {
namespace {

// Registries cannot see the parser, whose limit it is.
static_assert(registry::kMaxServiceConfigFileBytes == policy::kMaxServiceConfigBytes);

}  // namespace

absl::Status ServiceConfigSource::Open(const ChannelOptions& options, event::Loop& loop,
                                       std::weak_ptr<void> owner) {
  if (options.service_config_file.empty()) {
    return options.service_config.empty() ? absl::OkStatus() : SetOfProgram(options.service_config);
  }
  if (!options.service_config.empty()) {
    return absl::InvalidArgumentError(
        "ChannelOptions has both a service_config and a service_config_file");
  }
  registry::WatchedFile file(options.service_config_file, policy::kMaxServiceConfigBytes);
  // The first look always brings news.
  if (absl::Status status = TakeFile(file.path(), *file.News()); !status.ok()) return status;
  poll_ = std::make_unique<registry::Poll>(loop, registry::kPollInterval);
  poll_->Start([this, file = std::move(file), owner = std::move(owner)]() mutable {
    const std::optional<absl::StatusOr<std::string>> news = file.News();
    if (!news.has_value()) return;
    if (const auto keep = owner.lock()) (void)TakeFile(file.path(), *news);
  });
  return absl::OkStatus();
}

absl::Status ServiceConfigSource::SetOfProgram(std::string_view json) {
  return Take(program_, policy::ServiceConfig::Parse(json));
}

void ServiceConfigSource::SetOfRegistry(absl::StatusOr<std::string> json) {
  if (!json.ok()) {
    (void)Take(registry_, json.status());
  } else if (json->empty()) {
    (void)Take(registry_, nullptr);
  } else {
    (void)Take(registry_, policy::ServiceConfig::Parse(*json));
  }
}

absl::Status ServiceConfigSource::TakeFile(const std::string& path,
                                           const absl::StatusOr<std::string>& content) {
  if (!content.ok()) return Take(program_, content.status());
  Parsed config = policy::ServiceConfig::Parse(*content);
  if (!config.ok()) {
    config =
        absl::Status(config.status().code(), absl::StrCat(path, ": ", config.status().message()));
  }
  return Take(program_, std::move(config));
}

absl::Status ServiceConfigSource::Take(Given& from, Parsed config) {
  const std::lock_guard<std::mutex> lock(mutex_);
  from.refusal = config.status();
  if (!config.ok()) {
    counters_.service_configs_refused.Add();
    return absl::Status(config.status().code(),
                        absl::StrCat("service config: ", config.status().message()));
  }
  from.config = *std::move(config);
  const auto& holds = registry_.config != nullptr ? registry_.config : program_.config;
  if (holds == (in_force_ == nullptr ? nullptr : in_force_->service)) return absl::OkStatus();
  in_force_ =
      holds == nullptr ? nullptr : std::make_shared<const call::CallConfig>(holds, in_force_.get());
  publish_(in_force_);
  return absl::OkStatus();
}

std::string ServiceConfigSource::DebugString() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string text;
  if (in_force_ != nullptr) {
    absl::StrAppend(&text, "  service config: the ",
                    registry_.config != nullptr ? "registry's" : "program's", "\n");
  }
  for (const auto& [given, whose] :
       {std::pair(&registry_, "registry's"), std::pair(&program_, "program's")}) {
    if (given->refusal.ok()) continue;
    absl::StrAppend(&text, "  the ", whose,
                    " service config was refused: ", given->refusal.message(), "\n");
  }
  return text;
}

}  // namespace weft::inline v0::channel
