// FileResolver: the endpoints in a file, and in the file that it becomes; likewise, where it is
// asked to, the service config in a file beside it.
//
// A look at files that did not change costs one stat each; a bad file keeps what was delivered
// last.
#ifndef WEFT_LIB_REGISTRY_FILE_RESOLVER_H_
#define WEFT_LIB_REGISTRY_FILE_RESOLVER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "event/loop.h"
#include "registry/poll.h"
#include "weft/resolver.h"

namespace weft::inline v0::registry {

inline constexpr size_t kMaxServiceConfigFileBytes = size_t{1} << 20;

struct FileResolverOptions {
  // Empty: the resolver knows of no service config.
  std::string service_config_path = {};
  absl::Duration poll_interval = kPollInterval;  // at least a millisecond
};

// Start and the destructor on any thread, as with Poll; the sink is called on the loop only, and
// may destroy the resolver. `loop` outlives the resolver.
//
// Looking, reading and parsing take the loop's time: a file is for some thousand endpoints, on a
// disk that answers.
class FileResolver final : public Resolver {
 public:
  FileResolver(event::Loop& loop, std::string path, FileResolverOptions options = {});
  ~FileResolver() override;

  // Looks in the loop's next turn, then each `poll_interval`. Errors name the path: NOT_FOUND,
  // PERMISSION_DENIED and the like once while they last, INVALID_ARGUMENT once for each file that
  // cannot be used. A service config is delivered before the endpoints that are found with it, and
  // taken back once its file is not there any more: while the endpoints' file is, since otherwise
  // it may be the directory that cannot be seen, which changes nothing.
  void Start(std::shared_ptr<ResolverSink> sink) override;

 private:
  class Look;
  Poll poll_;
  std::unique_ptr<Look> look_;  // until Start
};

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_FILE_RESOLVER_H_
