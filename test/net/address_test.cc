#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "support/catch.h"

namespace weft::net {
namespace {

using Catch::Matchers::ContainsSubstring;

Address Good(std::string_view text) {
  absl::StatusOr<Address> address = Address::Parse(text);
  INFO(text << ": " << address.status().ToString());
  REQUIRE(address.ok());
  return *address;
}

std::string Bad(std::string_view text) {
  absl::StatusOr<Address> address = Address::Parse(text);
  INFO(text);
  REQUIRE_FALSE(address.ok());
  CHECK(address.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(address.status().message());
}

TEST_CASE("IPv4") {
  const Address address = Good("10.0.0.7:8080");
  CHECK(address.text() == "10.0.0.7:8080");
  CHECK(address.host() == "10.0.0.7");
  CHECK_FALSE(address.is_unix());
  REQUIRE(address.socket_address_size() == sizeof(sockaddr_in));
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(address.socket_address());
  CHECK(v4->sin_family == AF_INET);
  CHECK(ntohs(v4->sin_port) == 8080);
  CHECK(ntohl(v4->sin_addr.s_addr) == 0x0a000007);
  CHECK(Good("255.255.255.255:65535").text() == "255.255.255.255:65535");
  CHECK(Good("1.2.3.4:1").text() == "1.2.3.4:1");
}

TEST_CASE("IPv6 has one spelling") {
  const Address address = Good("[2001:DB8:0:0:0::1]:443");
  CHECK(address.text() == "[2001:db8::1]:443");
  CHECK(address.host() == "2001:db8::1");
  CHECK(address == Good("[2001:db8::0001]:443"));
  CHECK_FALSE(address == Good("[2001:db8::1]:444"));
  REQUIRE(address.socket_address_size() == sizeof(sockaddr_in6));
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address.socket_address());
  CHECK(v6->sin6_family == AF_INET6);
  CHECK(ntohs(v6->sin6_port) == 443);
  CHECK(Good("[::1]:8080").host() == "::1");
}

TEST_CASE("localhost is 127.0.0.1") {
  CHECK(Good("localhost:8080") == Good("127.0.0.1:8080"));
  CHECK(Good("LocalHost:8080").text() == "127.0.0.1:8080");
  CHECK(Good("localhost:8080").host() == "127.0.0.1");
}

TEST_CASE("Unix sockets") {
  const Address address = Good("unix:/run/svc.sock");
  CHECK(address.text() == "unix:/run/svc.sock");
  CHECK(address.host() == "localhost");
  CHECK(address.is_unix());
  CHECK(address == Good("unix:///run/svc.sock"));
  const auto* un = reinterpret_cast<const sockaddr_un*>(address.socket_address());
  CHECK(un->sun_family == AF_UNIX);
  CHECK(std::string(un->sun_path) == "/run/svc.sock");
  CHECK(address.socket_address_size() == offsetof(sockaddr_un, sun_path) + 14);

  const std::string longest = "/" + std::string(106, 'x');
  CHECK(Good("unix:" + longest).text() == "unix:" + longest);
  CHECK(Good("unix://" + longest).text() == "unix:" + longest);
  CHECK_THAT(Bad("unix:" + longest + "x"), ContainsSubstring("108 bytes"));
  CHECK_THAT(Bad("unix:"), ContainsSubstring("path is missing"));
  CHECK_THAT(Bad("unix:run/svc.sock"), ContainsSubstring("begin with a slash"));
  CHECK_THAT(Bad("unix://host/svc.sock"), ContainsSubstring("unix://"));
  CHECK_THAT(Bad("unix://"), ContainsSubstring("unix://"));
  CHECK_THAT(Bad("unix:////svc.sock"), ContainsSubstring("more than one slash"));
  CHECK_THAT(Bad(std::string_view("unix:/a\0b", 9)), ContainsSubstring("NUL"));
}

TEST_CASE("what is wrong is said") {
  CHECK_THAT(Bad(""), ContainsSubstring("empty"));
  CHECK_THAT(Bad("10.0.0.7"), ContainsSubstring("port is missing"));
  CHECK_THAT(Bad("10.0.0.7:"), ContainsSubstring("port is missing"));
  CHECK_THAT(Bad(":80"), ContainsSubstring("host is missing"));
  CHECK_THAT(Bad("[]:80"), ContainsSubstring("host is missing"));
  CHECK_THAT(Bad("[::1]"), ContainsSubstring("port is missing"));
  CHECK_THAT(Bad("[::1]:"), ContainsSubstring("port is missing"));
  CHECK_THAT(Bad("[::1"), ContainsSubstring("closing bracket"));
  CHECK_THAT(Bad("[::1]80"), ContainsSubstring("colon"));
  CHECK_THAT(Bad("::1:80"), ContainsSubstring("brackets"));
  CHECK_THAT(Bad("[fe80::1%eth0]:80"), ContainsSubstring("scope ids"));
  CHECK_THAT(Bad("[10.0.0.7]:80"), ContainsSubstring("not an IPv6 address"));
  CHECK_THAT(Bad("[::1::2]:80"), ContainsSubstring("not an IPv6 address"));
  CHECK_THAT(Bad("payments:80"), ContainsSubstring("\"payments\" is not an IP address"));
  for (const char* host :
       {"10.0.0", "10.0.0.256", "10.0.0.07", "0x0a.0.0.7", " 10.0.0.7", "10.0.0.7 "}) {
    CHECK_THAT(Bad(std::string(host) + ":80"), ContainsSubstring("not an IP address"));
  }
  CHECK_THAT(Bad(std::string_view("10.0.0.7\0:80", 12)), ContainsSubstring("not an IP address"));
  for (const char* port : {"0", "00", "080", "65536", "99999", "100000", "4294967376", "-1", "+80",
                           " 80", "80 ", "http", "8o", "0x50"}) {
    CHECK_THAT(Bad("10.0.0.7:" + std::string(port)), ContainsSubstring("from 1 to 65535"));
  }
}

TEST_CASE("what is quoted is bounded and harmless") {
  const std::string message = Bad(std::string(100000, '\x1b') + ":80");
  CHECK(message.size() < 2000);
  CHECK(message.find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace weft::net
