// echo_server: what call_bench and the others call, for those who have no server of their own.
// Prints where it listens, and runs until a signal ends it.
//
//   echo_server [--port=7002] [--slow=0] [--slow-ms=100] [--workers=0]
//
// --slow=0.01: one answer in a hundred, at random, comes --slow-ms later. --workers=N: every answer
// says how many of N workers are busy.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "arguments.h"
#include "echo_server.h"

int main(int argc, char** argv) {
  const weft::bench::Arguments args(
      argc, argv, {{"port", "7002"}, {"slow", "0"}, {"slow-ms", "100"}, {"workers", "0"}});
  const weft::bench::EchoServer server({.port = static_cast<uint16_t>(args.Int("port")),
                                        .slow_share = args.Real("slow"),
                                        .slow_by = std::chrono::milliseconds(args.Int("slow-ms")),
                                        .workers = args.Int("workers")});
  std::printf("%s\n", server.address().c_str());
  std::fflush(stdout);
  pause();
}
