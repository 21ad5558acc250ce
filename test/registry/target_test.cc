#include "registry/target.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "support/catch.h"

namespace weft::inline v0::registry {
namespace {

using Catch::Matchers::ContainsSubstring;
using Kind = Target::Kind;

std::vector<std::string> Addresses(std::string_view text) {
  const absl::StatusOr<Target> target = ParseTarget(text);
  INFO(text << ": " << target.status().ToString());
  REQUIRE(target.ok());
  REQUIRE(target->kind == Kind::kEndpoints);
  std::vector<std::string> addresses;
  for (const Endpoint& endpoint : target->endpoints) {
    Endpoint plain;
    plain.address = endpoint.address;
    CHECK(endpoint == plain);
    addresses.push_back(endpoint.address);
  }
  return addresses;
}

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<Target> target = ParseTarget(text);
  INFO(text);
  REQUIRE_FALSE(target.ok());
  CHECK(target.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(target.status().message());
}

using List = std::vector<std::string>;

TEST_CASE("a bare address is a target of one endpoint", "[target]") {
  CHECK(Addresses("10.0.0.7:8080") == List{"10.0.0.7:8080"});
  CHECK(Addresses("[::1]:80") == List{"[::1]:80"});
  CHECK(Addresses("[0:0::1]:80") == List{"[::1]:80"});
  CHECK(Addresses("localhost:80") == List{"127.0.0.1:80"});
}

TEST_CASE("any other bare word is a name of the registry", "[target]") {
  for (const std::string_view name :
       {"payments", "payments.prod", "localhost", "a", "7", "ns/payments:8080", "/svc/payments",
        "payments_v2", "10.0.0", "caf\xc3\xa9"}) {
    const absl::StatusOr<Target> target = ParseTarget(name);
    INFO(name << ": " << target.status().ToString());
    REQUIRE(target.ok());
    CHECK(target->kind == Kind::kName);
    CHECK(target->name == name);
    CHECK(target->endpoints.empty());
    CHECK(target->path.empty());
  }
}

TEST_CASE("lists of addresses", "[target]") {
  CHECK(Addresses("static:10.0.0.7:80,10.0.0.8:80") == List{"10.0.0.7:80", "10.0.0.8:80"});
  CHECK(Addresses("static:///10.0.0.7:80,[::1]:80") == List{"10.0.0.7:80", "[::1]:80"});
  CHECK(Addresses("static:unix:/run/a.sock,10.0.0.7:80") ==
        List{"unix:/run/a.sock", "10.0.0.7:80"});
  CHECK(Addresses("STATIC:10.0.0.7:80") == List{"10.0.0.7:80"});
  CHECK(Addresses("ipv4:10.0.0.7:80,10.0.0.8:81") == List{"10.0.0.7:80", "10.0.0.8:81"});
  CHECK(Addresses("ipv4:///10.0.0.7:80") == List{"10.0.0.7:80"});
  CHECK(Addresses("ipv6:[::1]:80,[2001:db8::2]:80") == List{"[::1]:80", "[2001:db8::2]:80"});
}

TEST_CASE("an address that is given twice is one endpoint", "[target]") {
  CHECK(Addresses("static:10.0.0.7:80,[::1]:80,10.0.0.7:80,[0:0:0:0:0:0:0:1]:80") ==
        List{"10.0.0.7:80", "[::1]:80"});
  CHECK(Addresses("static:localhost:80,127.0.0.1:80") == List{"127.0.0.1:80"});
}

TEST_CASE("sockets of this machine", "[target]") {
  CHECK(Addresses("unix:/run/svc.sock") == List{"unix:/run/svc.sock"});
  CHECK(Addresses("unix:///run/svc.sock") == List{"unix:/run/svc.sock"});
  CHECK(Addresses("unix:/run/a,b.sock") == List{"unix:/run/a,b.sock"});
  CHECK_THAT(ErrorOf("unix:svc.sock"), ContainsSubstring("begin with a slash"));
  CHECK_THAT(ErrorOf("unix:"), ContainsSubstring("path is missing"));
  CHECK_THAT(ErrorOf("unix://run/svc.sock"), ContainsSubstring("\"run\""));
  CHECK_THAT(ErrorOf("unix:/" + std::string(200, 'x')), ContainsSubstring("107"));
  CHECK_THAT(ErrorOf("unix-abstract:svc"), ContainsSubstring("use unix: with a path"));
}

TEST_CASE("files", "[target]") {
  for (const auto& [text, path] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"file:/etc/svc.json", "/etc/svc.json"},
           {"file:///etc/svc.json", "/etc/svc.json"},
           {"file:svc.json", "svc.json"},
           {"file:../100%/a b,c:d.json", "../100%/a b,c:d.json"},
           {"file:80", "80"}}) {
    const absl::StatusOr<Target> target = ParseTarget(text);
    INFO(text << ": " << target.status().ToString());
    REQUIRE(target.ok());
    CHECK(target->kind == Kind::kFile);
    CHECK(target->path == path);
  }
  CHECK_THAT(ErrorOf("file:"), ContainsSubstring("name of a file is missing"));
  CHECK_THAT(ErrorOf("file:///"), ContainsSubstring("name of a file is missing"));
  CHECK_THAT(ErrorOf("file:/etc/"), ContainsSubstring("name of a file is missing"));
  CHECK_THAT(ErrorOf("file://etc/svc.json"),
             ContainsSubstring("write file:etc/svc.json or file:///etc/svc.json"));
}

TEST_CASE("errors name what is wrong and what to write", "[target]") {
  CHECK_THAT(ErrorOf(""), ContainsSubstring("empty") && ContainsSubstring("static:"));
  CHECK_THAT(ErrorOf("dns:///payments:80"),
             ContainsSubstring("target \"dns:///payments:80\": this version has no DNS resolver; "
                               "use ipv4:, ipv6:, static: or file:"));
  CHECK_THAT(ErrorOf("dns:80"), ContainsSubstring("no DNS resolver"));
  for (const char* scheme : {"etcd", "k8s", "consul", "xds"}) {
    CHECK_THAT(ErrorOf(std::string(scheme) + ":///svc"), ContainsSubstring("this version has no"));
  }
  CHECK_THAT(ErrorOf("https://10.0.0.7"), ContainsSubstring("no URL"));
  CHECK_THAT(ErrorOf("zookeeper:///svc"),
             ContainsSubstring("no scheme \"zookeeper:\"") &&
                 ContainsSubstring("static:, ipv4:, ipv6:, unix:, file:"));
  CHECK_THAT(ErrorOf("payments:8080"), ContainsSubstring("needs DNS"));
  CHECK_THAT(ErrorOf("localhost:99999"), ContainsSubstring("port"));
  CHECK_THAT(ErrorOf("10.0.0.7"), ContainsSubstring("write 10.0.0.7:80"));
  CHECK_THAT(ErrorOf("[::1]"), ContainsSubstring("write [::1]:80"));
  CHECK_THAT(ErrorOf("::1"), ContainsSubstring("write [::1]:80"));
  CHECK_THAT(ErrorOf("2001:db8::2"), ContainsSubstring("write [2001:db8::2]:80"));
  CHECK_THAT(ErrorOf("10.0.0.7:0"), ContainsSubstring("port"));
  CHECK_THAT(ErrorOf("10.0.0.7:65536"), ContainsSubstring("65536"));
  CHECK_THAT(ErrorOf("static:10.0.0.7:80,payments:80"), ContainsSubstring("payments"));
  CHECK_THAT(ErrorOf("static:"), ContainsSubstring("address is missing"));
  CHECK_THAT(ErrorOf("static:10.0.0.7:80,"), ContainsSubstring("address is missing"));
  CHECK_THAT(ErrorOf("static:10.0.0.7:80,,10.0.0.8:80"), ContainsSubstring("address is missing"));
  CHECK_THAT(ErrorOf("static://10.0.0.7:80"),
             ContainsSubstring("\"10.0.0.7:80\"") &&
                 ContainsSubstring("write static:10.0.0.7:80 or static:///10.0.0.7:80"));
  CHECK_THAT(ErrorOf("ipv4:[::1]:80"), ContainsSubstring("not an IPv4 address"));
  CHECK_THAT(ErrorOf("ipv6:10.0.0.7:80"), ContainsSubstring("not an IPv6 address"));
  CHECK_THAT(ErrorOf("ipv4:unix:/run/a"), ContainsSubstring("not an IPv4 address"));
}

TEST_CASE("messages stay short and printable", "[target]") {
  CHECK(ErrorOf("zookeeper:" + std::string(1'000'000, 'x')).size() < 500);
  CHECK(ErrorOf(std::string(1'000'000, 'x') + ":" + std::string(1'000'000, '/')).size() < 500);
  CHECK(ErrorOf("static://" + std::string(1'000'000, 'x')).size() < 800);
  const std::string message = ErrorOf(std::string_view("pay\0\n\x1b[31m", 10));
  CHECK_THAT(message, ContainsSubstring("control character"));
  for (const char c : message) CHECK(c >= ' ');
}

}  // namespace
}  // namespace weft::inline v0::registry
