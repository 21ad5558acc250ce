#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "weft/serving.h"

namespace weft::inline v0 {
namespace {

constexpr uint32_t kForgetMs = 10'000;
// Of one sample in a mean: of the service time, which all requests are of, and of the latency.
constexpr float kServiceTimeWeight = 1.0f / 32;
constexpr float kLatencyWeight = 1.0f / 8;
constexpr std::chrono::nanoseconds kWindow = std::chrono::seconds(1);

float Nanoseconds(std::chrono::nanoseconds time) {
  return static_cast<float>(std::max<int64_t>(time.count(), 0));
}

}  // namespace

ServingRequest& ServingRequest::operator=(ServingRequest&& other) noexcept {
  if (this == &other) return *this;
  End(false);
  load_ = std::exchange(other.load_, nullptr);
  began_ = other.began_;
  working_ = other.working_;
  in_flight_ = other.in_flight_;
  bounced_ = other.bounced_;
  return *this;
}

void ServingRequest::Working() {
  if (load_ != nullptr) working_ = load_->Now();
}

void ServingRequest::End(bool ok) {
  if (ServingLoad* const load = std::exchange(load_, nullptr)) load->OnEnd(*this, ok);
}

void ServingRequest::Refuse() {
  ServingLoad* const load = std::exchange(load_, nullptr);
  if (load != nullptr) load->in_flight_.fetch_sub(1, std::memory_order_relaxed);
}

void ServingLoad::Mean::Add(float value, float weight, uint32_t now) {
  uint64_t before = word_.load(std::memory_order_relaxed);
  const float mean = std::bit_cast<float>(static_cast<uint32_t>(before));
  const float next = IsKnown(now) ? mean + (value - mean) * weight : value;
  // Who comes between has a sample that is as good.
  word_.compare_exchange_strong(before, uint64_t{now} << 32 | std::bit_cast<uint32_t>(next),
                                std::memory_order_relaxed);
}

bool ServingLoad::Mean::IsKnown(uint32_t now) const {
  const auto stamp = static_cast<uint32_t>(word_.load(std::memory_order_relaxed) >> 32);
  // A thread may be a little behind another one.
  return stamp != 0 && static_cast<int32_t>(now - stamp) <= static_cast<int32_t>(kForgetMs);
}

float ServingLoad::Mean::value() const {
  return std::bit_cast<float>(static_cast<uint32_t>(word_.load(std::memory_order_relaxed)));
}

ServingLoad::ServingLoad(Options options)
    : workers_(options.workers), clock_(std::move(options.clock)), start_(Now()) {}

bool ServingLoad::IsAbove(uint32_t in_flight, std::string_view bounce_above) {
  uint32_t most = 0;
  const char* const end = bounce_above.data() + bounce_above.size();
  const auto [rest, error] = std::from_chars(bounce_above.data(), end, most);
  return error == std::errc() && rest == end && most > 0 && in_flight > most;
}

ServingRequest ServingLoad::Begin(std::string_view bounce_above) {
  ServingRequest request;
  const uint32_t before = in_flight_.fetch_add(1, std::memory_order_relaxed);
  request.load_ = this;
  request.in_flight_ = before + 1;
  if (!bounce_above.empty() && IsAbove(before, bounce_above)) {
    request.Refuse();
    request.bounced_ = true;
    return request;
  }
  request.began_ = Now();
  return request;
}

// Never 0, which is no stamp.
uint32_t ServingLoad::Stamp(Time now) const {
  return static_cast<uint32_t>((now - start_) / std::chrono::milliseconds(1)) + 1;
}

size_t ServingLoad::BucketOf(uint32_t in_flight) {
  if (in_flight <= 8) return std::max<uint32_t>(in_flight, 1) - 1;
  const auto octave = static_cast<size_t>(std::bit_width(in_flight)) - 4;  // of 8 … 15: 0
  const size_t quarter = in_flight >> (octave + 1) & 3;
  return std::min(8 + 4 * octave + quarter, kBuckets - 1);
}

void ServingLoad::OnEnd(const ServingRequest& request, bool ok) {
  const Time now = Now();
  const uint32_t stamp = Stamp(now);
  const float took = Nanoseconds(now - request.began_);
  float worked = took;
  if (request.working_ != Time{}) {
    worked = Nanoseconds(now - request.working_);
  } else if (workers_ > 0 && request.in_flight_ > workers_) {
    worked = took * static_cast<float>(workers_) / static_cast<float>(request.in_flight_);
  }
  service_time_.Add(worked, kServiceTimeWeight, stamp);
  latency_[BucketOf(request.in_flight_)].Add(took, kLatencyWeight, stamp);
  worked_ns_.fetch_add(static_cast<uint64_t>(worked), std::memory_order_relaxed);
  if (!ok) failed_.fetch_add(1, std::memory_order_relaxed);
  ended_.fetch_add(1, std::memory_order_relaxed);
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
  Roll(now);
}

// Whoever finds the window over begins the next one.
void ServingLoad::Roll(Time now) {
  const int64_t at = std::chrono::nanoseconds(now - start_).count();
  int64_t last = rolled_at_.load(std::memory_order_acquire);
  if (at - last < kWindow.count() ||
      !rolled_at_.compare_exchange_strong(last, at, std::memory_order_acq_rel)) {
    return;
  }
  const double seconds = static_cast<double>(at - last) * 1e-9;
  const auto since = [](const std::atomic<uint64_t>& count, std::atomic<uint64_t>& then) {
    const uint64_t present = count.load(std::memory_order_relaxed);
    return static_cast<double>(present - then.exchange(present, std::memory_order_relaxed));
  };
  qps_.store(static_cast<float>(since(ended_, ended_then_) / seconds), std::memory_order_relaxed);
  eps_.store(static_cast<float>(since(failed_, failed_then_) / seconds), std::memory_order_relaxed);
  const double worked = since(worked_ns_, worked_then_) * 1e-9;
  if (workers_ > 0) {
    utilization_.store(static_cast<float>(worked / (seconds * workers_)),
                       std::memory_order_relaxed);
  }
}

// Where none came at that many in flight, the nearest that did.
float ServingLoad::LatencyAt(uint32_t in_flight, uint32_t now) const {
  const size_t at = BucketOf(in_flight);
  for (size_t away = 0; away < kBuckets; ++away) {
    if (away <= at && latency_[at - away].IsKnown(now)) return latency_[at - away].value();
    if (at + away < kBuckets && latency_[at + away].IsKnown(now))
      return latency_[at + away].value();
  }
  return 0;
}

ServingLoad::Values ServingLoad::Measure() {
  const Time now = Now();
  Roll(now);
  const uint32_t stamp = Stamp(now);
  const uint32_t present = in_flight();
  return {.in_flight = static_cast<double>(present),
          .workers = static_cast<double>(workers_),
          .service_time_ms = service_time_.value() * 1e-6,  // however old: there is no better one
          .latency_ms = LatencyAt(present + 1, stamp) * 1e-6,  // as for one that comes now
          .utilization = utilization_.load(std::memory_order_relaxed),
          .qps = qps_.load(std::memory_order_relaxed),
          .eps = eps_.load(std::memory_order_relaxed)};
}

}  // namespace weft::inline v0
