// HostTable: the hosts of a factory, each once, however many channels reach it: this is where "one
// connection per host" comes from.
//
// A host that nobody uses any more keeps its connection for kLinger, as registries that flap take
// endpoints away and bring them back; then it drains and is forgotten.
#ifndef WEFT_LIB_CHANNEL_HOST_TABLE_H_
#define WEFT_LIB_CHANNEL_HOST_TABLE_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/pending_count.h"
#include "base/ref.h"
#include "base/time.h"
#include "event/alarm.h"
#include "event/loop.h"
#include "net/address.h"
#include "pool/host_pool.h"

namespace weft::inline v0::channel {

// Thread-safe. Made with std::make_shared; destroyed after Shutdown.
class HostTable final : public std::enable_shared_from_this<HostTable>, private event::Alarm {
 public:
  static constexpr base::MonoDuration kLinger = std::chrono::seconds(2);
  using Make = absl::AnyInvocable<base::Ref<pool::HostPool>() &&>;

  // While hosts close they keep `factory` alive, and are counted in `closing`, which is a part of
  // it.
  HostTable(event::Loop& loop, std::weak_ptr<void> factory, base::PendingCount& closing)
      : Alarm(loop), loop_(loop), factory_(std::move(factory)), closing_count_(closing) {}

  // The host of that address and identity, made by `make` where it is new. It is in use until the
  // last copy of what is returned is gone.
  std::shared_ptr<cluster::Host> Acquire(const net::Address& address, const std::string& identity,
                                         Make make);

  // Ends everything on every host with `why`, those that come later too.
  void Shutdown(absl::Status why);

 private:
  using Key = std::pair<std::string, std::string>;
  struct Entry {
    base::Ref<pool::HostPool> host;
    size_t users = 0;
    base::MonoTime drain_at{};  // where it has none
  };

  void Release(const Key& key, pool::HostPool* host);
  void OnAlarm() override;
  void Close(base::Ref<pool::HostPool> host, pool::HostPool::How how, absl::Status why);
  void OnClosed(pool::HostPool* host);

  event::Loop& loop_;  // for the alarm
  const std::weak_ptr<void> factory_;
  base::PendingCount& closing_count_;
  std::mutex mutex_;
  absl::btree_map<Key, Entry> hosts_;  // in order, so that a simulation can be run again
  std::vector<base::Ref<pool::HostPool>> closing_;
  // Closed, but somebody still refers to them. They are let go on their own loop only: whoever
  // drops the last reference elsewhere might do so while the loop drives the host's strand.
  std::vector<base::Ref<pool::HostPool>> dead_;
  absl::Status shutdown_;
};

}  // namespace weft::inline v0::channel

#endif  // WEFT_LIB_CHANNEL_HOST_TABLE_H_
