#include "registry/target.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "net/address.h"

namespace weft::inline v0::registry {
namespace {

constexpr std::string_view kKnownSchemes = "static:, ipv4:, ipv6:, unix:, file:";

// A family that an entry may have; kAnyFamily: each of them.
constexpr int kAnyFamily = -1;

// So that one wrong byte in a megabyte of text does not make a megabyte of message.
std::string Shown(std::string_view text) {
  constexpr size_t kMaxShown = 100;
  std::string shown;
  for (const char c : text.substr(0, kMaxShown)) {
    shown += absl::ascii_iscntrl(static_cast<unsigned char>(c)) ? '?' : c;
  }
  if (text.size() > kMaxShown) shown += "...";
  return shown;
}

absl::Status Wrong(std::string_view target, std::string_view why) {
  return absl::InvalidArgumentError("target \"" + Shown(target) + "\": " + std::string(why));
}

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
}

// The scheme as RFC 3986 spells it, empty where there is none; schemes do not differ by case.
std::string SchemeOf(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return "";
  std::string scheme;
  for (const char c : text.substr(0, colon)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool inner = absl::ascii_isdigit(byte) || c == '+' || c == '-' || c == '.';
    if (!absl::ascii_isalpha(byte) && (scheme.empty() || !inner)) return "";
    scheme += absl::ascii_tolower(byte);
  }
  return scheme;
}

// What to say of schemes that other clients know.
std::string_view AdviceFor(std::string_view scheme) {
  constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
      {"dns", "this version has no DNS resolver; use ipv4:, ipv6:, static: or file:"},
      {"etcd", "this version has no etcd resolver; use static:, file: or a registry of your own"},
      {"k8s", "this version has no k8s resolver; use static:, file: or a registry of your own"},
      {"consul",
       "this version has no Consul resolver; use static:, file: or a registry of your own"},
      {"xds", "this version has no xDS client; use static:, file: or a registry of your own"},
      {"unix-abstract", "this version has no abstract sockets; use unix: with a path"},
      {"http", "a target is no URL; write its address and port alone, as in 10.0.0.7:80"},
      {"https",
       "a target is no URL; write its address and port alone, as in 10.0.0.7:443, and set "
       "ChannelOptions for TLS"},
  };
  for (const auto& [known, advice] : kAdvice) {
    if (known == scheme) return advice;
  }
  return "";
}

// Strips the "//" of a URI, whose authority must be empty.
absl::StatusOr<std::string_view> PathOf(std::string_view target, std::string_view scheme,
                                        std::string_view rest, bool rooted) {
  if (rest.substr(0, 2) != "//") return rest;
  rest.remove_prefix(2);
  if (rest.empty() || rest.front() != '/') {
    const std::string authority(rest.substr(0, rest.find('/')));
    return Wrong(target, "nothing may stand between // and the next /, but \"" + Shown(authority) +
                             "\" does; write " + std::string(scheme) + ":" + Shown(rest) + " or " +
                             std::string(scheme) + ":///" + Shown(rest));
  }
  if (!rooted) rest.remove_prefix(1);
  return rest;
}

absl::Status AddEndpoint(std::string_view target, std::string_view entry, int family,
                         std::unordered_set<std::string>& seen, std::vector<Endpoint>& endpoints) {
  if (entry.empty()) return Wrong(target, "an address is missing, as in 10.0.0.7:80");
  const absl::StatusOr<net::Address> address = net::Address::Parse(entry);
  if (!address.ok()) return Wrong(target, std::string(address.status().message()));
  if (family != kAnyFamily && address->socket_address()->sa_family != family) {
    return Wrong(target, "\"" + Shown(entry) + "\" is not an " +
                             (family == AF_INET ? "IPv4" : "IPv6") +
                             " address; use static: for a list of any kind");
  }
  if (!seen.insert(address->text()).second) return absl::OkStatus();
  Endpoint endpoint;
  endpoint.address = address->text();
  endpoints.push_back(std::move(endpoint));
  return absl::OkStatus();
}

absl::StatusOr<Target> ParseList(std::string_view target, std::string_view list, int family) {
  Target result;
  result.kind = Target::Kind::kEndpoints;
  std::unordered_set<std::string> seen;
  while (true) {
    const size_t comma = list.find(',');
    const absl::Status added =
        AddEndpoint(target, list.substr(0, comma), family, seen, result.endpoints);
    if (!added.ok()) return added;
    if (comma == std::string_view::npos) return result;
    list.remove_prefix(comma + 1);
  }
}

absl::StatusOr<Target> ParseOne(std::string_view target, std::string_view address) {
  Target result;
  result.kind = Target::Kind::kEndpoints;
  std::unordered_set<std::string> seen;
  const absl::Status added = AddEndpoint(target, address, kAnyFamily, seen, result.endpoints);
  if (!added.ok()) return added;
  return result;
}

absl::StatusOr<Target> ParseFile(std::string_view target, std::string_view path) {
  if (path.empty() || path.back() == '/') {
    return Wrong(target, "the name of a file is missing, as in file:/etc/svc.json");
  }
  Target result;
  result.kind = Target::Kind::kFile;
  result.path = std::string(path);
  return result;
}

// Neither scheme nor '/': a colon is one of an address.
absl::StatusOr<Target> ParseBare(std::string_view text) {
  absl::StatusOr<Target> one = ParseOne(text, text);
  if (one.ok()) return one;
  for (const std::string& with_port :
       {std::string(text) + ":80", "[" + std::string(text) + "]:80"}) {
    if (net::Address::Parse(with_port).ok()) {
      return Wrong(text, "an address needs a port, and IPv6 brackets; write " + with_port);
    }
  }
  const size_t colon = text.rfind(':');
  if (absl::ascii_isalpha(static_cast<unsigned char>(text.front())) &&
      AllDigits(text.substr(colon + 1)) && text.substr(0, colon) != "localhost") {
    return Wrong(text,
                 "a host name with a port needs DNS, which this version has not; use an IP "
                 "address, or a name in the registry without a port");
  }
  return one;
}

absl::StatusOr<Target> ParseName(std::string_view text) {
  // "localhost" may be a service's name; a number with dots is a slip.
  const std::string with_port = std::string(text) + ":80";
  if (absl::ascii_isdigit(static_cast<unsigned char>(text.front())) &&
      net::Address::Parse(with_port).ok()) {
    return Wrong(text, "an address needs a port; write " + with_port);
  }
  Target result;
  result.kind = Target::Kind::kName;
  result.name = std::string(text);
  return result;
}

}  // namespace

absl::StatusOr<Target> ParseTarget(std::string_view text) {
  if (text.empty()) {
    return absl::InvalidArgumentError(
        "the target is empty; write a service's name, an address as in 10.0.0.7:80, or one of " +
        std::string(kKnownSchemes));
  }
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); })) {
    return Wrong(text, "it has a control character (shown as ?)");
  }

  const std::string scheme = SchemeOf(text);
  const bool is_list = scheme == "static" || scheme == "ipv4" || scheme == "ipv6";
  if (is_list || scheme == "unix" || scheme == "file") {
    const absl::StatusOr<std::string_view> rest =
        PathOf(text, scheme, text.substr(scheme.size() + 1), /*rooted=*/!is_list);
    if (!rest.ok()) return rest.status();
    if (scheme == "file") return ParseFile(text, *rest);
    if (scheme == "unix") return ParseOne(text, "unix:" + std::string(*rest));
    return ParseList(text, *rest,
                     scheme == "ipv4"   ? AF_INET
                     : scheme == "ipv6" ? AF_INET6
                                        : kAnyFamily);
  }
  const std::string_view advice = AdviceFor(scheme);
  if (!advice.empty()) return Wrong(text, advice);

  const size_t colon = text.find(':');
  const size_t slash = text.find('/');
  if (!scheme.empty() && !AllDigits(text.substr(colon + 1))) {
    return Wrong(text, "there is no scheme \"" + Shown(scheme) + ":\"; known are " +
                           std::string(kKnownSchemes));
  }
  if (colon != std::string_view::npos && slash == std::string_view::npos) return ParseBare(text);
  return ParseName(text);
}

}  // namespace weft::inline v0::registry
