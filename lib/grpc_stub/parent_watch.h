// The end of a server call, for the calls that were made for it.
//
// gRPC ends the child calls of a server call that is cancelled, whose deadline passes or that is
// over, but only as far as its own core carries them. So each child gets a shadow there: a call of
// its core that waits for a host that cannot be reached, and that thus only ever ends when it is
// ended. No thread, no timer and no byte of a network is spent on it.
#ifndef WEFT_LIB_GRPC_STUB_PARENT_WATCH_H_
#define WEFT_LIB_GRPC_STUB_PARENT_WATCH_H_

#include <grpc/grpc.h>

#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace weft::inline v0::grpc {

class ParentWatch {
 public:
  ParentWatch() = default;
  ~ParentWatch();
  ParentWatch(const ParentWatch&) = delete;
  ParentWatch& operator=(const ParentWatch&) = delete;

  // `mask`: GRPC_PROPAGATE_... What is passed over to `ended` is CANCELLED or DEADLINE_EXCEEDED; it
  // is called once, on a thread of gRPC's or on one that is in a call of gRPC's, and also after the
  // watch is gone. It must not block.
  void Start(grpc_call* parent, uint32_t mask, std::function<void(absl::Status)> ended);

 private:
  grpc_call* shadow_ = nullptr;
};

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_STUB_PARENT_WATCH_H_
