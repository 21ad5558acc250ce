// A tag that comes out of a completion queue when somebody says so.
#ifndef WEFT_LIB_GRPC_STUB_STATE_NOTICE_H_
#define WEFT_LIB_GRPC_STUB_STATE_NOTICE_H_

#include <functional>

#include "grpcpp/completion_queue.h"

namespace weft::inline v0::grpc {

// The queue counts it as an operation from now on (Shutdown waits for it). What is returned is to
// be called once, on any thread; `tag` then comes with that `ok`.
std::function<void(bool ok)> Announce(::grpc::CompletionQueue* queue, void* tag);

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_STUB_STATE_NOTICE_H_
