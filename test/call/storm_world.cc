#include "call/storm_world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "balance/round_robin.h"

namespace weft::inline v0::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kHosts = 5;

class PatternSource final : public BodySource {
 public:
  PatternSource(size_t size, size_t piece, bool rewinds)
      : size_(size), piece_(piece), rewinds_(rewinds) {}
  absl::StatusOr<bool> Read(std::string& out) override {
    const size_t n = std::min(piece_, size_ - at_);
    out += StormBody(at_, n);
    at_ += n;
    return at_ < size_;
  }
  bool can_rewind() const override { return rewinds_; }
  absl::Status Rewind() override {
    at_ = 0;
    return absl::OkStatus();
  }

 private:
  const size_t size_;
  const size_t piece_;
  const bool rewinds_;
  size_t at_ = 0;
};

// Round robin, whose hosts are looked at after the factory is gone, too.
class Spying final : public Balancer {
 public:
  explicit Spying(std::vector<base::Ref<cluster::Host>>& seen) : seen_(seen), behind_(1) {}
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override {
    for (const PickerHost& host : hosts)
      seen_.push_back(base::Ref<cluster::Host>::Share(static_cast<cluster::Host*>(host.host)));
    return behind_.Update(hosts);
  }

 private:
  std::vector<base::Ref<cluster::Host>>& seen_;
  balance::RoundRobinBalancer behind_;
};

}  // namespace

std::string StormBody(size_t from, size_t size) {
  std::string body(size, '\0');
  for (size_t i = 0; i < size; ++i) body[i] = static_cast<char>((from + i) * 7 + ((from + i) >> 8));
  return body;
}

StormWorld::StormWorld(uint64_t seed)
    : env_(std::make_shared<SimEnv>(seed)), random_(seed * 7919 + 1) {
  std::string target = "static:";
  for (int i = 1; i <= kHosts; ++i) {
    const std::string address = absl::StrCat("10.0.0.", i, ":80");
    absl::StrAppend(&target, i == 1 ? "" : ",", address);
    RogueOptions options;
    options.settings = {{kMaxConcurrentStreams, OneOf<uint32_t>({1, 5, 100, 100})}};
    options.answer_at_head = i >= 4;
    options.handler = [this](const RogueRequest& request) { return Answer(request); };
    servers_.emplace_back(*env_, address, std::move(options));
    servers_.back().host().link.latency = Between(50us, 3ms);
    servers_.back().host().link.jitter = Between(0us, 1ms);
  }
  ChannelFactory::Options options;
  options.channel = MakeChannel();
  options.connection.connect_timeout = absl::Milliseconds(300);
  options.connection.reconnect_base = absl::Milliseconds(20);
  options.connection.reconnect_max = absl::Milliseconds(300);
  options.connection.reset_burst = OneOf<int>({0, 3, 100});
  client_ = std::make_unique<SimClient>(env_, target, std::move(options));
}

base::MonoDuration StormWorld::Between(base::MonoDuration low, base::MonoDuration high) {
  return base::MonoDuration(low.count() + static_cast<int64_t>(random_.Below(
                                              static_cast<uint64_t>((high - low).count() + 1))));
}

ChannelOptions StormWorld::MakeChannel() {
  using When = HedgeOptions::When;
  retry_ = {
      .max_attempts = 1 + Below(5),
      .initial_backoff = OneOf<absl::Duration>({absl::Milliseconds(1), absl::Milliseconds(10)}),
      .attempt_timeout = OneOf<absl::Duration>(
          {absl::Milliseconds(20), absl::Milliseconds(80), absl::InfiniteDuration()}),
      .budget_ratio = OneOf<double>({0, 0.2, 1, 10}),
      .budget_reserve_per_second = OneOf<double>({0, 1, 10})};
  if (Chance(0.8))
    retry_.retryable = {absl::StatusCode::kUnavailable, absl::StatusCode::kResourceExhausted};
  hedge_ = {
      .when = OneOf<When>({When::kNever, When::kAfterDelay, When::kAtPercentile, When::kAdaptive}),
      .max_attempts = 2 + Below(4),
      .delay = OneOf<absl::Duration>(
          {absl::ZeroDuration(), absl::Milliseconds(2), absl::Milliseconds(20)}),
      .percentile = OneOf<double>({0.5, 0.9}),
      .ratio = OneOf<double>({0.05, 0.5})};
  return {.balancer = [this](uint64_t) { return std::make_unique<Spying>(hosts_); },
          .retry = retry_,
          .hedge = hedge_};
}

// ---- the hosts ----

RogueAnswer StormWorld::Answer(const RogueRequest& request) {
  if (stopping_ || request.path() == "/ready") return RogueAnswer{};
  const bool grpc = request.path() == "/s/m";
  RogueAnswer answer = grpc ? RogueAnswer::Grpc("message") : RogueAnswer{.body = "body"};
  if (Chance(0.1)) {
    answer.body = std::string(static_cast<size_t>(Below(100'000)), 'r');
    if (Chance(0.5)) answer.piece = 10'000, answer.gap = Between(0ms, 5ms);
  }
  answer.headers.push_back(
      {"endpoint-load-metrics", absl::StrCat("TEXT cpu_utilization=0.", Below(10))});
  answer.delay = Chance(0.2) ? Between(0ms, 150ms) : Between(0us, 5ms);
  if (!Chance(badness_)) return answer;
  switch (Below(9)) {
    case 0:
      return RogueAnswer::Refused();
    case 1:
      return RogueAnswer::Reset(OneOf<uint32_t>({kInternalError, kCancel, kNoError}));
    case 2:
      return RogueAnswer::Silence();
    case 3:  // half of an answer
      answer.end = false;
      if (Chance(0.7)) answer.reset = kInternalError;
      return answer;
    case 4:
      answer.status = OneOf<int>({404, 500});
      return answer;
    default:
      break;
  }
  if (grpc) {
    answer = RogueAnswer{.headers = {{"content-type", "application/grpc"},
                                     {"grpc-status", OneOf<std::string>({"14", "14", "8", "3"})}},
                         .delay = answer.delay};
    if (Chance(0.3)) answer = RogueAnswer::Grpc("", 14);
  } else {
    answer.status = 503;
  }
  if (Chance(0.3)) {
    answer.headers.push_back(
        {"grpc-retry-pushback-ms", OneOf<std::string>({"-1", "0", "5", "100000"})});
  }
  return answer;
}

void StormWorld::Fault() {
  RogueServer& server = servers_[static_cast<size_t>(Below(kHosts))];
  RogueConnection* const last = server.accepted() > 0 ? &server.last() : nullptr;
  const base::MonoDuration later = Between(5ms, 400ms);
  switch (Below(9)) {
    case 0:
      server.Kill();
      env_->After(later, [&server] { server.Listen(); });
      break;
    case 1:
      server.host().SetBlackHole(true);
      env_->After(later, [&server] { server.host().SetBlackHole(false); });
      break;
    case 2:
      server.Drain();
      break;
    case 3:
      if (last != nullptr) last->SendGoaway(last->last_stream() > 4 ? last->last_stream() - 4 : 0);
      break;
    case 4:
      if (last != nullptr) last->stream().Reset();
      break;
    case 5:
      if (last != nullptr) last->stream().Close();
      break;
    case 6:
      if (last == nullptr) break;
      last->SendSettings({{kMaxConcurrentStreams, 0}});
      env_->After(later, [last] { last->SendSettings({{kMaxConcurrentStreams, 50}}); });
      break;
    case 7:
      server.host().FailDials(OneOf<DialFault>({DialFault::kRefuse, DialFault::kReset,
                                                DialFault::kUnreachable, DialFault::kBlackHole}),
                              static_cast<uint64_t>(1 + Below(4)));
      server.Drain();
      break;
    default:
      badness_ = OneOf<double>({0.02, 0.2, 0.2, 0.6, 1});
      break;
  }
}

void StormWorld::GoOnWithFaults() {
  if (stopping_) return;
  Fault();
  env_->After(Between(5ms, 100ms), [this] { GoOnWithFaults(); });
}

void StormWorld::ChangeConfig() {
  const auto policy = [](const std::string& what) {
    return absl::StrCat(R"({"methodConfig": [{"name": [{"service": "s"}], )", what, "}]");
  };
  const char* const kThrottle = R"(, "retryThrottling": {"maxTokens": 20, "tokenRatio": 0.5}})";
  config_hedges_ = false;
  config_max_attempts_ = 0;
  std::string config = "{}";
  switch (Below(4)) {
    case 0:
      break;
    case 1:
      config = absl::StrCat(policy(R"("timeout": "0.300s")"), kThrottle);
      break;
    case 2:
      config_max_attempts_ = 4;
      config = policy(R"("retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.002s",
          "maxBackoff": "0.100s", "backoffMultiplier": 2,
          "retryableStatusCodes": ["UNAVAILABLE"]})");
      config += Chance(0.5) ? kThrottle : "}";
      break;
    default:
      config_max_attempts_ = 3;
      config_hedges_ = true;
      config = policy(OneOf<std::string>(
          {R"("hedgingPolicy": {"maxAttempts": 3, "nonFatalStatusCodes": ["UNAVAILABLE"]})",
           R"("hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "0.005s",
               "nonFatalStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]})"}));
      config += Chance(0.5) ? kThrottle : "}";
      break;
  }
  const absl::Status status = client_->channel().SetServiceConfig(config);
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// ---- the calls ----

CallOptions StormWorld::MakeOptions(OneCall& call) {
  CallOptions options;
  const absl::Duration timeout =
      OneOf<absl::Duration>({absl::Milliseconds(5), absl::Milliseconds(50), absl::Milliseconds(300),
                             absl::Seconds(1), absl::Seconds(2)});
  options.timeout = timeout;
  call.timeout = absl::ToChronoNanoseconds(timeout);
  options.idempotent = Chance(0.7);
  options.wait_for_ready = Chance(0.3);
  if (Chance(0.2)) options.max_attempts = 1 + Below(5);
  if (Chance(0.2)) options.attempt_timeout = absl::FromChrono(Between(1ms, 100ms));
  if (Chance(0.4)) {
    options.hedge_delay = OneOf<absl::Duration>({absl::ZeroDuration(), absl::Milliseconds(1),
                                                 absl::Milliseconds(10), absl::InfiniteDuration()});
  }
  return options;
}

Request StormWorld::MakeRequest(bool grpc, const std::string& id, size_t size) {
  Request request =
      grpc || Chance(0.5) ? Request::Post(grpc ? "/s/m" : "/plain", "") : Request::Get("/plain");
  request.headers.Set("x-id", id);
  request.headers.Set("x-size", std::to_string(size));
  return request;
}

void StormWorld::MakeCall() {
  OneCall& call = calls_.emplace_back();
  CallOptions options = MakeOptions(call);
  const bool grpc = Chance(0.5);
  if (grpc) options.protocol = Protocol::kGrpc;
  const int policy = grpc && config_max_attempts_ > 0 ? config_max_attempts_ : retry_.max_attempts;
  const bool may_hedge =
      options.hedge_delay.has_value()
          ? *options.hedge_delay != absl::InfiniteDuration()
          : hedge_.when != HedgeOptions::When::kNever && !(grpc && config_max_attempts_ > 0);
  call.max_attempts =
      options.max_attempts.value_or(std::max(policy, may_hedge ? hedge_.max_attempts : 0));
  const size_t size =
      Chance(0.3) ? static_cast<size_t>(Below(400'000)) : static_cast<size_t>(Below(50));
  if (Chance(0.5)) {
    // SimClient numbers its calls by itself.
    call.id = std::to_string(client_->calls().size() + 1);
    Request request = MakeRequest(grpc, call.id, size);
    if (Chance(0.4)) {
      request.source = std::make_shared<PatternSource>(size, static_cast<size_t>(1 + Below(30'000)),
                                                       Chance(0.7));
    } else {
      request.body = StormBody(0, size);
    }
    call.unary = &client_->Start(std::move(request), options);
  } else {
    call.id = absl::StrCat("s", calls_.size());
    constexpr size_t kPiece = 20'000;
    const bool whole = Chance(0.4);
    call.pieces = whole ? 0 : static_cast<int>(size / kPiece);
    const size_t at_once = whole ? size : size % kPiece;
    Request request = MakeRequest(grpc, call.id, size);
    request.body = StormBody(0, at_once);
    call.stream = std::make_unique<WatchedStream>(*env_, client_->channel(), std::move(request),
                                                  options, whole);
    if (!whole) WriteOn(call);
  }
  if (!Chance(0.2)) return;
  const bool drop = Chance(0.5);
  env_->After(Between(0ms, 100ms), [this, &call, drop] {
    if (call.done() || client_ == nullptr) return;
    (drop ? call.dropped : call.cancelled) = true;
    if (call.unary != nullptr) {
      drop ? client_->Drop(*call.unary) : call.unary->handle.Cancel();
    } else {
      drop ? call.stream->Drop() : call.stream->stream().Cancel();
    }
  });
}

// Piece by piece, as there is room.
void StormWorld::WriteOn(OneCall& call) {
  if (call.done() || call.dropped) return;
  constexpr size_t kPiece = 20'000;
  WatchedStream& stream = *call.stream;
  if (call.pieces == 0) {
    (void)stream.stream().WritesDone();
    return;
  }
  if (stream.writing()) {
    env_->After(2ms, [this, &call] { WriteOn(call); });
    return;
  }
  stream.Write(StormBody(stream.bytes_written(), kPiece));
  --call.pieces;
  env_->After(Between(0ms, 4ms), [this, &call] { WriteOn(call); });
}

void StormWorld::MakeCalls(int calls) {
  stopping_ = stopping_ || calls == 0;
  if (stopping_) return;
  MakeCall();
  if (Chance(0.03)) ChangeConfig();
  env_->After(Chance(0.3) ? 0ms : Between(0ms, 6ms), [this, calls] { MakeCalls(calls - 1); });
}

void StormWorld::Begin(int calls) {
  badness_ = 0.2;
  ChangeConfig();
  MakeCalls(calls);
  env_->After(100ms, [this] { GoOnWithFaults(); });
}

void StormWorld::Run(int calls) {
  Begin(calls);
  env_->RunUntil([this] { return stopping_; }, 60s);
  // Deadlines, healed hosts, and what losers count for.
  env_->RunFor(6s);
  stats_ = client_->stats();
}

void StormWorld::RunAndBreakOff(int calls) {
  Begin(calls);
  env_->RunUntil([&] { return calls_.size() * 2 > static_cast<size_t>(calls); }, 60s);
  stopping_ = broken_off_ = true;
  closed_ = client_->Close();
}

bool StormWorld::Close() {
  for (OneCall& call : calls_) {
    if (call.stream != nullptr) call.stream->Drop();
  }
  closed_ = closed_ && client_->Close();
  client_.reset();
  hosts_.clear();
  return closed_;
}

}  // namespace weft::inline v0::testing
