// The channel below the generated stubs of the interop tests. What it is is said in channel.cc and
// nowhere else.
#ifndef WEFT_TEST_GRPC_INTEROP_STUBS_CHANNEL_H_
#define WEFT_TEST_GRPC_INTEROP_STUBS_CHANNEL_H_

#include <grpcpp/impl/codegen/channel_interface.h>

#include <memory>
#include <string>

#include "grpc_interop/client.h"

namespace weft::inline v0::testing {

// To "127.0.0.1:port", without TLS, with a connection that no other channel shares.
std::shared_ptr<::grpc::ChannelInterface> MakeInteropChannel(const std::string& address);

// What stubs over it can do.
InteropCapabilities InteropChannelCapabilities();

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_STUBS_CHANNEL_H_
