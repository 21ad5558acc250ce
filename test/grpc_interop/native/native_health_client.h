// A client over Weft's own calls that asks its servers for their health by grpc.health.v1.
#ifndef WEFT_TEST_GRPC_INTEROP_NATIVE_NATIVE_HEALTH_CLIENT_H_
#define WEFT_TEST_GRPC_INTEROP_NATIVE_NATIVE_HEALTH_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "weft/weft.h"

namespace weft::inline v0::testing {

class NativeHealthClient {
 public:
  NativeHealthClient(const std::vector<std::string>& addresses, const std::string& service);

  // Of grpc.testing.TestService/EmptyCall; a single attempt.
  absl::Status Call() const;
  // How many of its servers pass their checks.
  int CountHealthy() const;

 private:
  const std::shared_ptr<ChannelFactory> factory_;
  const std::shared_ptr<Channel> channel_;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_NATIVE_NATIVE_HEALTH_CLIENT_H_
