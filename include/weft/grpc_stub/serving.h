// ServingLoad (weft/serving.h) in a server on gRPC C++: every call is counted, and says in its
// trailing metadata how much the server has to do.
//
//   weft::ServingLoad load({.workers = 4});   // outlives the server
//   std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> creators;
//   creators.push_back(weft::grpc::MakeServingInterceptor(load));
//   builder.experimental().SetInterceptorCreators(std::move(creators));
//
// counts from a call's arrival to its status, streams too, and needs no word in any handler. What
// an interceptor of gRPC's cannot do is keep a call from its handler; so where calls may be bounced
// a handler begins with
//
//   if (weft::grpc::IsToBounce(*context)) return weft::grpc::BounceStatus();
//
// before it has sent anything. A handler that does not ask takes every call.
#ifndef WEFT_GRPC_STUB_SERVING_H_
#define WEFT_GRPC_STUB_SERVING_H_

#include <memory>

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_interceptor.h"
#include "grpcpp/support/status.h"
#include "weft/serving.h"

namespace weft::inline v0::grpc {

// UNKNOWN, INTERNAL, UNAVAILABLE, DATA_LOSS, RESOURCE_EXHAUSTED and DEADLINE_EXCEEDED count as
// errors of the server.
std::unique_ptr<::grpc::experimental::ServerInterceptorFactoryInterface> MakeServingInterceptor(
    ServingLoad& load);

// Whether the interceptor found, when the call came, that more were in flight than its client
// wishes.
bool IsToBounce(const ::grpc::ServerContextBase& context);
// What such a call ends with; the interceptor adds `weft-bounced` to it.
::grpc::Status BounceStatus();

}  // namespace weft::inline v0::grpc

#endif  // WEFT_GRPC_STUB_SERVING_H_
