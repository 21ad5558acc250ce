#include "support/process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace weft::inline v0::testing {
namespace {

[[noreturn]] void Throw(std::string_view what, int error) {
  throw std::runtime_error(absl::StrCat(absl::string_view(what.data(), what.size()), ": ",
                                        std::generic_category().message(error)));
}

// Milliseconds for poll, rounded up: never a busy loop.
int PollTimeout(absl::Time until) {
  const absl::Duration left = until - absl::Now();
  if (left <= absl::ZeroDuration()) return 0;
  return static_cast<int>(std::min<int64_t>(absl::ToInt64Milliseconds(left) + 1, 60'000));
}

// Pointers into `strings`, and a null at the end, as execve wants them.
std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Environment(const std::vector<std::string>& more) {
  std::vector<std::string> environment = more;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(
        more.begin(), more.end(), [name](const std::string& m) { return m.rfind(name, 0) == 0; });
    if (!replaced) environment.emplace_back(text);
  }
  return environment;
}

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool Connects(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  const bool connected =
      fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (fd >= 0) close(fd);
  return connected;
}

}  // namespace

Process::Process(const ProcessOptions& options) : name_(options.args.at(0)) {
  const std::optional<std::string> program = FindProgram(name_);
  if (!program.has_value()) throw std::runtime_error(name_ + ": there is no such program");
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) Throw("pipe2", errno);
  input_ = input[1];
  output_ = output[0];
  errors_ = memfd_create("errors", MFD_CLOEXEC);
  if (errors_ < 0) Throw("memfd_create", errno);

  std::vector<std::string> args = options.args;
  std::vector<std::string> environment = Environment(options.environment);
  const std::vector<char*> arg_pointers = Pointers(args);
  const std::vector<char*> environment_pointers = Pointers(environment);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    // Only what is safe after fork in a program with threads. dup2 takes FD_CLOEXEC off.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (getppid() != parent || dup2(input[0], 0) < 0 || dup2(output[1], 1) < 0 ||
        dup2(errors_, 2) < 0 ||
        (!options.directory.empty() && chdir(options.directory.c_str()) != 0)) {
      _exit(127);
    }
    execve(program->c_str(), arg_pointers.data(), environment_pointers.data());
    _exit(127);
  }
  const int error = errno;
  close(input[0]);
  close(output[1]);
  if (pid_ < 0) Throw("fork", error);
  pid_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (pid_fd_ < 0) Throw("pidfd_open", errno);
  fcntl(output_, F_SETFL, O_NONBLOCK);
}

Process::~Process() {
  Kill(SIGKILL);
  if (!status_.has_value()) waitpid(pid_, nullptr, 0);
  for (const int fd : {pid_fd_, input_, output_, errors_}) {
    if (fd >= 0) close(fd);
  }
}

void Process::Kill(int signal) {
  if (!status_.has_value()) kill(pid_, signal);
}

bool Process::EndsWithin(absl::Duration patience) {
  const absl::Time until = absl::Now() + patience;
  while (!status_.has_value()) {
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      status_ = status;
    } else {
      const int timeout = PollTimeout(until);
      if (timeout == 0) return false;
      pollfd wait{pid_fd_, POLLIN, 0};
      poll(&wait, 1, timeout);
    }
  }
  return true;
}

bool Process::HasEnded() { return EndsWithin(absl::ZeroDuration()); }

int Process::Wait(absl::Duration patience) {
  if (!EndsWithin(patience)) GiveUp("did not end");
  return *status_;
}

bool Process::ReadMore(absl::Time until) {
  for (;;) {
    char buffer[16384];
    const ssize_t size = read(output_, buffer, sizeof buffer);
    if (size > 0) {
      said_.append(buffer, static_cast<size_t>(size));
      return true;
    }
    if (size == 0) return false;
    if (errno != EAGAIN && errno != EINTR) Throw("read", errno);
    const int timeout = PollTimeout(until);
    if (timeout == 0) return false;
    pollfd wait{output_, POLLIN, 0};
    poll(&wait, 1, timeout);
  }
}

std::optional<std::string> Process::NextLine() {
  const size_t end = said_.find('\n', taken_);
  if (end == std::string::npos) return std::nullopt;
  std::string line = said_.substr(taken_, end - taken_);
  taken_ = end + 1;
  return line;
}

std::string Process::WaitForLine(std::string_view part, absl::Duration patience) {
  const absl::Time until = absl::Now() + patience;
  for (;;) {
    while (std::optional<std::string> line = NextLine()) {
      if (line->find(part) != std::string::npos) return *std::move(line);
    }
    if (!ReadMore(until)) GiveUp(absl::StrCat("did not say \"", std::string(part), "\""));
  }
}

std::string Process::ReadToEnd(absl::Duration patience) {
  const absl::Time until = absl::Now() + patience;
  while (ReadMore(until)) {
  }
  if (absl::Now() >= until) GiveUp("did not close its output");
  taken_ = said_.size();
  return said_;
}

void Process::Say(std::string_view line) {
  // MSG_NOSIGNAL is for sockets only: a program that has ended must not end the test by SIGPIPE.
  sigset_t pipe_signal;
  sigset_t before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  std::string text(line);
  text += '\n';
  const ssize_t written = write(input_, text.data(), text.size());
  const int error = errno;
  constexpr timespec kNow{0, 0};
  if (written < 0 && error == EPIPE) sigtimedwait(&pipe_signal, nullptr, &kNow);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (written != static_cast<ssize_t>(text.size())) {
    GiveUp(absl::StrCat("did not listen to \"", std::string(line), "\""));
  }
}

void Process::CloseInput() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

std::string Process::Ask(std::string_view line, absl::Duration patience) {
  Say(line);
  return WaitForLine("", patience);
}

std::string Process::Said() const { return said_; }

std::string Process::Errors() const {
  std::string text;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = pread(errors_, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0) {
    text.append(buffer, static_cast<size_t>(size));
  }
  return text;
}

void Process::GiveUp(std::string_view what) const {
  throw std::runtime_error(absl::StrCat(name_, " ", std::string(what), ". It said:\n", said_,
                                        "\nand on standard error:\n", Errors()));
}

std::optional<std::string> FindProgram(std::string_view name) {
  if (name.find('/') != std::string_view::npos) {
    std::string path(name);
    return access(path.c_str(), X_OK) == 0 ? std::optional(path) : std::nullopt;
  }
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  std::string folders = absl::StrCat(
      path != nullptr ? path : "", ":/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin");
  for (size_t begin = 0; begin < folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    std::string candidate =
        absl::StrCat(folders.substr(begin, end - begin), "/", std::string(name));
    if (end > begin && access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

uint16_t FreePort() {
  constexpr int kFirst = 15000;
  constexpr int kCount = 17000;
  // From a different place in each process, and never twice in a row the same.
  static std::atomic<unsigned> next{std::random_device{}()};
  for (int i = 0; i < kCount; ++i) {
    const auto port = static_cast<uint16_t>(kFirst + next.fetch_add(1) % kCount);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) Throw("socket", errno);
    const sockaddr_in address = Loopback(port);
    const bool free = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    if (free) return port;
  }
  throw std::runtime_error("there is no free port");
}

void WaitForListener(Process& process, uint16_t port, absl::Duration patience) {
  const absl::Time until = absl::Now() + patience;
  while (!Connects(port)) {
    if (process.EndsWithin(absl::Milliseconds(5)) || absl::Now() > until) {
      throw std::runtime_error(absl::StrCat("nobody listens on port ", port, ". The server said:\n",
                                            process.Said(), process.Errors()));
    }
  }
}

bool Eventually(const std::function<bool()>& condition, absl::Duration patience) {
  const absl::Time until = absl::Now() + patience;
  while (!condition()) {
    if (absl::Now() > until) return false;
    absl::SleepFor(absl::Milliseconds(2));
  }
  return true;
}

TempDir::TempDir() {
  path_ = (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) Throw("mkdtemp", errno);
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::File(std::string_view name) const {
  return absl::StrCat(path_, "/", std::string(name));
}

std::string TempDir::Write(std::string_view name, std::string_view content) const {
  std::string path = File(name);
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
  return path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace weft::inline v0::testing
