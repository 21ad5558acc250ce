#include "support/sim_env.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/check.h"

namespace weft::inline v0::testing {

uint64_t TestSeed() {
  const char* text = std::getenv("WEFT_SEED");
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0) : 1;
}

SimEnv::SimEnv(uint64_t seed)
    : seed_(seed),
      random_(seed),
      order_(seed ^ 0x9e3779b97f4a7c15ULL),
      network_(events_, base::Random(seed ^ 0xc2b2ae3d27d4eb4fULL)) {}

SimEnv::~SimEnv() {
  if (std::uncaught_exceptions() > 0) {
    std::fprintf(stderr, "SimEnv: to run it again: WEFT_SEED=%llu\n",
                 static_cast<unsigned long long>(seed_));
  }
  network_.Shutdown();
  events_.Clear();
}

absl::StatusOr<std::unique_ptr<event::Loop>> SimEnv::NewLoop(int,
                                                             std::atomic<uint64_t>* slow_turns) {
  auto core = std::make_shared<SimLoopCore>(clock_, order_.Fork(), slow_turns);
  cores_.push_back(core);
  return std::make_unique<SimLoop>(std::move(core));
}

std::vector<SimLoop*> SimEnv::loops() const {
  std::vector<SimLoop*> loops;
  for (const auto& core : cores_) {
    if (core->alive()) loops.push_back(core->loop());
  }
  return loops;
}

void SimEnv::BusyFor(base::MonoDuration time) {
  WEFT_DCHECK(current_ != nullptr);
  if (current_ != nullptr) current_->BusyFor(time);
}

void SimEnv::Note(uint64_t what) {
  const uint64_t time = static_cast<uint64_t>(clock_.Now().time_since_epoch().count());
  digest_ = (digest_ ^ time) * 1099511628211ULL;
  digest_ = (digest_ ^ what) * 1099511628211ULL;
  digest_ = (digest_ ^ network_.digest()) * 1099511628211ULL;
}

void SimEnv::DropDeadLoops() {
  std::erase_if(cores_, [](const auto& core) { return !core->alive(); });
}

bool SimEnv::LoopsHaveWork() const {
  return std::any_of(cores_.begin(), cores_.end(),
                     [](const auto& core) { return core->alive() && core->HasWork(); });
}

base::MonoTime SimEnv::NextTime() const {
  base::MonoTime next = events_.next();
  if (stalled_) return next;
  for (const auto& core : cores_) {
    if (!core->alive()) continue;
    base::MonoTime at = core->HasWork() ? clock_.Now() : core->next_timer();
    if (at != base::kNever) next = std::min(next, std::max(at, core->busy_until()));
  }
  return next;
}

bool SimEnv::RunLoop() {
  std::vector<size_t> runnable;
  for (size_t i = 0; i < cores_.size(); ++i) {
    const SimLoopCore& core = *cores_[i];
    if (core.alive() && core.HasWork() && core.busy_until() <= clock_.Now()) runnable.push_back(i);
  }
  if (runnable.empty()) return false;
  const size_t i = runnable[runnable.size() == 1 ? 0 : order_.Below(runnable.size())];
  std::shared_ptr<SimLoopCore> core = cores_[i];
  Note(2 + i);
  current_ = core.get();
  core->Turn();
  current_ = nullptr;
  return true;
}

bool SimEnv::Step(base::MonoTime limit) {
  DropDeadLoops();
  const base::MonoTime next = NextTime();
  if (next == base::kNever || next > limit) return false;
  clock_.AdvanceTo(next);
  steps_at_instant_ = clock_.Now() == last_step_ ? steps_at_instant_ + 1 : 0;
  last_step_ = clock_.Now();
  if (steps_at_instant_ > max_steps_per_instant) {
    throw std::runtime_error(
        "SimEnv: time does not go on: something is busy without end (WEFT_SEED=" +
        std::to_string(seed_) + ")");
  }
  // Where both a loop and the network have something for this instant, either may be first: a loop
  // that waits a little finds more in one turn.
  const bool event_due = events_.next() <= clock_.Now();
  if (!stalled_ && (!event_due || order_.Below(2) == 0) && RunLoop()) return true;
  if (event_due) {
    Note(1);
    events_.RunOne();
  }
  return true;
}

void SimEnv::RunFor(base::MonoDuration time) {
  const base::MonoTime end = base::After(clock_.Now(), time);
  while (Step(end)) {
  }
  clock_.AdvanceTo(end);
}

bool SimEnv::RunUntil(const std::function<bool()>& done, base::MonoDuration limit) {
  const base::MonoTime end = base::After(clock_.Now(), limit);
  while (!done()) {
    if (Step(end)) continue;
    clock_.AdvanceTo(end);
    return done();
  }
  return true;
}

bool SimEnv::RunUntilIdle(base::MonoDuration limit) {
  const base::MonoTime end = base::After(clock_.Now(), limit);
  while (LoopsHaveWork() || !events_.empty()) {
    if (!Step(end)) return false;
  }
  return true;
}

void SimEnv::Stall(base::MonoDuration time) {
  stalled_ = true;
  RunFor(time);
  stalled_ = false;
}

}  // namespace weft::inline v0::testing
