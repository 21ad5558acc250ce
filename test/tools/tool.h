// What the tests of the examples share: a program that is run to its end, and the example server.
#ifndef WEFT_TEST_TOOLS_TOOL_H_
#define WEFT_TEST_TOOLS_TOOL_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "support/process.h"

namespace weft::inline v0::testing {

// The path of a built example, or nothing where examples are not built.
std::string ExamplePath(std::string_view name);

struct Ran {
  int exit_status = -1;  // -1: a signal
  std::string out;
  std::string err;
};

// Runs examples/<name> with `input` as its standard input.
Ran RunExample(std::string_view name, const std::vector<std::string>& args,
               std::string_view input = "");

// examples/server.mjs, ready. Null where there is no node.
class ExampleServer {
 public:
  static std::unique_ptr<ExampleServer> Start(const std::vector<std::string>& args = {});
  const std::string& address() const { return address_; }

 private:
  explicit ExampleServer(const std::vector<std::string>& args);
  Process process_;
  std::string address_;
};

}  // namespace weft::inline v0::testing

// For the top of each test case.
#define WEFT_NEEDS_EXAMPLES(server)                        \
  if (::weft::testing::ExamplePath("weft_call").empty()) { \
    WEFT_SKIP("the examples are not built");               \
  }                                                        \
  if ((server) == nullptr) WEFT_SKIP("there is no node to run the example server with")

#endif  // WEFT_TEST_TOOLS_TOOL_H_
