// What is made of what a registry says, before a channel hears of it. It is the same for all
// registries, the user's own included.
//
// Channels of one factory that have the same target share one watch: the registry is asked once,
// and only for services that somebody called. What a registry cannot say it does not take away:
// while it is out of reach, or what it gives cannot be used, the last good set stays in force.
#ifndef WEFT_REGISTRY_OPTIONS_H_
#define WEFT_REGISTRY_OPTIONS_H_

#include <string>

#include "absl/time/time.h"

namespace weft::inline v0 {

// ChannelFactory::Create refuses what is out of range with INVALID_ARGUMENT that names the field.
struct RegistryOptions {
  // From one set of a service to the next one, at least: of those that come sooner the last one is
  // taken then. 0 … 1 min. A set that comes after a longer pause is taken at once.
  absl::Duration coalesce = absl::Milliseconds(100);
  // So long must a registry say that a service that had endpoints has none before that is believed:
  // it is more often its mistake. Zero: at once; infinite: never.
  absl::Duration empty_hold = absl::Seconds(30);
  // A watch goes on for so long after its last channel has gone, so that the next one has its
  // hosts at once. 0 … 1 h.
  absl::Duration linger = absl::Seconds(30);
  // Empty: none. Else the last good set of each service, and its config, are kept in this
  // directory, in the form of a FileRegistry (the name percent-encoded where it is no file's name).
  // They are used by a process that starts while the registry is out of reach: when the registry
  // reports an error before its first set, or has said nothing for a second. Written by a loop's
  // thread, at most each 10 s for a service, and put in place by rename; the directory has to
  // exist.
  std::string snapshot_directory = {};
};

}  // namespace weft::inline v0

#endif  // WEFT_REGISTRY_OPTIONS_H_
