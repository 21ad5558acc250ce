#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace weft::inline v0::net {
namespace {

constexpr size_t kMaxUnixPath = sizeof(sockaddr_un::sun_path) - 1;

// What is quoted came from files and registries: bounded, and nothing that a terminal would obey.
std::string Quoted(std::string_view text) {
  constexpr size_t kMaxQuoted = 128;
  const char* more = text.size() > kMaxQuoted ? "…" : "";
  return absl::StrCat("\"", absl::CHexEscape(std::string(text.substr(0, kMaxQuoted))), more, "\"");
}

absl::Status Invalid(std::string_view text, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("address ", Quoted(text), ": ", why));
}

bool ConsumePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Digits only, no zero before them.
std::optional<uint16_t> ParsePort(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.front() == '0') return std::nullopt;
  uint32_t port = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    port = port * 10 + static_cast<uint32_t>(c - '0');
  }
  if (port > 65535) return std::nullopt;
  return static_cast<uint16_t>(port);
}

// inet_pton reads to the first NUL; with one, the text is no address.
bool ReadIp(int family, std::string_view text, void* to) {
  if (text.find('\0') != std::string_view::npos) return false;
  return inet_pton(family, std::string(text).c_str(), to) == 1;
}

}  // namespace

bool Address::is_unix() const { return storage_.ss_family == AF_UNIX; }

absl::StatusOr<Address> Address::Parse(std::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("address is empty");
  std::string_view rest = text;
  if (ConsumePrefix(rest, "unix:")) return ParseUnix(text, rest);
  return ParseIp(text);
}

absl::StatusOr<Address> Address::ParseUnix(std::string_view text, std::string_view path) {
  if (path.empty()) return Invalid(text, "the path is missing");
  if (path.front() != '/') return Invalid(text, "the path must begin with a slash");
  if (ConsumePrefix(path, "//")) {
    if (!path.starts_with("/"))
      return Invalid(text, "unix:// is followed by a path that begins with a slash");
    if (path.starts_with("//")) return Invalid(text, "the path begins with more than one slash");
  }
  if (path.size() > kMaxUnixPath) {
    return Invalid(text,
                   absl::StrCat("the path has ", path.size(), " bytes, of at most ", kMaxUnixPath));
  }
  if (path.find('\0') != std::string_view::npos) return Invalid(text, "the path has a NUL in it");

  sockaddr_un socket_address{};
  socket_address.sun_family = AF_UNIX;
  std::memcpy(socket_address.sun_path, path.data(), path.size());
  Address address;
  address.text_ = "unix:" + std::string(path);
  address.host_ = "localhost";
  address.Store(&socket_address, offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

absl::StatusOr<Address> Address::ParseIp(std::string_view text) {
  const bool bracketed = text.front() == '[';
  std::string_view host;
  std::string_view port_text;
  if (bracketed) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return Invalid(text, "the closing bracket is missing");
    host = text.substr(1, end - 1);
    port_text = text.substr(end + 1);
    if (port_text.empty()) return Invalid(text, "the port is missing");
    if (!ConsumePrefix(port_text, ":"))
      return Invalid(text, "a colon and the port must follow the bracket");
  } else {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) return Invalid(text, "the port is missing");
    if (text.find(':', colon + 1) != std::string_view::npos) {
      return Invalid(text, "an IPv6 address is written in brackets: [::1]:80");
    }
    host = text.substr(0, colon);
    port_text = text.substr(colon + 1);
  }
  if (host.empty()) return Invalid(text, "the host is missing");
  if (port_text.empty()) return Invalid(text, "the port is missing");
  const std::optional<uint16_t> port = ParsePort(port_text);
  if (!port.has_value()) {
    return Invalid(
        text, absl::StrCat("the port ", Quoted(port_text), " is not a number from 1 to 65535"));
  }

  Address address;
  char canonical[INET6_ADDRSTRLEN];
  if (bracketed) {
    sockaddr_in6 v6{};
    if (host.find('%') != std::string_view::npos)
      return Invalid(text, "scope ids are not supported");
    if (!ReadIp(AF_INET6, host, &v6.sin6_addr))
      return Invalid(text, "what is in brackets is not an IPv6 address");
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(*port);
    inet_ntop(AF_INET6, &v6.sin6_addr, canonical, sizeof canonical);
    address.text_ = absl::StrCat("[", canonical, "]:", *port);
    address.Store(&v6, sizeof v6);
  } else {
    sockaddr_in v4{};
    if (absl::EqualsIgnoreCase(std::string(host), "localhost")) {
      v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else if (!ReadIp(AF_INET, host, &v4.sin_addr)) {
      return Invalid(text, absl::StrCat(Quoted(host),
                                        " is not an IP address, and names are not resolved here"));
    }
    v4.sin_family = AF_INET;
    v4.sin_port = htons(*port);
    inet_ntop(AF_INET, &v4.sin_addr, canonical, sizeof canonical);
    address.text_ = absl::StrCat(canonical, ":", *port);
    address.Store(&v4, sizeof v4);
  }
  address.host_ = canonical;
  return address;
}

void Address::Store(const void* socket_address, size_t size) {
  std::memcpy(&storage_, socket_address, size);
  size_ = static_cast<socklen_t>(size);
}

}  // namespace weft::inline v0::net
