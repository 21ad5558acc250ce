// exit() and fork() with calls in flight, each in a process of its own (faults 48 and 50); see
// probes/life_probe.cc.
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "peers/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {
namespace {

// The status of the probe's end; fails the test where that was a signal.
void CheckProbe(std::string_view mode, const Peer& node, const std::string& roots) {
  // ThreadSanitizer gives up in a child of a program with threads, and waits for a second at the
  // end, unless it is told.
  const char* options = std::getenv("TSAN_OPTIONS");  // NOLINT(concurrency-mt-unsafe)
  // What a child cannot free: the threads that it belongs to are not there.
  const char* leaks = mode == "fork" ? "detect_leaks=0" : "";
  ProcessOptions probe{
      .args = {LifeProbe(), std::string(mode), node.target},
      .environment = {absl::StrCat("TSAN_OPTIONS=", options != nullptr ? options : "",
                                   ":die_after_fork=0:atexit_sleep_ms=0"),
                      absl::StrCat("LSAN_OPTIONS=", leaks)}};
  if (!roots.empty()) probe.args.push_back(roots);
  Process process(probe);
  const std::string said = process.ReadToEnd(absl::Seconds(60));
  const int status = process.Wait();
  INFO(std::string(mode) << ": " << said << process.Errors());
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

void CheckProbes(std::string_view mode, int times) {
  for (const Security security : {Security::kPlain, Security::kTls}) {
    const Peer node = StartNode({.security = security});
    const std::string roots =
        security == Security::kTls ? node.files->Write("roots.pem", PeerCa().pem) : "";
    for (int i = 0; i < times; ++i) CheckProbe(mode, node, roots);
    CHECK(node.process->Ask("idle") == "idle");
  }
}

}  // namespace

TEST_CASE("main returns with calls in flight on a factory of static duration") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  CheckProbes("return", 5);
}

TEST_CASE("exit on one thread while another waits for an answer") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  CheckProbes("exit-thread", 5);
}

TEST_CASE("exit in a callback") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  CheckProbes("exit-callback", 5);
}

TEST_CASE("fork while calls run: the parent goes on, the children are refused and may begin anew") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  CheckProbes("fork", 1);
}

}  // namespace weft::inline v0::testing
