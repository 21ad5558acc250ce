#include "registry/file_resolver.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "registry/endpoint_file.h"
#include "registry/watched_file.h"

namespace weft::inline v0::registry {

// What the resolver and the loop share. The sink is the sign of life: the destructor takes it away,
// and the loop, which asks for it before each step, then does nothing more.
//
// A timer must not die armed, and only the loop may disarm it. So the resolver, when it is
// destroyed elsewhere, sends its reference to the loop in a closure that does nothing: be it run,
// or dropped at the loop's end, the last reference goes there, and disarms.
class FileResolver::Watch final : public event::Timer, public std::enable_shared_from_this<Watch> {
 public:
  static std::shared_ptr<Watch> Make(event::Loop& loop, std::string path, absl::Duration interval) {
    return std::shared_ptr<Watch>(new Watch(loop, std::move(path), interval), &Watch::Dispose);
  }

  event::Loop& loop() { return loop_; }

  // Any thread.
  void SetSink(std::shared_ptr<ResolverSink> sink) {
    std::lock_guard<std::mutex> lock(mutex_);
    sink_.swap(sink);
  }

  // The loop's thread.
  void OnTimer() override {
    // The sink may destroy the resolver.
    const std::shared_ptr<Watch> until_return = shared_from_this();
    if (const std::shared_ptr<ResolverSink> sink = Sink()) Deliver(*sink);
    if (Sink() != nullptr) loop_.Arm(this, base::After(loop_.now(), interval_));
  }

 private:
  Watch(event::Loop& loop, std::string path, absl::Duration interval)
      : loop_(loop),
        interval_(std::max(interval, absl::Milliseconds(1))),
        file_(std::move(path), kMaxEndpointFileBytes) {}
  ~Watch() = default;
  static void Dispose(Watch* watch) {
    if (watch->loop_.IsCurrent()) watch->loop_.Disarm(watch);
    // Should a loop be gone in spite of all, memory is the smaller loss than a timer that it knows.
    if (!watch->armed()) delete watch;
  }

  std::shared_ptr<ResolverSink> Sink() {
    std::lock_guard<std::mutex> lock(mutex_);
    return sink_;
  }
  void Deliver(ResolverSink& sink);

  event::Loop& loop_;
  const absl::Duration interval_;
  std::mutex mutex_;
  std::shared_ptr<ResolverSink> sink_;

  // The loop's.
  WatchedFile file_;
  absl::Status last_look_;
};

void FileResolver::Watch::Deliver(ResolverSink& sink) {
  absl::StatusOr<std::optional<std::string>> content = file_.Look();
  if (!content.ok()) {
    if (content.status() == last_look_) return;
    last_look_ = content.status();
    sink.OnError(content.status());
    return;
  }
  last_look_ = absl::OkStatus();
  if (!content->has_value()) return;
  absl::StatusOr<EndpointSet> endpoints = ParseEndpointFile(**content);
  if (endpoints.ok()) {
    sink.OnEndpoints(*std::move(endpoints));
  } else {
    sink.OnError(absl::InvalidArgumentError(file_.path() + ": " +
                                            std::string(endpoints.status().message())));
  }
}

FileResolver::FileResolver(event::Loop& loop, std::string path, absl::Duration poll_interval)
    : watch_(Watch::Make(loop, std::move(path), poll_interval)) {}

FileResolver::~FileResolver() {
  watch_->SetSink(nullptr);
  event::Loop& loop = watch_->loop();
  if (!loop.IsCurrent()) loop.PostFunction([watch = std::move(watch_)] {});
}

void FileResolver::Start(std::shared_ptr<ResolverSink> sink) {
  watch_->SetSink(std::move(sink));
  watch_->loop().PostFunction([watch = watch_] { watch->OnTimer(); });
}

}  // namespace weft::inline v0::registry
