// ServingLoad: what a server counts and says of its own load, so that its clients' balancers can
// choose well. For servers of any kind; needs nothing but the standard library, and makes no
// threads.
//
//   weft::ServingLoad load({.workers = 4});               // one for what shares these workers
//   ...
//   auto request = load.Begin(headers["weft-bounce-above"]);  // as soon as it has come
//   if (request.bounced()) return Answer(503, {{"weft-bounced", "1"}, Report()});
//   ...                                                   // in a worker:
//   request.Working();                                    // where one can say when work begins
//   ...
//   request.End(/*ok=*/true);                             // before the answer's head is written
//   answer.headers["endpoint-load-metrics"] = load.Report().text();
//
// What is measured
//   in flight      requests that have begun and not ended
//   service time   mean of the last ones, from Working() to End(). Without Working(): what the
//                  request took, times workers / requests in flight when it came, where these were
//                  more than the workers, since all before it in a queue take as long as it does
//   latency        mean of what requests took, waiting included, that came when about as many were
//                  in flight as now (Wydrowski et al., "Load is not what you should balance:
//                  Introducing Prequal", NSDI 2024), or nearly so many; of the last 10 s
//   utilization    service time spent within the last second, of the workers' time; may exceed 1
//   rates          requests, and failed ones, a second, in the last second
//
// Bounces: a client's picker may have sent `weft-bounce-above: <n>`. Where more than n are in
// flight, the server refuses the request at once and unprocessed, with HTTP 503 and
// `weft-bounced: 1`, or gRPC's UNAVAILABLE with that in its trailing metadata, and best with a
// report; the client then goes elsewhere, at most twice, and asks the third host without the field.
// A request without it has to be taken. For gRPC's servers: weft/grpc_stub/serving.h.
//
// Probes: a client may ask for the report alone (weft/load_probe_options.h), by a GET of a path
// that the two agree on. That is answered before anything else has a say (no queue, no log), with
// 204 and the header, without Begin, so that it does not count itself:
//
//   if (path == "/load") return Answer(204, {{"endpoint-load-metrics", load.Report().text()}});
//
// Threads: everything may be called from any thread at any time; no locks. Requests that end at the
// same moment may leave out each other's sample of a mean, never of a count.
#ifndef WEFT_SERVING_H_
#define WEFT_SERVING_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace weft::inline v0 {

class ServingLoad;

// One request in flight. Moved, not copied; ends with its destructor at the latest, then as one
// that failed. Not thread-safe for itself. Its ServingLoad has to outlive it.
class ServingRequest {
 public:
  ServingRequest() = default;  // none
  ServingRequest(ServingRequest&& other) noexcept { *this = std::move(other); }
  ServingRequest& operator=(ServingRequest&& other) noexcept;
  ~ServingRequest() { End(false); }

  // It is to be refused at once, and is not counted.
  bool bounced() const { return bounced_; }
  // Work on it begins, what was before was waiting.
  void Working();
  // Its answer is made. `ok`: false counts as an error. Again, or for one that was bounced:
  // nothing.
  void End(bool ok);
  // It is not worked on, and counts for nothing.
  void Refuse();

 private:
  friend class ServingLoad;
  using Time = std::chrono::steady_clock::time_point;
  ServingLoad* load_ = nullptr;
  Time began_{};
  Time working_{};  // the epoch: it was not said
  uint32_t in_flight_ = 0;
  bool bounced_ = false;
};

// A report in ORCA's text form, for the header `endpoint-load-metrics`. A plain value.
class ServingReport {
 public:
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  friend class ServingLoad;
  std::array<char, 320> text_;
  size_t size_ = 0;
};

class ServingLoad {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Options {
    // How many requests are worked on at a time: threads, processes, permits. 0: nobody knows;
    // clients then cannot tell whether it has room, and utilization is not reported.
    uint32_t workers = 0;
    // Null: the steady clock. For tests and simulations.
    std::function<Time()> clock = nullptr;
  };

  explicit ServingLoad(Options options);
  ServingLoad(const ServingLoad&) = delete;
  ServingLoad& operator=(const ServingLoad&) = delete;

  // A request has come. `bounce_above`: the value of its header field `weft-bounce-above`; empty,
  // or no number above 0: it is taken.
  ServingRequest Begin(std::string_view bounce_above = {});
  // Whether Begin would bounce it.
  bool Bounces(std::string_view bounce_above) const { return IsAbove(in_flight(), bounce_above); }

  uint32_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  // What it has to say now. End a request before its own answer's report is made, so that it does
  // not count itself. No allocation.
  ServingReport Report();
  // The same as an xds.data.orca.v3.OrcaLoadReport, for the trailer `endpoint-load-metrics-bin`.
  // Raw bytes: gRPC's libraries do the base64 of metadata whose names end in -bin.
  std::string ReportBinary();

 private:
  friend class ServingRequest;

  // A mean of the last samples that many threads add to, in one word: nanoseconds and, in ms, when
  // the last one came.
  class Mean {
   public:
    void Add(float value, float weight, uint32_t now);
    bool IsKnown(uint32_t now) const;
    float value() const;

   private:
    std::atomic<uint64_t> word_{0};
  };
  // What is reported; zero: not known.
  struct Values {
    double in_flight = 0;
    double workers = 0;
    double service_time_ms = 0;
    double latency_ms = 0;
    double utilization = 0;
    double qps = 0;
    double eps = 0;
  };

  static bool IsAbove(uint32_t in_flight, std::string_view bounce_above);
  static size_t BucketOf(uint32_t in_flight);
  Time Now() const { return clock_ ? clock_() : std::chrono::steady_clock::now(); }
  uint32_t Stamp(Time now) const;
  void OnEnd(const ServingRequest& request, bool ok);
  void Roll(Time now);
  float LatencyAt(uint32_t in_flight, uint32_t now) const;
  Values Measure();

  // In flight 1 … 8 one by one, then four to each doubling, up to about a million.
  static constexpr size_t kBuckets = 8 + 4 * 17;

  const uint32_t workers_;
  const std::function<Time()> clock_;
  const Time start_;
  alignas(64) std::atomic<uint32_t> in_flight_{0};
  alignas(64) Mean service_time_;
  std::array<Mean, kBuckets> latency_;  // by how many were in flight when they came
  // Of all that have ended.
  alignas(64) std::atomic<uint64_t> ended_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> worked_ns_{0};
  // The last second that is over; whoever moves `rolled_at_` writes the rest.
  alignas(64) std::atomic<int64_t> rolled_at_{0};  // ns since start_
  std::atomic<uint64_t> ended_then_{0};
  std::atomic<uint64_t> failed_then_{0};
  std::atomic<uint64_t> worked_then_{0};
  std::atomic<float> qps_{0};
  std::atomic<float> eps_{0};
  std::atomic<float> utilization_{0};
};

}  // namespace weft::inline v0

#endif  // WEFT_SERVING_H_
