// Context: what a gRPC call carries besides its messages, both ways. The common call needs none.
#ifndef WEFT_GRPC_CONTEXT_H_
#define WEFT_GRPC_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "weft/headers.h"
#include "weft/response.h"

namespace weft::inline v0::grpc {

enum class Compression { kNone, kGzip, kDeflate };

// One object per call. It must outlive the call where one is passed; the fields of the way back are
// written before the call's result is given, whether that is a reply or an error.
struct Context {
  // On the way out
  // ------------------------------------------------------------------------------------------------
  // Names as gRPC allows them; values of names that end in "-bin" are any bytes, here and in what
  // comes back (base64 is the wire's affair).
  Headers metadata = {};
  // Of the request's messages. Answers may always come compressed. In a stream that began with one
  // it may be set to kNone for a single message, and back, by whoever writes.
  Compression compression = Compression::kNone;
  // A message above it, before compression, fails with RESOURCE_EXHAUSTED and is not sent. (That of
  // answers is CallOptions::max_response_bytes, which holds for each message.)
  size_t max_request_bytes = std::numeric_limits<uint32_t>::max();

  // Host name that is asked for (`:authority`); empty: the channel's.
  std::string authority = {};

  // On the way back
  // -----------------------------------------------------------------------------------------------
  Headers initial_metadata = {};   // what the server sent before its first message
  Headers trailing_metadata = {};  // what came with the status
  CallInfo info = {};
};

}  // namespace weft::inline v0::grpc

#endif  // WEFT_GRPC_CONTEXT_H_
