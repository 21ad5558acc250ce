#include "net/posix_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace weft::inline v0::net {
namespace {

std::string Message(int error) { return std::generic_category().message(error); }

absl::Status Exhausted(const char* what) {
  return absl::ResourceExhaustedError(absl::StrCat("cannot be dialled: ", what));
}

int TakeSocketError(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

absl::Status ConnectError(int error) {
  switch (error) {
    case EMFILE:
      return Exhausted("no file descriptor left in this process (EMFILE)");
    case ENFILE:
      return Exhausted("no file descriptor left on this machine (ENFILE)");
    case ENOBUFS:
    case ENOMEM:
      return Exhausted("no memory left for sockets");
    case EADDRNOTAVAIL:
      return Exhausted("no local port or address left (EADDRNOTAVAIL)");
    case ECONNREFUSED:
      return absl::UnavailableError("refused the connection");
    case ECONNRESET:
    case EPIPE:
      return absl::UnavailableError("reset the connection while it was being made");
    case ETIMEDOUT:
      return absl::UnavailableError("did not answer (ETIMEDOUT)");
    case ENOENT:
      return absl::UnavailableError("does not exist: there is no such socket");
    case EAGAIN:
      return absl::UnavailableError("has a full queue of connections (EAGAIN)");
    case EACCES:
    case EPERM:
      return absl::UnavailableError(absl::StrCat("may not be connected to: ", Message(error)));
    default:
      return absl::UnavailableError(absl::StrCat("is unreachable: ", Message(error)));
  }
}

absl::Status TransferError(int error) {
  switch (error) {
    case ECONNRESET:
      return absl::UnavailableError("reset the connection");
    case EPIPE:
      return absl::UnavailableError("closed the connection");
    case ETIMEDOUT:
      return absl::UnavailableError("stopped answering (ETIMEDOUT)");
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
      return absl::UnavailableError(absl::StrCat("became unreachable: ", Message(error)));
    default:
      return absl::UnavailableError(absl::StrCat("lost the connection: ", Message(error)));
  }
}

ConnectState GetConnectState(int fd, int* error) {
  *error = TakeSocketError(fd);
  if (*error != 0) return ConnectState::kFailed;
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof peer;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    const int reason = errno;
    *error = TakeSocketError(fd);  // it may have failed since
    if (*error == 0 && reason == ENOTCONN) return ConnectState::kConnecting;
    if (*error == 0) *error = reason;
    return ConnectState::kFailed;
  }
  if (peer.ss_family == AF_UNIX) return ConnectState::kConnected;
  sockaddr_storage local{};
  socklen_t local_size = sizeof local;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&local), &local_size) != 0)
    return ConnectState::kConnected;
  const bool same = peer_size == local_size && std::memcmp(&peer, &local, peer_size) == 0;
  return same ? ConnectState::kToItself : ConnectState::kConnected;
}

}  // namespace weft::inline v0::net
