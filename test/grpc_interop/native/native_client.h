// Clients of the interop service over Weft's own gRPC calls: each operation in its blocking form,
// or in its form with a callback that is waited for.
#ifndef WEFT_TEST_GRPC_INTEROP_NATIVE_NATIVE_CLIENT_H_
#define WEFT_TEST_GRPC_INTEROP_NATIVE_NATIVE_CLIENT_H_

#include <memory>
#include <string>

#include "grpc_interop/client.h"

namespace weft::inline v0::testing {

// With a ChannelFactory, and so a connection, of its own.
std::unique_ptr<InteropClient> MakeNativeBlockingClient(const std::string& address);
std::unique_ptr<InteropClient> MakeNativeCallbackClient(const std::string& address);

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_NATIVE_NATIVE_CLIENT_H_
