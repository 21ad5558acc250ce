#include "weft_call/single_call.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "weft_call/format.h"

namespace weft_call {
namespace {

// Lets the main thread be the call's executor: standard output may block, and a loop thread must
// not.
class Inbox {
 public:
  using Closure = absl::AnyInvocable<void() &&>;
  using Clock = std::chrono::steady_clock;

  weft::Executor executor() {
    return [this](Closure closure) {
      std::lock_guard<std::mutex> lock(mutex_);
      closures_.push_back({std::move(closure), Clock::now()});
      arrived_.notify_one();
    };
  }

  // Runs what comes in until `done` holds, which only what it runs changes.
  template <class Done>
  void RunUntil(Done done) {
    while (!done()) {
      std::unique_lock<std::mutex> lock(mutex_);
      arrived_.wait(lock, [this] { return !closures_.empty(); });
      Closure closure = std::move(closures_.front().first);
      came_ = closures_.front().second;
      closures_.pop_front();
      lock.unlock();
      std::move(closure)();
    }
  }
  // When what runs now came in: what it waited for the main thread is not the call's.
  Clock::time_point came() const { return came_; }

 private:
  std::mutex mutex_;  // guards the queue
  std::condition_variable arrived_;
  std::deque<std::pair<Closure, Clock::time_point>> closures_;
  Clock::time_point came_;
};

absl::Status Put(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() &&
      std::fflush(stdout) == 0) {
    return absl::OkStatus();
  }
  return absl::DataLossError(std::string("standard output takes no more: ") + std::strerror(errno));
}

// "content-type: text/plain\n", a line each.
std::string Lines(const weft::Headers& headers, std::string_view prefix = "") {
  std::string lines;
  for (const auto [name, value] : headers) {
    lines.append(prefix).append(name).append(": ").append(value).append("\n");
  }
  return lines;
}

// Prints the body piece by piece, or keeps it for the JSON object.
class AnswerSink final : public weft::BodySink {
 public:
  AnswerSink(const Args& args, const Inbox& inbox) : args_(args), inbox_(inbox) {}

  absl::Status OnHead(int status, const weft::Headers& headers) override {
    head_ = weft::ResponseHead{status, headers};
    head_after_ = absl::FromChrono(inbox_.came() - started_);
    if (args_.json) return absl::OkStatus();
    const std::string first = "HTTP/2 " + std::to_string(status) + "\n";
    if (args_.verbose) {
      std::fprintf(stderr, "< %s%s<\n", first.c_str(), Lines(headers, "< ").c_str());
    }
    return args_.include ? Put(first + Lines(headers) + "\n") : absl::OkStatus();
  }

  absl::Status Write(std::string_view bytes) override {
    if (bytes.empty()) return absl::OkStatus();
    ends_line_ = bytes.back() == '\n';
    if (!args_.json) return Put(bytes);
    body_.append(bytes);
    return absl::OkStatus();
  }

  const std::optional<weft::ResponseHead>& head() const { return head_; }
  // From the start until the headers were there; not later than the end, which the loop sees first.
  absl::Duration HeadAfter(absl::Duration took) const { return std::min(head_after_, took); }
  const std::string& body() const { return body_; }
  bool ends_line() const { return ends_line_; }

 private:
  const Args& args_;
  const Inbox& inbox_;
  const Inbox::Clock::time_point started_ = Inbox::Clock::now();
  std::optional<weft::ResponseHead> head_;
  absl::Duration head_after_;
  std::string body_;
  bool ends_line_ = true;
};

void PrintRequest(const weft::Channel& channel, const Args& args) {
  const weft::Request& request = args.request;
  std::string text =
      "* target " + channel.target() + (args.channel.tls.has_value() ? ", TLS\n" : ", h2c\n");
  text += "> " + request.method + " " + request.path + "\n";
  if (!args.channel.authority.empty()) text += "> :authority: " + args.channel.authority + "\n";
  text += Lines(request.headers, "> ") + ">\n";
  if (args.has_body) text += "> (body: " + Counted(request.body.size(), "byte") + ")\n";
  std::fputs(text.c_str(), stderr);
}

// DebugString, each line behind a star.
std::string Hosts(const weft::Channel& channel) {
  std::string text = "* target ";
  const std::string debug = channel.DebugString();
  for (const char c : std::string_view(debug).substr(0, debug.find_last_not_of('\n') + 1)) {
    text += c;
    if (c == '\n') text += "*";
  }
  return text + "\n";
}

// What the client did, under what it got.
void PrintStory(const weft::ChannelFactory& factory, const weft::Channel& channel, const Args& args,
                const AnswerSink& sink, const absl::StatusOr<weft::Response>& answer) {
  if (!sink.ends_line() && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO)) std::fputs("\n", stderr);
  if (answer.ok() && args.verbose && !answer->trailers.empty()) {
    std::fprintf(stderr, "%s<\n", Lines(answer->trailers, "< ").c_str());
  }
  if (answer.ok() && (args.verbose || !args.silent)) {
    const weft::CallInfo& info = answer->info;
    std::fprintf(stderr, "%s%d from %s in %s, %s\n", args.verbose ? "* " : "", answer->status,
                 info.host.c_str(), Shown(info.took).c_str(),
                 Counted(static_cast<uint64_t>(info.attempts), "attempt").c_str());
  }
  if (!args.verbose) return;
  if (answer.ok()) {
    std::fprintf(
        stderr, "*   %9s until a host had it\n*   %9s until headers came\n*   %9s in all\n",
        Shown(answer->info.waited).c_str(), Shown(sink.HeadAfter(answer->info.took)).c_str(),
        Shown(answer->info.took).c_str());
  }
  std::fprintf(stderr, "* %s\n%s", Shown(factory.Stats()).c_str(), Hosts(channel).c_str());
}

// A body that is no UTF-8 goes into "body_base64".
void PutBody(const std::string& body, Json& json) {
  try {
    (void)Json(body).dump();
    json["body"] = body;
  } catch (const Json::exception&) {
    json["body_base64"] = absl::Base64Escape(body);
  }
}

Json CallJson(const weft::ChannelFactory& factory, const Args& args, const AnswerSink& sink,
              const absl::StatusOr<weft::Response>& answer) {
  Json json = {
      {"target", args.target}, {"method", args.request.method}, {"path", args.request.path}};
  if (sink.head().has_value()) {
    json["status"] = sink.head()->status;
    json["headers"] = ToJson(sink.head()->headers);
    PutBody(sink.body(), json);
  }
  if (answer.ok()) {
    json["trailers"] = ToJson(answer->trailers);
    json["host"] = answer->info.host;
    json["attempts"] = answer->info.attempts;
    json["milliseconds"] = {{"waited", JsonMs(answer->info.waited)},
                            {"headers", JsonMs(sink.HeadAfter(answer->info.took))},
                            {"took", JsonMs(answer->info.took)}};
  } else {
    json["error"] = ToJson(answer.status());
  }
  json["connections"] = ToJson(factory.Stats());
  return json;
}

}  // namespace

int RunSingleCall(const weft::ChannelFactory& factory, weft::Channel& channel, const Args& args) {
  if (args.verbose) PrintRequest(channel, args);

  Inbox inbox;
  const weft::Executor executor = inbox.executor();
  weft::CallOptions options = args.call;
  options.executor = &executor;
  AnswerSink sink(args, inbox);
  std::optional<absl::StatusOr<weft::Response>> result;
  const weft::CallHandle call = channel.Start(
      args.request, options, &sink,
      [&result](absl::StatusOr<weft::Response> answer) { result.emplace(std::move(answer)); });
  inbox.RunUntil([&result] { return result.has_value(); });

  const absl::StatusOr<weft::Response>& answer = *result;
  absl::Status written;
  if (args.json) {
    written = Put(Text(CallJson(factory, args, sink, answer)));
  } else if (answer.ok() && args.include && !answer->trailers.empty()) {
    written = Put((sink.ends_line() ? "\n" : "\n\n") + Lines(answer->trailers));
  }
  PrintStory(factory, channel, args, sink, answer);
  if (!answer.ok()) PrintError(answer.status());
  if (!written.ok()) PrintError(written);
  return answer.ok() && written.ok() ? 0 : 1;
}

}  // namespace weft_call
