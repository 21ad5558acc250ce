// Load probes: hosts are asked for their load apart from calls, so that a client knows of more
// hosts than those which answer its calls (Wydrowski et al., "Load is not what you should balance:
// Introducing Prequal", NSDI 2024). Each call sets off a few of them, to hosts drawn at random; it
// does not wait for them, they serve the calls that follow.
//
// What a host answers (endpoint-load-metrics, see weft/load_report.h) counts as if it had come with
// the answer to a call: any balancer uses it that goes by reports (weft/reported_load.h); the
// others make nothing of it. Worth it with Prequal(), and where each client makes few calls and the
// hosts are many; FreshLoad() does as well without (benchmarks/README.md).
//
// A probe is a GET over the connection that the host's calls use, and no call: it is not in flight,
// not repeated, no host is blamed for how it ends (FactoryStats::load_probes_failed counts those
// that brought no report), and it leaves one of the peer's streams to calls. Only hosts that are
// connected and may be picked are asked, no host twice at a time. Probes are sent by a loop, for
// all calls of a millisecond together.
//
// What they cost: per_call small requests for each call, of the client and of the hosts. A server
// that answers them is shown in weft/serving.h.
#ifndef WEFT_LOAD_PROBE_OPTIONS_H_
#define WEFT_LOAD_PROBE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace weft::inline v0 {

// GetChannel refuses what is out of range with INVALID_ARGUMENT that names the field.
struct LoadProbeOptions {
  // As in Request::path, beginning with '/': "/load". Empty: no probes.
  std::string path = {};
  // Probes for each call, in the mean; more than 0, at most 16.
  double per_call = 3;
  // So many of the channel run at a time, 1 … 10,000; what calls would set off beyond that is not
  // sent, nor made up for later.
  uint32_t max_running = 64;
  // Of one probe, 1 ms … a minute: what a host answers later is not heard.
  absl::Duration timeout = absl::Milliseconds(250);
};

}  // namespace weft::inline v0

#endif  // WEFT_LOAD_PROBE_OPTIONS_H_
