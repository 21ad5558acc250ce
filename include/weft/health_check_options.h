// Active health checks: each host is asked whether it is healthy, and one that is not gets no
// calls. They find what attempts do not (OutlierOptions goes by these): a host that is connected
// but not ready to serve, before the first call meets it.
//
// A host is asked over the connection that its calls use, and checks are no calls: they do not
// count as in flight, always leave one of the peer's streams (SETTINGS_MAX_CONCURRENT_STREAMS) to
// calls, and hold up no connection that is to end. Until the first answer nothing is known of a
// host, and it gets no calls where others are healthy.
//
// kHttp asks again and again; words and thresholds are Envoy's. Every client that checks every host
// costs each host clients / interval requests a second. What is known of a host outlasts its
// connection.
//
// kGrpc keeps one stream of grpc.health.v1.Health/Watch open at each host, and what the host says
// on it counts at once (gRPC's doc/health-checking.md, gRFC A17): SERVING is healthy, all else is
// not. So it costs a host one stream for each client, and nothing while nothing changes.
//   - UNIMPLEMENTED says nothing against a host: it counts as healthy, and is not asked again on
//     this connection.
//   - Where the stream ends in another way the host counts as unhealthy until the next stream says
//     something. That is opened at once where this one had said something (but a second after it,
//     at least), else after 1 s, then 1.6 times as long each time, up to 2 min, give or take a
//     fifth.
//   - With its connection, which may have ended in good order (GOAWAY), all that is known of a host
//     is gone; the next connection gets a stream at once.
//   - A stream has no time limit, and keepalive asks no sooner because of it. A host that falls
//     silent is found by the first call, or by keepalive.
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
    kGrpc,  // grpc.health.v1.Health/Watch of `service`: as the host says
  };
  Kind kind = Kind::kNone;

  // With kHttp: as in Request::path, beginning with '/'.
  std::string path = "/healthz";
  // With kHttp: 200 … 599. Empty: 200 alone.
  std::vector<int> expected_statuses = {};
  // With kGrpc: the full name, "payments.v1.Payments"; empty: the server as a whole.
  std::string service = {};

  // The rest is for kHttp alone.

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
