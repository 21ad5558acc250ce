#include "weft_call/options.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "absl/time/time.h"

namespace weft_call {
namespace {

// What a run keeps for each call and each caller fits into memory up to here.
constexpr int kMaxCalls = 10'000'000;
constexpr int kMaxConcurrent = 50'000;
constexpr int kMaxThreads = 1'000;

absl::Status Wrong(const std::string& why) { return absl::InvalidArgumentError(why); }

absl::Status ParseCount(const std::string& text, int max, int& count) {
  const char* const end = text.data() + text.size();
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 1 || value > max) {
    return Wrong("must be a whole number from 1 to " + std::to_string(max));
  }
  count = value;
  return absl::OkStatus();
}

absl::Status ParseTimeout(const std::string& text, std::optional<absl::Duration>& timeout) {
  absl::Duration value;
  if (!absl::ParseDuration(text, &value)) {
    return Wrong("is not a duration; write a number and a unit, as in 250ms, 1.5s or 2m");
  }
  if (value <= absl::ZeroDuration()) return Wrong("must be more than nothing");
  timeout = value;
  return absl::OkStatus();
}

absl::Status ParseHeader(const std::string& text, weft::Headers& headers) {
  const size_t colon = text.find(':', 1);
  if (colon == std::string::npos) return Wrong("must be a name, a colon and a value: 'k: v'");
  const size_t begin = std::min(text.find_first_not_of(" \t", colon + 1), text.size());
  const size_t end = text.find_last_not_of(" \t") + 1;
  weft::Headers field;
  field.Add(text.substr(0, colon), text.substr(begin, begin < end ? end - begin : 0));
  if (field.Has("host"))
    return Wrong("does not set the host name that is asked for; use --authority");
  if (const absl::Status status = field.Validate(); !status.ok()) {
    return Wrong("cannot be sent: " + std::string(status.message()));
  }
  headers.Add(field.at(0).name, field.at(0).value);
  return absl::OkStatus();
}

absl::Status ReadAll(const std::string& path, std::string& bytes) {
  const bool standard = path == "-";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      standard ? stdin : std::fopen(path.c_str(), "rb"),
      [](std::FILE* f) { return std::fclose(f); });
  if (file == nullptr) return Wrong(std::string("cannot be read: ") + std::strerror(errno));
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    bytes.append(buffer, n);
  }
  if (std::ferror(file.get())) return Wrong(std::string("cannot be read: ") + std::strerror(errno));
  return absl::OkStatus();
}

absl::Status TakeBody(const std::string& text, Args& args) {
  // Words of method and body come in any order: an empty method is filled in at the end.
  if (args.has_body) return Wrong("is a second body; give one");
  args.has_body = true;
  if (text.empty() || text[0] != '@') {
    args.request.body = text;
    return absl::OkStatus();
  }
  return ReadAll(text.substr(1), args.request.body);
}

weft::TlsOptions& Tls(Args& args) {
  if (!args.channel.tls.has_value()) args.channel.tls.emplace();
  return *args.channel.tls;
}

absl::Status Flag(bool& flag) {
  flag = true;
  return absl::OkStatus();
}

absl::Status Take(std::string& to, const std::string& value) {
  if (value.empty()) return Wrong("must not be empty");
  to = value;
  return absl::OkStatus();
}

// A PEM file, refused here so that the sentence has the option's name.
absl::Status TakeFile(std::string& to, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return Wrong(std::string("cannot be read: ") + std::strerror(errno));
  std::fclose(file);
  return Take(to, path);
}

using Value = const std::string&;

constexpr Option kOptions[] = {
    {.help = "The request"},
    {'X', "method", "METHOD", "GET if nothing is said, POST with a body",
     [](Args& args, Value v) { return Take(args.request.method, v); }},
    {'H', "header", "'K: V'", "a header field; may be given again",
     [](Args& args, Value v) { return ParseHeader(v, args.request.headers); }},
    {'d', "data", "BODY", "the body; @FILE reads it from a file, @- from standard input",
     [](Args& args, Value v) { return TakeBody(v, args); }},
    {0, "authority", "NAME", "the host name that is asked for and that a certificate must carry",
     [](Args& args, Value v) { return Take(args.channel.authority, v); }},
    {0, "timeout", "TIME",
     "for the whole call, as in 250ms, 1.5s, 2m or inf; 15s if nothing is said",
     [](Args& args, Value v) { return ParseTimeout(v, args.call.timeout); }},
    {0, "idempotent", "",
     "the call may run twice: try again even if it may have been processed\n"
     "(GET, HEAD, OPTIONS, PUT and DELETE are taken to be so)",
     [](Args& args, Value) { return Flag(args.call.idempotent); }},
    {0, "max-attempts", "N", "tries of one call in all, 1 to 5; 3 if nothing is said",
     [](Args& args, Value v) { return ParseCount(v, 5, args.channel.retry.max_attempts); }},
    {0, "hedge", "TIME",
     "where an idempotent call has no answer after that time, send it to\n"
     "another host too; the first answer counts",
     [](Args& args, Value v) { return ParseTimeout(v, args.call.hedge_delay); }},
    {0, "wait-for-ready", "",
     "wait for a host while none can be reached; with -n, connect before\n"
     "the clock starts",
     [](Args& args, Value) { return Flag(args.call.wait_for_ready); }},

    {.help = "The connection: plain HTTP/2 (h2c), or TLS with any of these"},
    {0, "tls", "", "TLS; the host is always verified",
     [](Args& args, Value) { return Tls(args), absl::OkStatus(); }},
    {0, "cacert", "FILE", "root certificates, PEM; the system's if nothing is said",
     [](Args& args, Value v) { return TakeFile(Tls(args).ca_file, v); }},
    {0, "cert", "FILE", "the client's certificate chain, PEM; with --key",
     [](Args& args, Value v) { return TakeFile(Tls(args).certificate_file, v); }},
    {0, "key", "FILE", "the client's key, PEM; with --cert",
     [](Args& args, Value v) { return TakeFile(Tls(args).key_file, v); }},
    {0, "servername", "NAME", "the name that the certificate must carry, if not the authority",
     [](Args& args, Value v) { return Take(Tls(args).server_name, v); }},

    {.help = "Many calls: a summary instead of the answer"},
    {'n', "calls", "CALLS", "how many calls in all; -c and -t say how they are made",
     [](Args& args, Value v) { return ParseCount(v, kMaxCalls, args.calls); }},
    {'c', "concurrent", "N", "keep N calls in flight with callbacks, on the loop threads",
     [](Args& args, Value v) { return ParseCount(v, kMaxConcurrent, args.concurrent); }},
    {'t', "threads", "N",
     "N threads that block, each in one call at a time; -c and -t together\n"
     "share the calls; with neither, one thread makes one call after the other",
     [](Args& args, Value v) { return ParseCount(v, kMaxThreads, args.threads); }},

    {.help = "The output"},
    {'i', "include", "", "status, headers and trailers too, on standard output",
     [](Args& args, Value) { return Flag(args.include); }},
    {'v', "verbose", "", "what was sent and what the client did, on standard error",
     [](Args& args, Value) { return Flag(args.verbose); }},
    {'s', "silent", "", "leave out the line about the answer, or, with -n, the progress",
     [](Args& args, Value) { return Flag(args.silent); }},
    {0, "json", "", "one JSON object with all there is to know, on standard output",
     [](Args& args, Value) { return Flag(args.json); }},
    {0, "registry", "DIR", "look TARGET up as DIR/TARGET.json",
     [](Args& args, Value v) { return Take(args.registry, v); }},
    {'h', "help", "", "this text", [](Args& args, Value) { return Flag(args.help); }},
};

}  // namespace

std::span<const Option> Options() { return kOptions; }

}  // namespace weft_call
