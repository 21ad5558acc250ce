// How a Registry of Weft's own comes by a loop.
//
// The public FileRegistry(directory) is made before there is a factory, and gives a plain function.
// The resolvers it opens need a loop, and a factory must not have to ask a user's resolver what it
// is. So a channel opens every registry through OpenOnLoop, and what runs within the call may ask
// for the loop. A registry of the user's own that passes on to a FileRegistry works the same, which
// a method on the resolver that is returned could not do.
#ifndef WEFT_LIB_REGISTRY_OPEN_H_
#define WEFT_LIB_REGISTRY_OPEN_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "event/loop.h"
#include "weft/resolver.h"

namespace weft::inline v0::registry {

// registry(name), during which OpeningLoop is `loop`, on this thread. `loop` outlives the resolver.
// INTERNAL where the registry gives no resolver and no error. `registry` is not null.
absl::StatusOr<std::unique_ptr<Resolver>> OpenOnLoop(const Registry& registry,
                                                     std::string_view name, event::Loop& loop);

// The loop of the innermost OpenOnLoop that runs on this thread; null where none does.
event::Loop* OpeningLoop();

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_OPEN_H_
