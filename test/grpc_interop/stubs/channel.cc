#include "grpc_interop/stubs/channel.h"

#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

namespace weft::inline v0::testing {

std::shared_ptr<::grpc::ChannelInterface> MakeInteropChannel(const std::string& address) {
  // gRPC ends its threads with its last channel, and on a busy machine 1.51 waits ten seconds for
  // one of them to look up from its poll: it is kept running for good.
  [[maybe_unused]] static const bool kept = [] {
    grpc_init();
    return true;
  }();
  ::grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return ::grpc::CreateCustomChannel(address, ::grpc::InsecureChannelCredentials(), arguments);
}

InteropCapabilities InteropChannelCapabilities() { return {}; }

}  // namespace weft::inline v0::testing
