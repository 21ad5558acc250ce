// InteropClient over the generated stubs, in each of the three ways that gRPC C++ has of calling.
#ifndef WEFT_TEST_GRPC_INTEROP_STUBS_STUB_CLIENTS_H_
#define WEFT_TEST_GRPC_INTEROP_STUBS_STUB_CLIENTS_H_

#include <grpcpp/impl/codegen/channel_interface.h>

#include <memory>

#include "grpc_interop/client.h"

namespace weft::inline v0::testing {

// Blocking stubs.
std::unique_ptr<InteropClient> MakeStubSyncClient(
    std::shared_ptr<::grpc::ChannelInterface> channel);
// Asynchronous stubs; one thread takes the events of one completion queue for all calls.
std::unique_ptr<InteropClient> MakeStubCqClient(std::shared_ptr<::grpc::ChannelInterface> channel);
// Callbacks and reactors.
std::unique_ptr<InteropClient> MakeStubCallbackClient(
    std::shared_ptr<::grpc::ChannelInterface> channel);

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_STUBS_STUB_CLIENTS_H_
