// FactoryImpl: what a factory owns: the loops, the hosts, the counters.
//
// It lives as long as its ChannelFactory, any channel, any call and any connection that has yet to
// close; so loops outlive all that runs on them. Where the last of these goes on a loop's thread,
// it is destroyed at the end of that loop's turn.
#ifndef WEFT_LIB_CHANNEL_FACTORY_IMPL_H_
#define WEFT_LIB_CHANNEL_FACTORY_IMPL_H_

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/fork.h"
#include "base/pending_count.h"
#include "base/random.h"
#include "channel/host_table.h"
#include "channel/watch_table.h"
#include "event/loop.h"
#include "net/env.h"
#include "net/tls.h"
#include "pool/connection.h"
#include "telemetry/counters.h"
#include "weft/channel_factory.h"

namespace weft::inline v0::channel {

class ChannelImpl;

class FactoryImpl : public std::enable_shared_from_this<FactoryImpl> {
 public:
  static absl::StatusOr<std::shared_ptr<FactoryImpl>> Create(ChannelFactory::Options options);

  absl::StatusOr<std::shared_ptr<ChannelImpl>> Open(std::string_view target,
                                                    ChannelOptions options);
  // Ends everything. Waits for it, unless on a loop or in a simulation.
  void Shutdown();
  // Not OK once nothing may be started any more.
  absl::Status Refusal() const;
  // Whether this is a child of the process that made the factory: its threads are not here, its
  // descriptors are shared.
  bool Forked() const { return fork_generation_ != base::ForkGeneration(); }

  const ChannelFactory::Options& options() const { return options_; }
  telemetry::Counters& counters() { return counters_; }
  const event::Clock& clock() const { return env_->clock(); }
  base::PendingCount& closing() { return closing_; }
  WatchTable& watches() { return *watches_; }
  uint64_t NewSeed();
  // The loop for the next thing that needs one, in turn.
  event::Loop& NextLoop();
  std::shared_ptr<cluster::Host> AcquireHost(const net::Address& address,
                                             const std::optional<TlsOptions>& tls,
                                             const std::shared_ptr<net::TlsContext>& context,
                                             const std::string& authority);
  absl::StatusOr<std::shared_ptr<net::TlsContext>> TlsContextFor(const TlsOptions& options);

 private:
  struct Slot {
    std::unique_ptr<event::Loop> loop;
    pool::ReadBuffer read_buffer;
  };
  explicit FactoryImpl(ChannelFactory::Options options);
  ~FactoryImpl();
  static void Destroy(FactoryImpl* factory);
  absl::Status StartLoops();
  Slot& NextSlot();

  const ChannelFactory::Options options_;
  const std::shared_ptr<net::Env> env_;
  const uint64_t fork_generation_;
  telemetry::Counters counters_;
  base::PendingCount closing_;
  std::shared_ptr<HostTable> hosts_;
  std::shared_ptr<WatchTable> watches_;
  std::atomic<size_t> next_slot_{0};
  std::atomic<bool> shut_down_{false};

  std::mutex mutex_;
  base::Random random_;  // with mutex_
  std::map<std::string, std::weak_ptr<net::TlsContext>> tls_contexts_;
  std::vector<std::weak_ptr<ChannelImpl>> channels_;

  std::vector<std::unique_ptr<Slot>> slots_;  // last: loops end before what they use
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_FACTORY_IMPL_H_
