// HttpCheck: asks a host over HTTP, again and again, whether it is healthy.
#ifndef WEFT_LIB_CHANNEL_HTTP_CHECK_H_
#define WEFT_LIB_CHANNEL_HTTP_CHECK_H_

#include <memory>

#include "base/random.h"
#include "base/ref.h"
#include "base/time.h"
#include "channel/host_check.h"
#include "cluster/health_checker.h"

namespace weft::inline v0::channel {

class HttpCheck final : public HostCheck {
 public:
  HttpCheck(std::shared_ptr<const Common> common, base::Ref<pool::HostPool> host,
            base::Random random, base::MonoTime now);

 private:
  class Query;

  void OnBegin() override { Arm(); }
  void OnEnd() override;
  void OnTimer() override;
  void OnAnswer(const Query* query, cluster::CheckResult result);
  void Arm() { loop().Arm(this, checker_.next()); }

  cluster::HealthChecker checker_;
  base::Ref<Query> running_;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_HTTP_CHECK_H_
