#include "grpc_interop/wire.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace weft::inline v0::testing {
namespace {

// Of the other end; 0 where there is none, or `fd` is no socket of TCP.
uint16_t PeerPort(int fd) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.sin6_family != AF_INET && address.sin6_family != AF_INET6) return 0;
  return ntohs(address.sin6_port);  // At the same place as in sockaddr_in.
}

}  // namespace

WireCount CountWire(uint16_t port) {
  WireCount count;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename().string());
    if (PeerPort(fd) != port) continue;
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) continue;
    ++count.connections;
    count.sent += info.tcpi_bytes_sent - info.tcpi_bytes_retrans;
    count.received += info.tcpi_bytes_received;
  }
  return count;
}

WireCount WireSince(const WireCount& before, uint16_t port) {
  WireCount now = CountWire(port);
  if (now.connections != before.connections || now.sent < before.sent ||
      now.received < before.received) {
    throw std::runtime_error("connections came or went");
  }
  now.sent -= before.sent;
  now.received -= before.received;
  return now;
}

}  // namespace weft::inline v0::testing
