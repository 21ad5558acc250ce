#include "weft_call/tally.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weft/error.h"
#include "weft_call/format.h"

namespace weft_call {

void Tally::Add(const absl::StatusOr<weft::Response>& answer, absl::Duration took) {
  if (answer.ok()) {
    latencies_.push_back(took);
    sorted_ = false;
    ++statuses_[answer->status];
    ++hosts_[answer->info.host];
    body_bytes_ += answer->body.size();
    return;
  }
  ++failed_;
  Failures& failures = failures_[Kind(answer.status())];
  if (failures.count++ == 0) failures.example = answer.status();
  const auto error = weft::GetCallError(answer.status());
  if (error.has_value() && !error->host.empty()) ++hosts_[error->host];
}

void Tally::Merge(Tally&& other) {
  latencies_.insert(latencies_.end(), other.latencies_.begin(), other.latencies_.end());
  sorted_ = false;
  failed_ += other.failed_;
  body_bytes_ += other.body_bytes_;
  for (const auto& [status, count] : other.statuses_) statuses_[status] += count;
  for (const auto& [host, count] : other.hosts_) hosts_[host] += count;
  for (auto& [kind, failures] : other.failures_) {
    Failures& mine = failures_[kind];
    if (mine.count == 0) mine.example = std::move(failures.example);
    mine.count += failures.count;
  }
  other = Tally();
}

absl::Duration Tally::Quantile(double part) {
  if (!std::exchange(sorted_, true)) std::sort(latencies_.begin(), latencies_.end());
  const double rank = std::ceil(part * static_cast<double>(latencies_.size()));
  return latencies_[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace weft_call
