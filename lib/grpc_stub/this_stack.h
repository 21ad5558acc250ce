// Whether an object lies on the stack of the calling thread.
#ifndef WEFT_LIB_GRPC_STUB_THIS_STACK_H_
#define WEFT_LIB_GRPC_STUB_THIS_STACK_H_

namespace weft::inline v0::grpc {

// A "no" may be wrong (fibers, sanitizers that move locals), a "yes" never is.
bool OnThisStack(const void* object);

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_STUB_THIS_STACK_H_
