// Tally: what became of many calls.
#ifndef WEFT_EXAMPLES_WEFT_CALL_TALLY_H_
#define WEFT_EXAMPLES_WEFT_CALL_TALLY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/response.h"

namespace weft_call {

class Tally {
 public:
  // Errors of one kind: the same code, origin and chance of having been processed.
  struct Failures {
    uint64_t count = 0;
    absl::Status example;  // the first one
  };

  void Add(const absl::StatusOr<weft::Response>& answer, absl::Duration took);
  // Takes over what `other` has.
  void Merge(Tally&& other);

  uint64_t answered() const { return latencies_.size(); }
  uint64_t failed() const { return failed_; }
  // Of the calls that were answered: the least time within which that part of them (0 … 1) was.
  // Sorts at the first call. answered() is not 0.
  absl::Duration Quantile(double part);

  const std::map<int, uint64_t>& statuses() const { return statuses_; }
  const std::map<std::string, Failures>& failures() const { return failures_; }  // by Kind
  // Where calls ended, failed ones included; those that never had a host are nowhere.
  const std::map<std::string, uint64_t>& hosts() const { return hosts_; }
  uint64_t body_bytes() const { return body_bytes_; }

 private:
  std::vector<absl::Duration> latencies_;
  bool sorted_ = false;
  uint64_t failed_ = 0;
  uint64_t body_bytes_ = 0;
  std::map<int, uint64_t> statuses_;
  std::map<std::string, Failures> failures_;
  std::map<std::string, uint64_t> hosts_;
};

}  // namespace weft_call

#endif  // WEFT_EXAMPLES_WEFT_CALL_TALLY_H_
