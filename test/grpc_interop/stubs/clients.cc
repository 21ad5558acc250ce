#include "grpc_interop/clients.h"

#include "grpc_interop/native/native_client.h"
#include "grpc_interop/stubs/channel.h"
#include "grpc_interop/stubs/stub_clients.h"

namespace weft::inline v0::testing {

std::vector<InteropClientKind> InteropClients() {
  return {
      {"blocking native calls", MakeNativeBlockingClient},
      {"native calls with callbacks", MakeNativeCallbackClient},
      {"blocking stubs",
       [](const std::string& address) { return MakeStubSyncClient(MakeInteropChannel(address)); }},
      {"completion queue stubs",
       [](const std::string& address) { return MakeStubCqClient(MakeInteropChannel(address)); }},
      {"callback stubs",
       [](const std::string& address) {
         return MakeStubCallbackClient(MakeInteropChannel(address));
       }},
  };
}

}  // namespace weft::inline v0::testing
