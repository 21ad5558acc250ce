#include "weft/headers.h"

#include <string>

#include "support/catch.h"

namespace weft {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string Listed(const Headers& headers) {
  std::string text;
  for (const auto [name, value] : headers) text.append(name).append("=").append(value).append(";");
  return text;
}

TEST_CASE("fields keep their order and duplicates, names are lowered") {
  Headers headers = {{"Accept", "A"}, {"x-Id", "1"}, {"ACCEPT", "b"}};
  headers.Add("Last", "");
  CHECK(Listed(headers) == "accept=A;x-id=1;accept=b;last=;");
  CHECK(headers.size() == 4);
  CHECK(headers.bytes() == 6 + 1 + 4 + 1 + 6 + 1 + 4);
}

TEST_CASE("fields are found under any case, and the first one counts") {
  const Headers headers = {{"a", "1"}, {"b", ""}, {"A", "2"}};
  CHECK(headers["A"] == "1");
  CHECK(headers["b"].empty());
  CHECK(headers.Has("B"));
  CHECK(headers.Find("b").has_value());
  CHECK_FALSE(headers.Find("c").has_value());
  CHECK(headers["c"].empty());
  CHECK(headers.All("a") == std::vector<std::string_view>{"1", "2"});
  CHECK(headers.All("c").empty());
}

TEST_CASE("Set replaces all fields of a name, Remove says whether there was one") {
  Headers headers = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
  headers.Set("A", "4");
  CHECK(Listed(headers) == "b=2;a=4;");
  CHECK(headers.Remove("B"));
  CHECK_FALSE(headers.Remove("b"));
  CHECK(Listed(headers) == "a=4;");
  headers.Clear();
  CHECK(headers.empty());
  CHECK(headers.begin() == headers.end());
}

TEST_CASE("views of the object's own bytes may be added to it") {
  Headers headers = {{"name", "value"}};
  for (int i = 0; i < 20; ++i) headers.Add(headers.at(0).name, headers.at(0).value);
  for (size_t i = 0; i < headers.size(); ++i) CHECK(headers.at(i).value == "value");
  headers.Set(headers.at(3).name, headers.at(7).value);
  CHECK(Listed(headers) == "name=value;");
  headers.Remove(headers.at(0).name);
  CHECK(headers.empty());
}

TEST_CASE("many removals leave no garbage behind") {
  Headers headers;
  for (int i = 0; i < 1000; ++i) headers.Set("x", std::to_string(i));
  CHECK(headers.bytes() == 4);
  CHECK(headers["x"] == "999");
}

TEST_CASE("what HTTP/2 may carry is valid") {
  CHECK(Headers().Validate().ok());
  CHECK(Headers({{"x-!#$%&'*+-.^_`|~09", "tab\tinside, and \x80\xff"},
                 {"empty", ""},
                 {"te", "trailers"},
                 {"host", "h"}})
            .Validate()
            .ok());
}

TEST_CASE("what HTTP/2 may not carry is refused, named, and its value is not echoed") {
  const auto [name, value, words] = GENERATE(table<std::string, std::string, std::string>({
      {"", "secret", "\"\" has no name"},
      {":path", "secret", "\":path\" is a pseudo-header"},
      {"sp ace", "secret", "\"sp ace\" has a bad name"},
      {"n\xc3\xa9", "secret", "\"n??\" has a bad name"},
      {"cr\r\nx", "secret", "\"cr??x\" has a bad name"},
      {"colon:", "secret", "has a bad name"},
      {"v", " secret", "has space at an end"},
      {"v", "secret\t", "has space at an end"},
      {"v", "sec\rret", "has a bad byte"},
      {"v", "sec\nret", "has a bad byte"},
      {"v", std::string("sec\0ret", 7), "has a bad byte"},
      {"v", "sec\x7fret", "has a bad byte"},
      {"Connection", "secret", "\"connection\" is connection-specific"},
      {"keep-alive", "secret", "connection-specific"},
      {"proxy-connection", "secret", "connection-specific"},
      {"transfer-encoding", "secret", "connection-specific"},
      {"upgrade", "secret", "connection-specific"},
      {"te", "secret", "may only be"},
  }));
  const absl::Status status = Headers({{"fine", "1"}, {name, value}}).Validate();
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  const std::string text(status.message());
  CHECK_THAT(text, ContainsSubstring(words));
  CHECK(text.find("sec") == std::string::npos);
}

TEST_CASE("a long bad name is cut") {
  const std::string text(Headers({{std::string(1000, ' '), ""}}).Validate().message());
  CHECK(text.size() < 120);
}

}  // namespace
}  // namespace weft
