// FileResolver: the endpoints in a file, and in the file that it becomes.
//
// It looks by polling, on a loop, because notifications of the kernel miss what happens on network
// file systems and to symbolic links. A look at a file that did not change costs one stat; a bad
// file keeps the set that was delivered last.
#ifndef WEFT_LIB_REGISTRY_FILE_RESOLVER_H_
#define WEFT_LIB_REGISTRY_FILE_RESOLVER_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "event/loop.h"
#include "weft/resolver.h"

namespace weft::inline v0::registry {

// Start and the destructor on any thread, those of the loop among them, and while a look is under
// way; the sink is called on the loop only, and may destroy the resolver. `loop` outlives the
// resolver; what the destructor leaves to be disarmed is freed by the loop, in its next turn or
// with it.
//
// Looking, reading and parsing take the loop's time: a file is for some thousand endpoints, on a
// disk that answers.
class FileResolver final : public Resolver {
 public:
  // `poll_interval`: at least a millisecond.
  FileResolver(event::Loop& loop, std::string path,
               absl::Duration poll_interval = absl::Seconds(1));
  ~FileResolver() override;
  FileResolver(const FileResolver&) = delete;
  FileResolver& operator=(const FileResolver&) = delete;

  // Looks in the loop's next turn, then each `poll_interval`. Errors name the path: NOT_FOUND,
  // PERMISSION_DENIED and the like once while they last, INVALID_ARGUMENT once for each file that
  // cannot be used.
  void Start(std::shared_ptr<ResolverSink> sink) override;

 private:
  class Watch;
  std::shared_ptr<Watch> watch_;
};

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_FILE_RESOLVER_H_
