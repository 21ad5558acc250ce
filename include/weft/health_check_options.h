// Active health checks: each host is asked, again and again, whether it is healthy, and one that is
// not gets no calls. They find what attempts do not (OutlierOptions goes by these): a host that is
// connected but not ready to serve, before the first call meets it.
//
// Off by default: every client that checks every host costs each host clients / interval requests a
// second. A host is asked over the connection that its calls use. Until its first check has ended,
// and while it is not connected, nothing is known of it, and it gets no calls where others are
// healthy.
//
// Words and thresholds are Envoy's; kGrpc speaks grpc.health.v1 (gRPC's doc/health-checking.md).
#ifndef WEFT_HEALTH_CHECK_OPTIONS_H_
#define WEFT_HEALTH_CHECK_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace weft::inline v0 {

// GetChannel refuses what is out of range with INVALID_ARGUMENT that names the field.
struct HealthCheckOptions {
  enum class Kind : uint8_t {
    kNone,
    kHttp,  // GET of `path`: healthy where the answer's status is one of `expected_statuses`
    // grpc.health.v1.Health/Check of `service`: healthy where it is SERVING, or where the server
    // has no such method, which says nothing against it (gRFC A17)
    kGrpc,
  };
  Kind kind = Kind::kNone;

  // With kHttp: as in Request::path, beginning with '/'.
  std::string path = "/healthz";
  // With kHttp: 200 … 599. Empty: 200 alone.
  std::vector<int> expected_statuses = {};
  // With kGrpc: the full name, "payments.v1.Payments"; empty: the server as a whole.
  std::string service = {};

  // From the end of a check to the next one, give or take a tenth; 100 ms … an hour.
  absl::Duration interval = absl::Seconds(10);
  // Of one check, 1 ms … a minute: without an answer by then it has failed.
  absl::Duration timeout = absl::Seconds(1);
  // So many checks in a row change what a host is taken for; 1 … 100. Its first check counts at
  // once.
  int healthy_threshold = 2;
  int unhealthy_threshold = 3;
};

}  // namespace weft::inline v0

#endif  // WEFT_HEALTH_CHECK_OPTIONS_H_
