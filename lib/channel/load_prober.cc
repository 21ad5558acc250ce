#include "channel/load_prober.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "base/visible.h"
#include "channel/host_query.h"
#include "cluster/load_report_header.h"

namespace weft::inline v0::channel {
namespace {

// Between two looks for probes that have ended, where no calls come.
constexpr base::MonoDuration kIdleTick = std::chrono::milliseconds(50);

absl::Status Refuse(std::string_view field, std::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("LoadProbeOptions::", base::V(field), " must be ", base::V(rule)));
}

}  // namespace

absl::Status Validate(const LoadProbeOptions& options) {
  if (!options.path.empty() && !base::IsVisiblePath(options.path))
    return Refuse("path", "empty, or a path that begins with '/'");
  if (!(options.per_call > 0 && options.per_call <= 16))  // nor is it NaN
    return Refuse("per_call", "more than 0, at most 16");
  if (options.max_running < 1 || options.max_running > 10'000)
    return Refuse("max_running", "1 … 10,000");
  if (options.timeout < absl::Milliseconds(1) || options.timeout > absl::Minutes(1))
    return Refuse("timeout", "1 ms … 1 min");
  return absl::OkStatus();
}

class LoadProber::Probe final : public HostQuery {
 public:
  Probe(base::Ref<LoadProber> prober, base::Ref<cluster::Member> member)
      : HostQuery(
            base::Ref<pool::HostPool>::Share(static_cast<pool::HostPool*>(member->host.get())),
            prober->setup_.authority, prober->setup_.options.path),
        prober_(std::move(prober)),
        member_(std::move(member)) {}

  void Ask(base::MonoTime now) { Run(now, base::After(now, prober_->setup_.options.timeout)); }
  const cluster::Member* member() const { return member_.get(); }
  // Any thread.
  bool has_ended() const { return ended_.load(std::memory_order_acquire); }

 private:
  void OnQueryEnd(const http::StreamEnd& end) override {
    std::optional<LoadReport> report;
    if (end.status.ok() && status() < 400) {
      report = cluster::ReportOf(headers());
      if (!report.has_value()) report = cluster::ReportOf(trailers());
    }
    const Setup& setup = prober_->setup_;
    if (report.has_value()) {
      setup.cluster->OnReport(*member_, *report, prober_->loop_.clock().Now());
    } else {
      setup.counters->load_probes_failed.Add();
    }
    ended_.store(true, std::memory_order_release);
  }

  const base::Ref<LoadProber> prober_;
  const base::Ref<cluster::Member> member_;
  std::atomic<bool> ended_{false};
};

LoadProber::LoadProber(Setup setup)
    : setup_(std::move(setup)), loop_(setup_.cluster->loop()), random_(setup_.seed) {}

LoadProber::~LoadProber() = default;

// Either the loop, which gives up its turn before it looks for the last time, finds the call, or
// the call finds that nobody will look.
void LoadProber::OnCallBegun() {
  calls_.fetch_add(1, std::memory_order_seq_cst);
  if (active_.load(std::memory_order_seq_cst) || active_.exchange(true, std::memory_order_seq_cst))
    return;
  Retain();  // until it ran
  loop_.Post(this);
}

void LoadProber::Run() {
  Tick();
  Release();
}

void LoadProber::Tick() {
  if (closed_) return;
  std::erase_if(running_, [](const base::Ref<Probe>& probe) { return probe->has_ended(); });
  const uint64_t calls = calls_.exchange(0, std::memory_order_seq_cst);
  if (calls > 0) {
    Send(calls);
    loop_.Arm(this, loop_.now() + kTick);
    return;
  }
  active_.store(false, std::memory_order_seq_cst);
  if (calls_.load(std::memory_order_seq_cst) > 0 &&
      !active_.exchange(true, std::memory_order_seq_cst)) {
    loop_.Arm(this, loop_.now() + kTick);
  } else {
    loop_.Arm(this, running_.empty() ? base::kNever : loop_.now() + kIdleTick);
  }
}

void LoadProber::Send(uint64_t calls) {
  owed_ += static_cast<double>(calls) * setup_.options.per_call;
  const double whole = std::floor(owed_);
  owed_ -= whole;
  const size_t free =
      setup_.options.max_running - std::min<size_t>(running_.size(), setup_.options.max_running);
  for (auto left = static_cast<size_t>(std::min(whole, static_cast<double>(free))); left > 0;
       --left) {
    base::Ref<cluster::Member> member = Draw();
    if (!member) continue;
    running_.push_back(base::MakeRef<Probe>(base::Ref<LoadProber>::Share(this), std::move(member)));
    setup_.counters->load_probes.Add();
    // Not from the list: that may move.
    const base::Ref<Probe> probe = running_.back();
    probe->Ask(loop_.now());
  }
}

base::Ref<cluster::Member> LoadProber::Draw() {
  constexpr int kDraws = 3;
  for (int i = 0; i < kDraws; ++i) {
    base::Ref<cluster::Member> member = setup_.cluster->Draw(random_.Next());
    const bool asked =
        std::any_of(running_.begin(), running_.end(),
                    [&](const base::Ref<Probe>& probe) { return probe->member() == member.get(); });
    if (member && !asked) return member;
  }
  return nullptr;
}

void LoadProber::Close() {
  closed_ = true;
  loop_.Disarm(this);
  for (const base::Ref<Probe>& probe : std::exchange(running_, {})) probe->Cancel();
}

}  // namespace weft::inline v0::channel
