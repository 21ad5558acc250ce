// gRPC over Weft, all of the component weft::grpc. Generated stubs are another component's
// (weft/grpc_stub.h).
#ifndef WEFT_GRPC_H_
#define WEFT_GRPC_H_

#include "weft/grpc/call.h"
#include "weft/grpc/context.h"
#include "weft/grpc/message_stream.h"
#include "weft/grpc/status_details.h"
#include "weft/grpc/stream.h"

#endif  // WEFT_GRPC_H_
