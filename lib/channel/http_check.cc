#include "channel/http_check.h"

#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "channel/host_query.h"
#include "cluster/outcome.h"

namespace weft::inline v0::channel {

class HttpCheck::Query final : public HostQuery {
 public:
  // With the host's strand held: must not block.
  using Done = absl::AnyInvocable<void(cluster::CheckResult) &&>;

  Query(std::shared_ptr<const Common> common, base::Ref<pool::HostPool> host)
      : HostQuery(std::move(host), common->authority, common->options.path),
        common_(std::move(common)) {}

  void Ask(base::MonoTime now, Done done) {
    done_ = std::move(done);
    deadline_ = base::After(now, common_->options.timeout);
    Run(now, deadline_);
  }

 private:
  void OnQueryEnd(const http::StreamEnd& end) override { std::move(done_)(Judge(end)); }

  cluster::CheckResult Judge(const http::StreamEnd& end) const {
    if (end.status.ok()) return cluster::JudgeHttp(common_->options, status());
    const bool late = cluster::NoticedLate(deadline_, host().strand().loop().clock().Now());
    if (end.processed != Processed::kMaybeProcessed || absl::IsCancelled(end.status) || late)
      return cluster::CheckResult::kVoid;
    return cluster::CheckResult::kFailed;
  }

  const std::shared_ptr<const Common> common_;
  base::MonoTime deadline_{};
  Done done_;
};

HttpCheck::HttpCheck(std::shared_ptr<const Common> common, base::Ref<pool::HostPool> host,
                     base::Random random, base::MonoTime now)
    : HostCheck(std::move(common), std::move(host)),
      checker_(this->common().options, std::move(random), now) {}

void HttpCheck::OnEnd() {
  if (const base::Ref<Query> running = std::exchange(running_, nullptr)) running->Cancel();
}

void HttpCheck::OnTimer() {
  checker_.OnStart();
  running_ = base::MakeRef<Query>(shared_common(), host());
  // The query, and with it the host, lives until its end was heard of here: whatever drops its last
  // reference does so outside the strand.
  running_->Ask(loop().now(), [self = base::Ref<HttpCheck>::Share(this),
                               kept = running_](cluster::CheckResult result) mutable {
    event::Loop& loop = self->loop();
    loop.PostFunction([self = std::move(self), kept = std::move(kept), result] {
      self->OnAnswer(kept.get(), result);
    });
  });
}

void HttpCheck::OnAnswer(const Query* query, cluster::CheckResult result) {
  if (running_.get() != query) return;  // it has come to its end here
  running_ = nullptr;
  (void)checker_.OnEnd(result, loop().now());
  Arm();
  SetState(checker_.state());
}

}  // namespace weft::inline v0::channel
