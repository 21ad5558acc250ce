#include "weft/grpc_stub/serving.h"

#include <map>
#include <string>
#include <string_view>

namespace weft::inline v0::grpc {
namespace {

using ::grpc::experimental::InterceptionHookPoints;

constexpr char kBounceAbove[] = "weft-bounce-above";
// Among the metadata of the call that came, where its handler finds it, and in its answer's.
constexpr char kBounced[] = "weft-bounced";

bool IsError(::grpc::StatusCode code) {
  switch (code) {
    case ::grpc::StatusCode::UNKNOWN:
    case ::grpc::StatusCode::INTERNAL:
    case ::grpc::StatusCode::UNAVAILABLE:
    case ::grpc::StatusCode::DATA_LOSS:
    case ::grpc::StatusCode::RESOURCE_EXHAUSTED:
    case ::grpc::StatusCode::DEADLINE_EXCEEDED:
      return true;
    default:
      return false;
  }
}

// Of one call; gRPC asks it one thing after the other.
class ServingInterceptor final : public ::grpc::experimental::Interceptor {
 public:
  explicit ServingInterceptor(ServingLoad& load) : load_(load) {}

  void Intercept(::grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA))
      OnCall(*methods->GetRecvInitialMetadata());
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS))
      OnStatus(methods->GetSendStatus(), *methods->GetSendTrailingMetadata());
    methods->Proceed();
  }

 private:
  void OnCall(std::multimap<::grpc::string_ref, ::grpc::string_ref>& metadata) {
    const auto above = metadata.find(kBounceAbove);
    to_bounce_ = above != metadata.end() &&
                 load_.Bounces(std::string_view(above->second.data(), above->second.size()));
    metadata.erase(kBounced);  // a client's word
    if (to_bounce_) metadata.emplace(kBounced, "1");
    // Whether its handler asks or not: if it takes the call, that counts.
    request_ = load_.Begin();
  }
  void OnStatus(const ::grpc::Status& status, std::multimap<std::string, std::string>& trailers) {
    const bool bounced = to_bounce_ && status.error_code() == BounceStatus().error_code() &&
                         status.error_message() == BounceStatus().error_message();
    if (bounced) {
      request_.Refuse();
      trailers.emplace(kBounced, "1");
    } else {
      request_.End(!IsError(status.error_code()));
    }
    trailers.emplace("endpoint-load-metrics-bin", load_.ReportBinary());
  }

  ServingLoad& load_;
  ServingRequest request_;
  bool to_bounce_ = false;
};

class ServingFactory final : public ::grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit ServingFactory(ServingLoad& load) : load_(load) {}
  ::grpc::experimental::Interceptor* CreateServerInterceptor(
      ::grpc::experimental::ServerRpcInfo*) override {
    return new ServingInterceptor(load_);
  }

 private:
  ServingLoad& load_;
};

}  // namespace

std::unique_ptr<::grpc::experimental::ServerInterceptorFactoryInterface> MakeServingInterceptor(
    ServingLoad& load) {
  return std::make_unique<ServingFactory>(load);
}

bool IsToBounce(const ::grpc::ServerContextBase& context) {
  return context.client_metadata().count(kBounced) > 0;
}

::grpc::Status BounceStatus() {
  return {::grpc::StatusCode::UNAVAILABLE, "the server has too much to do: bounced"};
}

}  // namespace weft::inline v0::grpc
