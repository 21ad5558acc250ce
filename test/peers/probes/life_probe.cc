// Ends of a process and forks of it, each in a process of its own: life_probe <mode> <target> [<PEM
// file of roots>]
//
//   return        main returns with calls in flight; factory, channel and handles are of static
//   duration exit-thread   exit() on another thread, while main waits for an answer exit-callback
//   exit() in a callback fork          children that call, destroy, and begin anew, while the
//   parent goes on
//
// The target is http2_server.js. The last line says how it went; the status is 0 if it went well.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/sanitizers.h"
#include "weft/weft.h"

namespace {

constexpr int kCalls = 20;

// The sanitizers' own locks do not survive a fork: a child may hang in the first allocation if
// another thread was in one, and ThreadSanitizer cannot follow threads that a child starts.
constexpr bool kSanitized = WEFT_ASAN || WEFT_TSAN;

struct Counts {
  std::atomic<int> started = 0;
  std::atomic<int> cancelled = 0;
  std::atomic<int> other = 0;
};

// Destroyed after everything below, when nothing can happen any more.
struct Report {
  ~Report() {
    if (!wanted || getpid() != owner) return;
    std::printf("started %d, cancelled %d, other %d\n", counts.started.load(),
                counts.cancelled.load(), counts.other.load());
    std::fflush(stdout);
    // The status of exit() cannot be changed any more, and this is the last that happens.
    if (counts.other != 0 || counts.cancelled != counts.started) _exit(3);
  }
  bool wanted = true;
  pid_t owner = getpid();
  Counts counts;
};

Report report;
std::shared_ptr<weft::ChannelFactory> factory;
std::shared_ptr<weft::Channel> channel;

const weft::CallOptions kPatient = {.timeout = absl::Seconds(60)};

int Fail(const std::string& why) {
  std::printf("failed: %s\n", why.c_str());
  std::fflush(stdout);
  return 2;
}

weft::ChannelOptions Options(const char* roots) {
  weft::ChannelOptions options;
  if (roots != nullptr) options.tls = weft::TlsOptions{.ca_file = roots};
  return options;
}

// Detached, so that their callbacks run whoever goes first.
void StartCalls() {
  for (int i = 0; i < kCalls; ++i) {
    report.counts.started.fetch_add(1);
    channel
        ->Start(weft::Request::Get("/never"), kPatient,
                [](absl::StatusOr<weft::Response> response) {
                  const bool cancelled = absl::IsCancelled(response.status());
                  const int before =
                      (cancelled ? report.counts.cancelled : report.counts.other).fetch_add(1);
                  if (!cancelled && before == 0) {
                    std::printf("%s\n", response.status().ToString().c_str());
                  }
                })
        .Detach();
  }
}

bool Echoes(weft::Channel& through, const std::string& id) {
  const auto response = through.Call(weft::Request::Get("/echo", {{"x-id", id}}), kPatient);
  if (response.ok() && response->body == id) return true;
  std::printf("%s\n", response.ok() ? "a wrong answer" : response.status().ToString().c_str());
  return false;
}

// What a child finds. Zero if all is as it should be.
int Child(const std::string& target, const weft::ChannelOptions& options, bool anew) {
  alarm(30);  // a lock of a thread that is not here would hold it up for ever
  const auto blocked = channel->Call(weft::Request::Get("/echo", {{"x-id", "child"}}), kPatient);
  if (!absl::IsFailedPrecondition(blocked.status())) return 10;
  if (!absl::IsFailedPrecondition(factory->GetChannel(target, options).status())) return 11;
  if (!absl::IsFailedPrecondition(channel->WaitForReady(absl::Seconds(1)))) return 12;
  if (!absl::IsFailedPrecondition(channel->SetServiceConfig("{}"))) return 17;
  weft::Stream stream = channel->Open(weft::Request::Post("/mirror"));
  if (!absl::IsFailedPrecondition(stream.Finish())) return 13;
  stream = weft::Stream();
  if (!anew) return 0;
  channel.reset();
  factory.reset();
  auto own = weft::ChannelFactory::Create();
  if (!own.ok()) return 14;
  auto own_channel = (*own)->GetChannel(target, options);
  if (!own_channel.ok()) return 15;
  for (int i = 0; i < 20; ++i) {
    if (!Echoes(**own_channel, "child " + std::to_string(i))) return 16;
  }
  return 0;
}

int Fork(const std::string& target, const weft::ChannelOptions& options) {
  std::atomic<bool> stop = false;
  std::atomic<int> answered = 0;
  std::atomic<int> failed = 0;
  std::atomic<bool> quiet = false;
  std::atomic<int> active = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        active.fetch_add(1);
        while (quiet) {
          active.fetch_sub(1);
          while (quiet) std::this_thread::yield();
          active.fetch_add(1);
        }
        const bool ok = Echoes(*channel, std::to_string(t) + " " + std::to_string(i));
        (ok ? answered : failed).fetch_add(1);
        active.fetch_sub(1);
      }
    });
  }
  std::string wrong;
  for (int i = 0; i < 12 && wrong.empty(); ++i) {
    // Some calls later, so that the fork comes at any point of the parent's work.
    const int before = answered;
    while (answered < before + 50 && failed == 0) std::this_thread::yield();
    quiet = kSanitized;
    while (quiet && active > 0) std::this_thread::yield();
    const pid_t child = fork();
    if (child != 0) quiet = false;
    if (child == 0) {
      const int code = Child(target, options, !kSanitized && i % 3 == 2);
      // The plain end runs the destructors of all that is static.
      if (i % 2 == 0) _exit(code);
      std::exit(code);  // NOLINT(concurrency-mt-unsafe): the point of it
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
      wrong = "no child";
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      wrong = "child " + std::to_string(i) + " ended with " +
              (WIFEXITED(status) ? "code " + std::to_string(WEXITSTATUS(status))
                                 : "signal " + std::to_string(WTERMSIG(status)));
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  if (!wrong.empty()) return Fail(wrong);
  if (failed != 0) return Fail("calls of the parent failed: " + std::to_string(failed));
  if (factory->Stats().connections_opened != 1) return Fail("the parent lost its connection");
  std::printf("the parent made %d calls\n", answered.load());
  return 0;
}

[[noreturn]] void WaitForTheEnd() {
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return Fail("arguments");
  const std::string mode = argv[1];
  const std::string target = argv[2];
  const weft::ChannelOptions options = Options(argc > 3 ? argv[3] : nullptr);
  factory = weft::ChannelFactory::Create().value();
  channel = factory->GetChannel(target, options).value();
  if (!Echoes(*channel, "first")) return Fail("no server");
  if (mode != "fork") StartCalls();

  if (mode == "return") return 0;
  if (mode == "exit-thread") {
    // Its own reference: the one of static duration is destroyed under its feet.
    const std::shared_ptr<weft::Channel> own = channel;
    std::thread([] {
      // Answered after those before it on the same connection were sent.
      if (!Echoes(*channel, "last")) _exit(4);
      std::exit(0);  // NOLINT(concurrency-mt-unsafe): the point of it
    }).detach();
    const absl::Status status = own->Call(weft::Request::Get("/never"), kPatient).status();
    if (!absl::IsCancelled(status)) {
      std::printf("%s\n", status.ToString().c_str());
      report.counts.other.fetch_add(1);
    }
    WaitForTheEnd();
  }
  if (mode == "exit-callback") {
    channel
        ->Start(weft::Request::Get("/echo"), kPatient,
                [](absl::StatusOr<weft::Response>) {
                  // The callbacks of the others wait for the thread that this ends: nobody will
                  // count them.
                  report.wanted = false;
                  std::exit(0);  // NOLINT(concurrency-mt-unsafe): the point of it
                })
        .Detach();
    WaitForTheEnd();
  }
  if (mode == "fork") {
    report.wanted = false;
    return Fork(target, options);
  }
  return Fail("mode");
}
