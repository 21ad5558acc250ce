// The servers of the interop service, started on a port of their choice and asked over their
// standard input.
#ifndef WEFT_TEST_GRPC_INTEROP_SERVER_H_
#define WEFT_TEST_GRPC_INTEROP_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "support/process.h"

namespace weft::inline v0::testing {

enum class InteropServerKind { kGrpcCpp, kGrpcJs };
std::string_view NameOf(InteropServerKind kind);

// Empty where a server of that kind can be started; otherwise what to say when a test is skipped.
// With WEFT_REQUIRE_PEERS=1 in the environment it throws that instead.
std::string MissingServer(InteropServerKind kind);

class InteropServer {
 public:
  // Throws where it does not start. Port 0: one that is free.
  explicit InteropServer(InteropServerKind kind, uint16_t port = 0);

  InteropServerKind kind() const { return kind_; }
  const std::string& address() const { return address_; }
  uint16_t port() const { return port_; }
  // Whether it knows which requests came compressed, and compresses answers. One that does not
  // refuses what asks for it with UNIMPLEMENTED.
  bool sees_compression() const { return sees_compression_; }
  bool answers_compressed() const { return answers_compressed_; }

  // Addresses of clients that calls came from since the last ForgetPeers.
  int CountPeers();
  void ForgetPeers();
  // Of a service, by grpc.health.v1; with gRPC C++ only. One that was never set is not known.
  void SetServing(const std::string& service, bool serving);
  Process& process() { return *process_; }

 private:
  InteropServerKind kind_;
  std::unique_ptr<Process> process_;
  std::string address_;
  uint16_t port_ = 0;
  bool sees_compression_ = false;
  bool answers_compressed_ = false;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_SERVER_H_
