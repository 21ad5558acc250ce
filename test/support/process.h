// Process: a server or another program that a test starts, talks to line by line, and ends by its
// process id.
//
//   const uint16_t port = FreePort();
//   Process server({.args = {"node", "server.js", absl::StrCat(port)}});
//   server.WaitForLine("listening");            // or WaitForListener(server, port)
//   CHECK(server.Ask("stats") == "…");
//   server.Kill(SIGKILL);  server.Wait();
//
// Everything that waits has a limit and throws std::runtime_error at it, with what the program has
// said so far: Catch reports that as the failure of the test. Not thread-safe, but for Kill and
// pid.
#ifndef WEFT_TEST_SUPPORT_PROCESS_H_
#define WEFT_TEST_SUPPORT_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

namespace weft::inline v0::testing {

// For servers that start and answer on a busy machine, under a sanitizer at that.
inline constexpr absl::Duration kProcessPatience = absl::Seconds(30);

struct ProcessOptions {
  std::vector<std::string>
      args;  // the program first: a path, or a name to look up as FindProgram does
  std::vector<std::string> environment =
      {};                      // "NAME=value", added to this process's or replacing it
  std::string directory = {};  // to run in; empty: this process's
};

class Process {
 public:
  // Throws where the program cannot be started. The child dies with the thread that started it, so
  // that a test which crashes leaves nothing behind.
  explicit Process(const ProcessOptions& options);
  // Kills it and waits for its end.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // A no-op once its end has been waited for: the number may be another's by then.
  void Kill(int signal);
  // The status of waitpid: WIFEXITED(status) and so on.
  int Wait(absl::Duration patience = kProcessPatience);
  // Whether it has ended by now.
  bool HasEnded();
  // Waits a little for its end.
  bool EndsWithin(absl::Duration patience);

  // Reads standard output up to the end of the first line, of those not taken before, that contains
  // `part`, and returns it.
  std::string WaitForLine(std::string_view part, absl::Duration patience = kProcessPatience);
  // Reads standard output to its end.
  std::string ReadToEnd(absl::Duration patience = kProcessPatience);
  // Writes a line to standard input.
  void Say(std::string_view line);
  void CloseInput();
  // Says `line` and returns the next line that is said.
  std::string Ask(std::string_view line, absl::Duration patience = kProcessPatience);

  // All of standard output that was read, and all of standard error: for messages.
  std::string Said() const;
  std::string Errors() const;

 private:
  [[noreturn]] void GiveUp(std::string_view what) const;
  // False at the end of the output or of the time.
  bool ReadMore(absl::Time until);
  std::optional<std::string> NextLine();

  std::string name_;
  pid_t pid_ = -1;
  int pid_fd_ = -1;
  int input_ = -1;   // written to
  int output_ = -1;  // read from
  int errors_ = -1;  // a file in memory, so that nobody has to read it
  std::optional<int> status_;
  std::string said_;
  size_t taken_ = 0;  // bytes of said_ in lines that were returned
};

// The path of a program: in PATH, or where systems keep servers. Nothing where there is none of
// that name.
std::optional<std::string> FindProgram(std::string_view name);

// A port on 127.0.0.1 where nobody listens, below those that the kernel gives to outgoing
// connections: a server that is started again finds it free again.
uint16_t FreePort();

// Returns once 127.0.0.1:port takes connections; throws when `process` ends before.
void WaitForListener(Process& process, uint16_t port, absl::Duration patience = kProcessPatience);

// Asks again and again, a few milliseconds apart, for what no event tells (a file of /proc, say).
// The last answer.
bool Eventually(const std::function<bool()>& condition, absl::Duration patience = kProcessPatience);

// A folder, removed with all that is in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  // The path of a file in it, and the same after writing it.
  std::string File(std::string_view name) const;
  std::string Write(std::string_view name, std::string_view content) const;

 private:
  std::string path_;
};

std::string ReadFile(const std::string& path);

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_PROCESS_H_
