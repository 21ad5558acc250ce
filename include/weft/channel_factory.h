// ChannelFactory: owns the loops, the connections and the watches of a process, and makes channels.
//
// One per process is enough; several do not share connections. Thread-safe. Destroying it ends
// every call with CANCELLED, says GOAWAY to every host and waits until all connections are closed
// (within a callback it does not wait). The loop threads end with the last channel and call;
// channels may outlive the factory, and their calls then fail.
//
// Targets of GetChannel:
//   payments                       a name in the factory's registry (Options::registry)
//   10.0.0.7:8080  [::1]:8080      one address; localhost:8080 is 127.0.0.1
//   static:10.0.0.7:80,10.0.0.8:80 a list of addresses, unix:… among them
//   ipv4:10.0.0.7:80,…  ipv6:[::1]:80,…  unix:/run/svc.sock  unix:///run/svc.sock
//   file:/etc/svc.json             endpoints from a JSON file, read again when it changes (see
//                                  FileRegistry in weft/registries.h)
//
// fork(): the parent goes on unharmed. In the child every call fails with FAILED_PRECONDITION; make
// a new factory there.
#ifndef WEFT_CHANNEL_FACTORY_H_
#define WEFT_CHANNEL_FACTORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/channel.h"
#include "weft/registry_options.h"
#include "weft/resolver.h"

namespace weft::inline v0 {

namespace net {
class Env;
}  // namespace net
namespace channel {
class FactoryImpl;
}  // namespace channel

struct ConnectionOptions {
  // From the first SYN to the peer's first SETTINGS, TLS included.
  absl::Duration connect_timeout = absl::Seconds(5);
  // Pause before the n-th dial in a row: uniform between `base` and three times the pause before,
  // at most `max`.
  absl::Duration reconnect_base = absl::Milliseconds(100);
  absl::Duration reconnect_max = absl::Seconds(30);
  // A PING after that long of reading nothing while streams are open (at least 10 s), the
  // connection is dead if it is not answered within keepalive_timeout. Idle connections are asked
  // each five minutes.
  absl::Duration keepalive_interval = absl::Seconds(30);
  absl::Duration keepalive_timeout = absl::Seconds(10);
  // How long a connection that takes nothing new (GOAWAY, a host that left) may take to end what
  // runs on it.
  absl::Duration drain_timeout = absl::Seconds(30);
  // Receive windows to begin with; they grow with need up to the maxima. 65,535 … 2^31-1 bytes.
  size_t stream_window = size_t{1} << 20;
  size_t connection_window = size_t{16} << 20;
  size_t max_stream_window = size_t{16} << 20;
  size_t max_connection_window = size_t{64} << 20;
  // Servers close a connection on which too many streams are reset (CVE-2023-44487; nghttp2, and so
  // node, allows 1000 and 33 a second more, others 100 … 1024 in all). So hedges that lost are
  // reset only while the resets of a connection, those of cancelled calls and deadlines included,
  // stay within a burst and so many a second more; beyond that what is still answered to them is
  // discarded until it ends, or until the attempt's deadline. A burst of 0: losers are never reset.
  int reset_burst = 100;
  double resets_per_second = 20;
  // Calls waiting for a stream of one host; one more fails with RESOURCE_EXHAUSTED.
  size_t max_pending_per_host = 65536;
  // Header list of one response, as RFC 9113 section 6.5.2 counts it; above: that call fails with
  // RESOURCE_EXHAUSTED.
  size_t max_header_list_bytes = size_t{64} << 10;
};

// Counters since the factory's creation.
struct FactoryStats {
  uint64_t dials = 0;
  uint64_t dial_failures = 0;
  uint64_t connections_opened = 0;
  uint64_t connections_lost = 0;  // closed by anything but this side's own wish
  uint64_t streams_opened = 0;
  uint64_t transparent_retries = 0;
  uint64_t bounces = 0;  // attempts that hosts refused because of their load (weft/serving.h)
  uint64_t retries = 0;
  uint64_t retries_refused_by_budget = 0;
  uint64_t hedges = 0;
  uint64_t hedges_refused_by_budget = 0;
  uint64_t hedges_won = 0;      // were the first to be answered
  uint64_t resets_sent = 0;     // RST_STREAM, whatever for
  uint64_t losers_drained = 0;  // ConnectionOptions::reset_burst
  uint64_t keepalive_timeouts = 0;
  uint64_t protocol_errors =
      0;                   // connections closed because the peer broke the protocol or flooded
  uint64_t ejections = 0;  // of hosts, by OutlierOptions
  uint64_t ejections_spared = 0;    // that max_ejection_percent did not allow
  uint64_t panics = 0;              // times that health began to be ignored
  uint64_t load_probes = 0;         // sent, by LoadProbeOptions
  uint64_t load_probes_failed = 0;  // of which brought no report
  uint64_t resolver_errors = 0;
  uint64_t empty_sets_held = 0;    // RegistryOptions::empty_hold
  uint64_t snapshots_used = 0;     // RegistryOptions::snapshot_directory
  uint64_t snapshot_failures = 0;  // could not be written
  uint64_t endpoints_skipped = 0;  // entries of endpoint sets that could not be used
  uint64_t service_configs_refused =
      0;  // of programs, files and registries: not valid, or not to be had
  uint64_t slow_callbacks =
      0;  // callbacks that held up a loop, so that another thread had to go on with it
};

class ChannelFactory {
 public:
  struct Options {
    // Loop threads; 0: min(4, processors).
    int loops = 0;
    // Resolves names without a scheme. Null: such a target is refused.
    Registry registry = {};
    RegistryOptions registry_options = {};
    // Defaults of GetChannel(target).
    ChannelOptions channel = {};
    ConnectionOptions connection = {};
    // Where this process runs; see weft/balancing_options.h. Empty: nowhere in particular.
    Locality locality = {};
    // Clock, loops, network and randomness; null: the system's. Tests pass a simulation.
    std::shared_ptr<net::Env> env = {};
  };

  // INVALID_ARGUMENT names the option that is out of range; RESOURCE_EXHAUSTED: no thread or
  // descriptor to be had.
  static absl::StatusOr<std::shared_ptr<ChannelFactory>> Create(Options options);
  static absl::StatusOr<std::shared_ptr<ChannelFactory>> Create() { return Create(Options()); }
  ~ChannelFactory();
  ChannelFactory(const ChannelFactory&) = delete;
  ChannelFactory& operator=(const ChannelFactory&) = delete;

  // Never waits: names are resolved and hosts are dialled from the first call on. INVALID_ARGUMENT
  // says what is wrong with the target or the options (certificates are read here).
  absl::StatusOr<std::shared_ptr<Channel>> GetChannel(std::string_view target);
  absl::StatusOr<std::shared_ptr<Channel>> GetChannel(std::string_view target,
                                                      ChannelOptions options);

  FactoryStats Stats() const;

 private:
  explicit ChannelFactory(std::shared_ptr<channel::FactoryImpl> impl);
  std::shared_ptr<channel::FactoryImpl> impl_;
};

}  // namespace weft::inline v0

#endif  // WEFT_CHANNEL_FACTORY_H_
