#include "grpc_interop/native/native_health_client.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "grpc_interop/interop.pb.h"
#include "weft/grpc.h"

namespace weft::inline v0::testing {

NativeHealthClient::NativeHealthClient(const std::vector<std::string>& addresses,
                                       const std::string& service)
    : factory_(*ChannelFactory::Create({})),
      channel_(*factory_->GetChannel(
          absl::StrCat("static:", absl::StrJoin(addresses, ",")),
          {.balancer = RoundRobin(),
           .health_check = {.kind = HealthCheckOptions::Kind::kGrpc, .service = service}})) {}

absl::Status NativeHealthClient::Call() const {
  using Empty = ::grpc::testing::Empty;
  return grpc::Call<Empty>(*channel_, "/grpc.testing.TestService/EmptyCall", Empty(),
                           {.max_attempts = 1})
      .status();
}

int NativeHealthClient::CountHealthy() const {
  const std::vector<HostInfo> hosts = channel_->Hosts();
  return static_cast<int>(std::count_if(hosts.begin(), hosts.end(),
                                        [](const HostInfo& host) { return !host.fails_checks; }));
}

}  // namespace weft::inline v0::testing
