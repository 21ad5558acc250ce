#include "registry/file_resolver.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "registry/endpoint_file.h"
#include "registry/watched_file.h"

namespace weft::inline v0::registry {

// The loop's, once it was started.
class FileResolver::Look {
 public:
  Look(std::string path, std::string service_config_path)
      : endpoints_(std::move(path), kMaxEndpointFileBytes) {
    if (service_config_path.empty()) return;
    service_config_.emplace(std::move(service_config_path), kMaxServiceConfigFileBytes);
  }

  void At(ResolverSink& sink) {
    const std::optional<absl::StatusOr<std::string>> endpoints = endpoints_.News();
    // First: a program that waited for a host then calls by it.
    if (service_config_.has_value()) DeliverServiceConfig(sink);
    if (endpoints.has_value()) DeliverEndpoints(sink, *endpoints);
  }

 private:
  void DeliverEndpoints(ResolverSink& sink, const absl::StatusOr<std::string>& content) const {
    if (!content.ok()) {
      sink.OnError(content.status());
      return;
    }
    absl::StatusOr<std::vector<Endpoint>> endpoints = ParseEndpointFile(*content);
    if (endpoints.ok()) {
      sink.OnEndpoints(MakeEndpointSet(*std::move(endpoints)));
    } else {
      sink.OnError(absl::InvalidArgumentError(endpoints_.path() + ": " +
                                              std::string(endpoints.status().message())));
    }
  }

  void DeliverServiceConfig(ResolverSink& sink) {
    std::optional<absl::StatusOr<std::string>> content = service_config_->News();
    if (absl::IsNotFound(service_config_->status())) {
      if (endpoints_.status().ok() && std::exchange(delivered_config_, false)) {
        sink.OnServiceConfig(std::string());
      }
      return;
    }
    if (!content.has_value()) return;
    delivered_config_ = true;
    if (content->ok() && (*content)->empty()) {
      // A slip of who wrote it, and to the sink it would be none.
      content = absl::InvalidArgumentError(service_config_->path() + ": is empty");
    }
    sink.OnServiceConfig(*std::move(content));
  }

  WatchedFile endpoints_;
  std::optional<WatchedFile> service_config_;
  bool delivered_config_ = false;  // one, or why there is none
};

FileResolver::FileResolver(event::Loop& loop, std::string path, FileResolverOptions options)
    : poll_(loop, options.poll_interval),
      look_(std::make_unique<Look>(std::move(path), std::move(options.service_config_path))) {}

FileResolver::~FileResolver() = default;

void FileResolver::Start(std::shared_ptr<ResolverSink> sink) {
  poll_.Start([look = std::move(look_), sink = std::move(sink)] { look->At(*sink); });
}

}  // namespace weft::inline v0::registry
