#include "registry/open.h"

#include <string>
#include <utility>

#include "absl/status/status.h"

namespace weft::inline v0::registry {
namespace {

constinit thread_local event::Loop* opening_loop = nullptr;

// Restores what was, should the registry throw too.
class Scope {
 public:
  explicit Scope(event::Loop* loop) : previous_(std::exchange(opening_loop, loop)) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { opening_loop = previous_; }

 private:
  event::Loop* const previous_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Resolver>> OpenOnLoop(const Registry& registry,
                                                     std::string_view name, event::Loop& loop) {
  const Scope scope(&loop);
  absl::StatusOr<std::unique_ptr<Resolver>> resolver = registry(name);
  if (resolver.ok() && *resolver == nullptr) {
    return absl::InternalError("the registry gave no resolver for \"" + std::string(name) + "\"");
  }
  return resolver;
}

event::Loop* OpeningLoop() { return opening_loop; }

}  // namespace weft::inline v0::registry
