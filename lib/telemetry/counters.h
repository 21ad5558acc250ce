// Counters: what happened, since the factory began. Relaxed atomics; FactoryStats says what each
// one means.
#ifndef WEFT_LIB_TELEMETRY_COUNTERS_H_
#define WEFT_LIB_TELEMETRY_COUNTERS_H_

#include <atomic>
#include <cstdint>

namespace weft::inline v0::telemetry {

class Counter {
 public:
  void Add(uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct Counters {
  Counter dials;
  Counter dial_failures;
  Counter connections_opened;
  Counter connections_lost;
  Counter streams_opened;
  Counter transparent_retries;
  Counter bounces;
  Counter retries;
  Counter retries_refused_by_budget;
  Counter hedges;
  Counter hedges_refused_by_budget;
  Counter hedges_won;
  Counter resets_sent;
  Counter losers_drained;
  Counter keepalive_timeouts;
  Counter protocol_errors;
  Counter ejections;
  Counter ejections_spared;
  Counter panics;
  Counter load_probes;
  Counter load_probes_failed;
  Counter resolver_errors;
  Counter endpoints_skipped;
  Counter service_configs_refused;
  Counter empty_sets_held;
  Counter snapshots_used;
  Counter snapshot_failures;
  std::atomic<uint64_t> slow_turns{0};
};

}  // namespace weft::inline v0::telemetry

#endif  // WEFT_LIB_TELEMETRY_COUNTERS_H_
