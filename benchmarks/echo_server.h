// EchoServer: what the benchmarks call, where they are not pointed at a server of the user's:
// gRPC's POST /bench.Echo/Call over h2c, in a process of its own, so that its CPU is not counted as
// the client's. One thread on nghttp2. Any method is answered with grpc-status 0 and a message
// whose payload has as many bytes as the request's resp_size says.
#ifndef WEFT_BENCHMARKS_ECHO_SERVER_H_
#define WEFT_BENCHMARKS_ECHO_SERVER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace weft::bench {

struct EchoServerOptions {
  uint16_t port = 0;                       // of 127.0.0.1; 0: a free one
  double slow_share = 0;                   // 0 … 1: of the answers, at random, so many come
  std::chrono::milliseconds slow_by{100};  // so much later
  uint64_t seed = 1;                       // of which
  int workers = 0;  // says with each answer how many of these are busy; 0: says nothing
};

class EchoServer {
 public:
  // Forks: before there are threads. Ends the program where it cannot listen.
  explicit EchoServer(const EchoServerOptions& options);
  ~EchoServer();
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  uint16_t port_ = 0;
  pid_t process_ = -1;
};

}  // namespace weft::bench

#endif  // WEFT_BENCHMARKS_ECHO_SERVER_H_
