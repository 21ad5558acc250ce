#include "grpc_interop/clients.h"

#include "grpc_interop/native/native_client.h"
#include "grpc_interop/stubs/channel.h"
#include "grpc_interop/stubs/stub_clients.h"
#include "support/sanitizers.h"

namespace weft::inline v0::testing {

std::vector<InteropClientKind> InteropClients() {
  std::vector<InteropClientKind> kinds = {
      {"blocking native calls", MakeNativeBlockingClient},
      {"native calls with callbacks", MakeNativeCallbackClient},
  };
#if !WEFT_TSAN
  // What passes between threads through gRPC's queues, which are not instrumented, looks like a
  // race wherever it is touched.
  kinds.push_back({"blocking stubs", [](const std::string& address) {
                     return MakeStubSyncClient(MakeInteropChannel(address));
                   }});
  kinds.push_back({"completion queue stubs", [](const std::string& address) {
                     return MakeStubCqClient(MakeInteropChannel(address));
                   }});
  kinds.push_back({"callback stubs", [](const std::string& address) {
                     return MakeStubCallbackClient(MakeInteropChannel(address));
                   }});
#endif
  return kinds;
}

}  // namespace weft::inline v0::testing
