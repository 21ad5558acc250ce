// Address: where a host listens: IPv4, IPv6 or a Unix socket. A value with one spelling.
#ifndef WEFT_LIB_NET_ADDRESS_H_
#define WEFT_LIB_NET_ADDRESS_H_

#include <sys/socket.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace weft::inline v0::net {

class Address {
 public:
  // "10.0.0.7:8080", "[::1]:8080", "localhost:8080" (127.0.0.1), "unix:/path" (at most 107 bytes),
  // "unix:///path". INVALID_ARGUMENT says what is wrong: another name, a port out of 1 … 65535, a
  // scope id (not supported).
  static absl::StatusOr<Address> Parse(std::string_view text);

  // Canonical: equal addresses have equal text.
  const std::string& text() const { return text_; }
  // The address without its port ("10.0.0.7", "::1"), "localhost" for a Unix socket: what
  // certificates are checked for.
  const std::string& host() const { return host_; }
  bool is_unix() const;
  const sockaddr* socket_address() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t socket_address_size() const { return size_; }

  friend bool operator==(const Address& a, const Address& b) { return a.text_ == b.text_; }

 private:
  Address() = default;
  static absl::StatusOr<Address> ParseUnix(std::string_view text, std::string_view path);
  static absl::StatusOr<Address> ParseIp(std::string_view text);
  void Store(const void* socket_address, size_t size);

  std::string text_;
  std::string host_;
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace weft::inline v0::net

#endif  // WEFT_LIB_NET_ADDRESS_H_
