#include "grpc_interop/stubs/channel.h"

#include <utility>

#include "weft/grpc_stub.h"
#include "weft/weft.h"

namespace weft::inline v0::testing {
namespace {

// A factory goes with its channel, so that each channel has a connection of its own.
struct OwnFactory {
  std::shared_ptr<ChannelFactory> factory;
  std::shared_ptr<::grpc::ChannelInterface> channel;
};

}  // namespace

std::shared_ptr<::grpc::ChannelInterface> MakeInteropChannel(const std::string& address) {
  auto own = std::make_shared<OwnFactory>();
  own->factory = *ChannelFactory::Create();
  own->channel = grpc::MakeChannel(*own->factory->GetChannel(address));
  ::grpc::ChannelInterface* const channel = own->channel.get();
  return {std::move(own), channel};
}

InteropCapabilities InteropChannelCapabilities() {
  // Interceptors do not see WriteOptions.
  return {.message_without_compression = false};
}

}  // namespace weft::inline v0::testing
