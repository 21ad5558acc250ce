#include "registry/endpoint_file.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "support/catch.h"

namespace weft::inline v0::registry {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

std::vector<Endpoint> Parse(std::string_view text) {
  absl::StatusOr<std::vector<Endpoint>> endpoints = ParseEndpointFile(text);
  INFO(endpoints.status().ToString());
  REQUIRE(endpoints.ok());
  return *std::move(endpoints);
}

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<std::vector<Endpoint>> endpoints = ParseEndpointFile(text);
  REQUIRE_FALSE(endpoints.ok());
  CHECK(endpoints.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(endpoints.status().message());
}

// The error of a file with one endpoint, which has an address and these fields.
std::string ErrorOfFields(const std::string& fields) {
  return ErrorOf(R"({"endpoints": [{"address": "a:1", )" + fields + "}]}");
}

TEST_CASE("every field is read", "[endpoint_file]") {
  const std::vector<Endpoint> endpoints = Parse(R"({"endpoints": [
      {"address": "10.0.0.7:80", "weight": 2.5, "priority": 127, "draining": true,
       "locality": {"region": "eu", "zone": "a", "sub_zone": "r1"},
       "metadata": {"k": "v", "": "", "address": "x"}},
      {"address": "unix:/run/a"}]})");
  REQUIRE(endpoints.size() == 2);
  const Endpoint& first = endpoints[0];
  CHECK(first.address == "10.0.0.7:80");
  CHECK(first.weight == 2.5);
  CHECK(first.priority == 127);
  CHECK(first.draining);
  CHECK(first.locality == Locality{"eu", "a", "r1"});
  CHECK(first.metadata ==
        std::map<std::string, std::string>{{"k", "v"}, {"", ""}, {"address", "x"}});
  Endpoint second;
  second.address = "unix:/run/a";
  CHECK(endpoints[1] == second);
}

TEST_CASE("what may be left out or empty", "[endpoint_file]") {
  CHECK(Parse(R"({"endpoints": []})").empty());
  CHECK(Parse("\xef\xbb\xbf \n{\"endpoints\"\t:[]}\n").empty());
  const std::vector<Endpoint> endpoints =
      Parse(R"({"endpoints": [{"metadata": {}, "locality": {}, "address": "x", "weight": 1}]})");
  REQUIRE(endpoints.size() == 1);
  CHECK(endpoints[0].locality == Locality());
  CHECK(endpoints[0].metadata.empty());
}

TEST_CASE("addresses are not judged here", "[endpoint_file]") {
  CHECK(Parse(R"({"endpoints": [{"address": "no address"}, {"address": "x:99999"}]})").size() == 2);
}

TEST_CASE("errors name the field", "[endpoint_file]") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({})", R"(the file: has no "endpoints")"},
      {R"([])", "the file: must be an object, not an array"},
      {R"(null)", "the file: must be an object, not null"},
      {R"("endpoints")", "the file: must be an object, not a string"},
      {R"(1)", "the file: must be an object, not a number"},
      {R"({"endpoints": {}})", "endpoints: must be an array, not an object"},
      {R"({"endpoints": null})", "endpoints: must be an array, not null"},
      {R"({"endpoints": "a"})", "endpoints: must be an array, not a string"},
      {R"({"endpoints": [], "endpoints": []})", "endpoints: given twice"},
      {R"({"endpoint": []})", R"(the file: unknown field "endpoint"; known are endpoints)"},
      {R"({"endpoints": ["a:1"]})", "endpoints[0]: must be an object, not a string"},
      {R"({"endpoints": [{"address": "a"}, 7]})", "endpoints[1]: must be an object, not a number"},
      {R"({"endpoints": [[]]})", "endpoints[0]: must be an object, not an array"},
      {R"({"endpoints": [{"address": "a"}, {}]})", R"(endpoints[1]: has no "address")"},
      {R"({"endpoints": [{"address": ""}]})", "endpoints[0].address: must not be empty"},
      {R"({"endpoints": [{"address": 7}]})",
       "endpoints[0].address: must be a string, not a number"},
      {R"({"endpoints": [{"address": "a", "address": "a"}]})", "endpoints[0].address: given twice"},
      {R"({"endpoints": [{"adress": "a"}]})",
       R"(endpoints[0]: unknown field "adress"; known are address, weight, priority, draining, )"
       "locality, metadata"},
  };
  for (const auto& [text, message] : cases) {
    INFO(text);
    CHECK(ErrorOf(text) == message);
  }
}

TEST_CASE("errors name the field of an endpoint", "[endpoint_file]") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("weight": 0)", "weight: must be above 0"},
      {R"("weight": -1)", "weight: must be above 0"},
      {R"("weight": -0.0)", "weight: must be above 0"},
      {R"("weight": "1")", "weight: must be a number, not a string"},
      {R"("weight": null)", "weight: must be a number, not null"},
      {R"("weight": true)", "weight: must be a number, not true or false"},
      {R"("weight": [1])", "weight: must be a number, not an array"},
      {R"("weight": {})", "weight: must be a number, not an object"},
      {R"("weight": 1, "weight": 1)", "weight: given twice"},
      {R"("priority": -1)", "priority: must be from 0 to 127"},
      {R"("priority": 128)", "priority: must be from 0 to 127"},
      {R"("priority": 18446744073709551615)", "priority: must be from 0 to 127"},
      {R"("priority": -9223372036854775808)", "priority: must be from 0 to 127"},
      {R"("priority": 1.0)", "priority: must be an integer, not a fraction"},
      {R"("priority": "1")", "priority: must be an integer, not a string"},
      {R"("draining": 1)", "draining: must be true or false, not a number"},
      {R"("draining": "true")", "draining: must be true or false, not a string"},
      {R"("draining": null)", "draining: must be true or false, not null"},
      {R"("locality": "eu")", "locality: must be an object, not a string"},
      {R"("locality": [])", "locality: must be an object, not an array"},
      {R"("locality": {"zone": 1})", "locality.zone: must be a string, not a number"},
      {R"("locality": {"zone": {}})", "locality.zone: must be a string, not an object"},
      {R"("locality": {"zone": "a", "zone": "a"})", "locality.zone: given twice"},
      {R"("locality": {"rack": "a"})",
       R"(locality: unknown field "rack"; known are region, zone, sub_zone)"},
      {R"("locality": {}, "locality": {})", "locality: given twice"},
      {R"("metadata": [])", "metadata: must be an object, not an array"},
      {R"("metadata": {"k": 1})", R"(metadata["k"]: must be a string, not a number)"},
      {R"("metadata": {"k": ["v"]})", R"(metadata["k"]: must be a string, not an array)"},
      {R"("metadata": {"k": {}})", R"(metadata["k"]: must be a string, not an object)"},
      {R"("metadata": {"k": true})", R"(metadata["k"]: must be a string, not true or false)"},
      {R"("metadata": {"k": "v", "k": "v"})", R"(metadata: "k" is given twice)"},
      {R"("metadata": {}, "metadata": {})", "metadata: given twice"},
  };
  for (const auto& [fields, message] : cases) {
    INFO(fields);
    CHECK(ErrorOfFields(fields) == "endpoints[0]." + message);
  }
}

TEST_CASE("the fields of one endpoint are not those of the next", "[endpoint_file]") {
  const std::vector<Endpoint> endpoints = Parse(R"({"endpoints": [
      {"address": "a", "locality": {"zone": "z"}, "metadata": {"k": "v"}, "weight": 3},
      {"address": "b", "locality": {"zone": "y"}, "metadata": {"k": "w"}}]})");
  REQUIRE(endpoints.size() == 2);
  CHECK(endpoints[1].weight == 1);
  CHECK(endpoints[1].locality.zone == "y");
  CHECK(endpoints[1].metadata.at("k") == "w");
}

TEST_CASE("what is no JSON is told with its place", "[endpoint_file]") {
  CHECK_THAT(ErrorOf("{\"endpoints\": [\n  {\"address\": }]}"),
             StartsWith("not JSON at byte ") && ContainsSubstring("line 2, column 15"));
  for (const std::string_view text :
       {"", " ", "{", R"({"endpoints": [)", R"({"endpoints": []} x)", R"({"endpoints": [],})",
        R"({"endpoints": []}{})", R"({'endpoints': []})", "// no\n{\"endpoints\": []}",
        "{\"endpoints\": [{\"address\": \"\xff\"}]}", R"({"endpoints": [{"address": "a)"}) {
    INFO(text);
    CHECK_THAT(ErrorOf(text), StartsWith("not JSON at byte "));
  }
  CHECK_THAT(ErrorOfFields(R"("weight": 1e999)"), StartsWith("not JSON at byte "));
  CHECK_THAT(ErrorOfFields(R"("weight": NaN)"), StartsWith("not JSON at byte "));
  CHECK_THAT(ErrorOf(std::string_view("\0\0\0\0", 4)), StartsWith("not JSON at byte "));
  // The JSON library takes a zero byte for the end of the text.
  CHECK_THAT(ErrorOf(std::string_view("{\"endpoints\": []}\0x", 19)),
             StartsWith("not JSON at byte 18"));
}

TEST_CASE("limits", "[endpoint_file]") {
  CHECK(ErrorOf(std::string(kMaxEndpointFileBytes + 1, ' ')) == "longer than 64 MiB");

  std::string many = R"({"endpoints": [{"address": "a"})";
  for (size_t i = 1; i < kMaxEndpointsPerFile; ++i) many += R"(,{"address": "a"})";
  CHECK(Parse(many + "]}").size() == kMaxEndpointsPerFile);
  CHECK(ErrorOf(many + R"(,{"address": "a"}]})") ==
        "endpoints[100000]: more than 100000 endpoints");

  // Depth is an error where it begins, whatever follows.
  CHECK(ErrorOf(R"({"endpoints": )" + std::string(10'000'000, '[')) ==
        "endpoints[0]: must be an object, not an array");
  CHECK(ErrorOf(std::string(10'000'000, '[')) == "the file: must be an object, not an array");
}

TEST_CASE("messages stay short", "[endpoint_file]") {
  const std::string long_text(1'000'000, 'x');
  CHECK(ErrorOf("{\"" + long_text + "\": 1}").size() < 300);
  CHECK(ErrorOf("{\"endpoints\": \"" + long_text).size() < 300);
  CHECK(ErrorOf("{\"endpoints\": " + long_text).size() < 300);
  CHECK(ErrorOfFields("\"metadata\": {\"" + long_text + "\": 1}").size() < 300);
  CHECK(ErrorOfFields("\"weight\": 1e" + std::string(100'000, '9')).size() < 300);
}

}  // namespace
}  // namespace weft::inline v0::registry
