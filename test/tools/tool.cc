#include "tools/tool.h"

#include <sys/wait.h>
#include <unistd.h>

namespace weft::inline v0::testing {

std::string ExamplePath(std::string_view name) {
  const std::string path = WEFT_TEST_BINARY_DIR "/../examples/" + std::string(name);
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

Ran RunExample(std::string_view name, const std::vector<std::string>& args,
               std::string_view input) {
  std::vector<std::string> command = {ExamplePath(name)};
  command.insert(command.end(), args.begin(), args.end());
  Process process({.args = command});
  if (!input.empty()) process.Say(input);
  process.CloseInput();
  Ran ran;
  ran.out = process.ReadToEnd();
  const int status = process.Wait();
  if (WIFEXITED(status)) ran.exit_status = WEXITSTATUS(status);
  ran.err = process.Errors();
  return ran;
}

std::unique_ptr<ExampleServer> ExampleServer::Start(const std::vector<std::string>& args) {
  if (!FindProgram("node").has_value()) return nullptr;
  std::vector<std::string> command = {"node", WEFT_SOURCE_DIR "/examples/server.mjs", "alpha"};
  command.insert(command.end(), args.begin(), args.end());
  return std::unique_ptr<ExampleServer>(new ExampleServer(command));
}

ExampleServer::ExampleServer(const std::vector<std::string>& args)
    : process_({.args = args}), address_(process_.WaitForLine("alpha ").substr(6)) {}

}  // namespace weft::inline v0::testing
