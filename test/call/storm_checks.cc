// What must hold of a storm's calls, hosts and counters when it is over.
#include "call/storm_world.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace weft::inline v0::testing {
namespace {

using namespace std::chrono_literals;

size_t SizeOf(const RogueRequest& request) {
  const std::string_view size = request.header("x-size");
  return size.empty() ? 0 : std::stoul(std::string(size));
}

}  // namespace

std::string StormWorld::ProblemOfLog(const OneCall& call, const CallInfo& info, int status) const {
  if (info.log.attempts.empty())
    return info.attempts == 1 ? "" : "several attempts, and no log of them";
  int paid = 0;
  bool found = false;
  for (const AttemptInfo& attempt : info.log.attempts) {
    if (attempt.why != AttemptInfo::Why::kByItself) ++paid;
    if (attempt.took < absl::ZeroDuration()) return "an attempt that took less than nothing";
    if (attempt.lost && attempt.code != absl::StatusCode::kCancelled) return "a loser with a code";
    found = found || (!attempt.lost && attempt.http_status == status && attempt.host == info.host);
  }
  if (paid > call.max_attempts) return absl::StrCat(paid, " attempts of ", call.max_attempts);
  if (info.attempts != static_cast<int>(info.log.attempts.size()))
    return "attempts are not those of the log";
  return status == 0 || found ? "" : "the answer is none of the attempts'";
}

std::string StormWorld::ProblemOf(const OneCall& call) const {
  const int ends = call.unary != nullptr ? call.unary->ends() : call.stream->ends();
  if (ends != (call.dropped ? 0 : 1)) return absl::StrCat("ended ", ends, " times");
  if (call.stream != nullptr && !call.dropped &&
      (call.stream->heads() != 1 || call.stream->ends_of_body() != 1))
    return "heads or ends of its body are not one";
  if (call.dropped) return "";
  const base::MonoDuration took = call.unary != nullptr ? call.unary->took() : call.stream->took();
  if (took > call.timeout)
    return absl::StrCat("took ", (took - call.timeout).count(), " ns too long");
  if (call.unary != nullptr && call.unary->ok()) {
    const Response& response = call.unary->response();
    if (response.headers["x-id"] != call.id) return "the answer of another call";
    return ProblemOfLog(call, response.info, response.status);
  }
  const absl::Status status = call.unary != nullptr ? call.unary->status() : call.stream->end();
  if (absl::IsInternal(status) && status.message().find("without a head") != std::string::npos)
    return status.ToString();
  if (absl::IsCancelled(status) && !call.cancelled && !broken_off_ &&
      status.message().find("reset") == std::string::npos &&
      status.message().find("CANCEL") == std::string::npos)
    return absl::StrCat("cancelled by nobody: ", status.ToString());
  if (absl::IsDeadlineExceeded(status) && took < call.timeout && took != 300ms)
    return absl::StrCat("late before its time: ", status.ToString());
  if (!status.ok()) {
    const std::optional<CallError> error = GetCallError(status);
    if (!error.has_value()) return absl::StrCat("no payload: ", status.ToString());
    if (error->attempts == 0) return "";
    CallInfo info;
    info.attempts = error->attempts;
    info.log = error->log;
    return ProblemOfLog(call, info, 0);
  }
  if (!call.stream->head()->ok()) return "a good end without a head";
  const ResponseHead& head = **call.stream->head();
  if (head.headers["x-id"] != call.id) return "the answer of another call";
  return ProblemOfLog(call, call.stream->stream().Info(), head.status);
}

std::string StormWorld::ProblemOfBudget() const {
  // All of it is within one window.
  const double calls = static_cast<double>(calls_.size());
  const double extra = static_cast<double>(stats_.retries + stats_.hedges);
  const double reserve = retry_.budget_reserve_per_second * 10;
  if (extra > calls * retry_.budget_ratio + reserve + 1e-6)
    return absl::StrCat(extra, " extra attempts of ", calls, " calls");
  if (static_cast<double>(stats_.hedges) > calls * retry_.budget_ratio / 2 + 1e-6)
    return absl::StrCat(stats_.hedges, " hedges of ", calls, " calls");
  return "";
}

std::string StormWorld::ProblemOfServers() {
  for (const RogueServer& server : servers_) {
    for (const std::string& violation : server.violations())
      return absl::StrCat(server.address(), ": ", violation);
    for (const RogueRequest* request : server.requests()) {
      const size_t size = SizeOf(*request);
      const bool whole = request->complete && !request->reset.has_value();
      if (whole && request->body.size() != size) {
        return absl::StrCat(std::string(request->id()), ": ", request->body.size(), " bytes of ",
                            size);
      }
      if (request->body != StormBody(0, request->body.size()))
        return absl::StrCat(std::string(request->id()), ": another body");
    }
  }
  for (const auto& host : hosts_) {
    if (host->in_flight() != 0)
      return absl::StrCat(host->address(), " has ", host->in_flight(), " in flight");
  }
  return "";
}

std::string StormWorld::Problem() {
  for (const OneCall& call : calls_) {
    if (const std::string problem = ProblemOf(call); !problem.empty())
      return absl::StrCat("call ", call.id, ": ", problem);
  }
  if (const std::string problem = ProblemOfBudget(); !problem.empty()) return problem;
  return ProblemOfServers();
}

StormWorld::Tally StormWorld::tally() const {
  Tally tally;
  for (const OneCall& call : calls_) {
    if (call.dropped) {
      ++tally.dropped;
      continue;
    }
    absl::Status status;
    int attempts = 0;
    if (call.unary != nullptr) {
      if (!call.unary->ok()) status = call.unary->status();
      attempts = call.unary->ok() ? call.unary->response().info.attempts : 0;
    } else {
      status = call.stream->end();
      attempts = call.stream->stream().Info().attempts;
    }
    if (!status.ok()) attempts = GetCallError(status).value_or(CallError{}).attempts;
    if (attempts > 1) ++tally.several;
    if (status.ok()) {
      ++tally.good;
    } else if (absl::IsDeadlineExceeded(status)) {
      ++tally.late;
    } else if (absl::IsCancelled(status)) {
      ++tally.cancelled;
    } else {
      ++tally.failed;
    }
  }
  return tally;
}

}  // namespace weft::inline v0::testing
