// What went over the wire between this process and a server, as the kernel counts it: whether a
// message was compressed shows in it, whatever client sent or received it.
#ifndef WEFT_TEST_GRPC_INTEROP_WIRE_H_
#define WEFT_TEST_GRPC_INTEROP_WIRE_H_

#include <cstddef>
#include <cstdint>

namespace weft::inline v0::testing {

struct WireCount {
  size_t connections = 0;  // sockets of this process that are connected to the port now
  uint64_t sent = 0;       // bytes of all of them since they were connected
  uint64_t received = 0;
};
WireCount CountWire(uint16_t port);

// Since an earlier count. Throws where connections came or went in between, as their bytes would be
// missing.
WireCount WireSince(const WireCount& before, uint16_t port);

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_WIRE_H_
