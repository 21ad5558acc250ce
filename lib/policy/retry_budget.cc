#include "policy/retry_budget.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::inline v0::policy {
namespace {

constexpr int64_t kUnit = 1'000'000;
constexpr double kMaxRatio = 1000;
constexpr double kMaxReserve = 1e6;

double Within(double value, double high) { return value > 0 ? std::min(value, high) : 0; }

}  // namespace

RetryBudget::RetryBudget(const Options& options) : step_(std::numeric_limits<int64_t>::min()) {
  const absl::Duration window = std::clamp(options.window, absl::Seconds(1), absl::Seconds(60));
  const double ratio = Within(options.ratio, kMaxRatio);
  if (ratio * static_cast<double>(kUnit) < 1) {
    deposit_ = 0;
    cost_ = 1;
  } else {
    deposit_ = kUnit;
    cost_ = static_cast<int64_t>(std::ceil(static_cast<double>(kUnit) / ratio));
  }
  const double reserve =
      Within(options.reserve_per_second * absl::ToDoubleSeconds(window), kMaxReserve);
  reserve_ = static_cast<int64_t>(reserve) * cost_;
  step_ns_ = absl::ToInt64Nanoseconds(window) / static_cast<int64_t>(kSteps);
}

void RetryBudget::Deposit(base::MonoTime now) {
  const int64_t step = StepOf(now);
  if (step > step_.load(std::memory_order_acquire)) MoveTo(step);
  // Should the window move on meanwhile, this counts in a later step or is lost: never twice.
  SlotOf(step_.load(std::memory_order_acquire))
      .deposited.fetch_add(deposit_, std::memory_order_relaxed);
}

bool RetryBudget::TryWithdraw(Use use, base::MonoTime now) {
  std::lock_guard<std::mutex> lock(mutex_);
  MoveToLocked(StepOf(now));
  if (BalanceLocked(use) < cost_) return false;
  SlotOf(step_.load(std::memory_order_relaxed))
      .withdrawn.fetch_add(cost_, std::memory_order_relaxed);
  return true;
}

int64_t RetryBudget::Available(Use use, base::MonoTime now) {
  std::lock_guard<std::mutex> lock(mutex_);
  MoveToLocked(StepOf(now));
  return std::max<int64_t>(BalanceLocked(use), 0) / cost_;
}

void RetryBudget::MoveTo(int64_t step) {
  std::lock_guard<std::mutex> lock(mutex_);
  MoveToLocked(step);
}

void RetryBudget::MoveToLocked(int64_t step) {
  const int64_t present = step_.load(std::memory_order_relaxed);
  if (step <= present) return;
  constexpr auto kAll = static_cast<int64_t>(kSteps);
  for (int64_t gone = std::max(present, step - kAll) + 1; gone <= step; ++gone) {
    SlotOf(gone).deposited.store(0, std::memory_order_relaxed);
    SlotOf(gone).withdrawn.store(0, std::memory_order_relaxed);
  }
  step_.store(step, std::memory_order_release);
}

int64_t RetryBudget::BalanceLocked(Use use) const {
  int64_t deposited = 0;
  int64_t withdrawn = 0;
  for (const Slot& slot : slots_) {
    deposited += slot.deposited.load(std::memory_order_relaxed);
    withdrawn += slot.withdrawn.load(std::memory_order_relaxed);
  }
  return use == Use::kRetry ? deposited + reserve_ - withdrawn : deposited / 2 - withdrawn;
}

}  // namespace weft::inline v0::policy
