#include "weft/balancer.h"

namespace weft::inline v0 {

std::string_view HostStateName(HostState state) {
  switch (state) {
    case HostState::kIdle:
      return "idle";
    case HostState::kConnecting:
      return "connecting";
    case HostState::kReady:
      return "ready";
    case HostState::kBackoff:
      return "back-off";
    case HostState::kClosed:
      return "closed";
  }
  return "unknown";
}

}  // namespace weft::inline v0
