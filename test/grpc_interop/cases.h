// The interop cases, each written once, for any client and any server. Names and values of most are
// those of gRPC's own interop tests; they check with Catch, by value.
#ifndef WEFT_TEST_GRPC_INTEROP_CASES_H_
#define WEFT_TEST_GRPC_INTEROP_CASES_H_

#include <functional>
#include <memory>
#include <string>

#include "grpc_interop/client.h"
#include "grpc_interop/server.h"

namespace weft::inline v0::testing {

struct InteropBed {
  InteropClient& client;  // of the server, and of nothing else
  InteropServer& server;
  // Another client of the same kind.
  std::function<std::unique_ptr<InteropClient>(const std::string& address)> make_client;
};
using InteropCase = void (*)(InteropBed& bed);

// cases_unary.cc
void EmptyUnary(InteropBed& bed);
void LargeUnary(InteropBed& bed);
void ClientCompressedUnary(InteropBed& bed);
void ServerCompressedUnary(InteropBed& bed);
void CustomMetadata(InteropBed& bed);
void WaitForReady(InteropBed& bed);
void MaxReceiveSize(InteropBed& bed);
void MaxSendSize(InteropBed& bed);

// cases_streaming.cc
void ClientStreaming(InteropBed& bed);
void ServerStreaming(InteropBed& bed);
void ClientCompressedStreaming(InteropBed& bed);
void ServerCompressedStreaming(InteropBed& bed);
void PingPong(InteropBed& bed);
void HalfDuplex(InteropBed& bed);
void EmptyStream(InteropBed& bed);
void TimeoutOnSleepingServer(InteropBed& bed);
void CancelAfterBegin(InteropBed& bed);
void CancelAfterFirstResponse(InteropBed& bed);

// cases_status.cc
void StatusCodeAndMessage(InteropBed& bed);
void SpecialStatusMessage(InteropBed& bed);
void StatusDetails(InteropBed& bed);
void AllStatusCodes(InteropBed& bed);
void UnimplementedMethod(InteropBed& bed);
void UnimplementedServiceCase(InteropBed& bed);

// cases_load.cc
void Soak(InteropBed& bed);
void ManyThreads(InteropBed& bed);

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_CASES_H_
