// Channel: calls to one target. A cheap handle: connections belong to the factory and are shared by
// all its channels.
//
// Thread-safe. It may be destroyed with calls in flight: they go on. Calls on a channel whose
// factory is gone fail with CANCELLED.
#ifndef WEFT_CHANNEL_H_
#define WEFT_CHANNEL_H_

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/balancer.h"
#include "weft/balancing_options.h"
#include "weft/call_handle.h"
#include "weft/call_options.h"
#include "weft/health_check_options.h"
#include "weft/hedge_options.h"
#include "weft/host_info.h"
#include "weft/load_probe_options.h"
#include "weft/outlier_options.h"
#include "weft/pending_call.h"
#include "weft/request.h"
#include "weft/response.h"
#include "weft/retry_options.h"
#include "weft/stream.h"
#include "weft/tls_options.h"

namespace weft::inline v0 {

namespace channel {
class ChannelImpl;
}  // namespace channel

struct ChannelOptions {
  // Used by calls that set none.
  absl::Duration timeout = kDefaultTimeout;
  // `:authority` of requests that set none, and the name that certificates are checked for. Empty:
  // the endpoint's address ("localhost" for a Unix socket).
  std::string authority = {};
  // Unset: plain HTTP/2 by prior knowledge (h2c).
  std::optional<TlsOptions> tls = {};
  // Null: what the service config names, or else DefaultBalancer() (weft/balancers.h).
  BalancerFactory balancer = {};
  RetryOptions retry = {};
  HedgeOptions hedge = {};
  OutlierOptions outlier = {};
  SlowStartOptions slow_start = {};
  SubsetOptions subset = {};
  HealthCheckOptions health_check = {};
  LoadProbeOptions load_probes = {};
  // gRPC's service config, as JSON; empty: none. See Channel::SetServiceConfig.
  std::string service_config = {};
  // Instead of it, the path of a file that has it; empty: none. GetChannel reads it, and fails with
  // NOT_FOUND, PERMISSION_DENIED and the like, or INVALID_ARGUMENT where it is not valid. It is
  // read again when it changes; replace it by rename. One that is not valid then, or is gone,
  // leaves the old one in force.
  std::string service_config_file = {};
};

// What a channel could do with a call now; of its hosts, the best counts.
enum class ChannelState : uint8_t {
  kIdle,        // nothing was called yet, so nothing is known
  kConnecting,  // hosts are being resolved or dialled: a call would wait
  kReady,       // a host is connected
  kFailing,     // none can be reached at present: a call would fail, or wait (wait_for_ready)
  kClosed,      // the factory is gone
};

class Channel {
 public:
  class Awaitable;

  explicit Channel(std::shared_ptr<channel::ChannelImpl> impl);  // use ChannelFactory::GetChannel
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Waits for the answer. FAILED_PRECONDITION at once on a loop thread, where waiting would stop
  // the loop.
  absl::StatusOr<Response> Call(Request request, CallOptions options = {});

  // Returns at once; the answer is waited for with PendingCall::Wait. Request::source is not for
  // it: the call ends with INVALID_ARGUMENT.
  [[nodiscard]] PendingCall Begin(Request request, CallOptions options = {});

  // Returns at once. `done` is called exactly once, unless the handle is destroyed or reset before.
  [[nodiscard]] CallHandle Start(Request request, CallOptions options, ResponseCallback done);

  // Writes the response body to `sink` as it comes; the Response's own body stays empty. `sink`
  // must outlive the call.
  [[nodiscard]] CallHandle Start(Request request, CallOptions options, BodySink* sink,
                                 ResponseCallback done);

  // auto response = co_await channel->Async(request); of any coroutine type. Destroying the
  // suspended coroutine cancels.
  [[nodiscard]] Awaitable Async(Request request, CallOptions options = {});

  // A call whose bodies flow both ways. Request::body is sent first, and the request stays open for
  // more unless `end_of_request` is set; Request::source is not for streams. Errors come from the
  // stream's operations.
  Stream Open(Request request, CallOptions options = {}, bool end_of_request = false);

  // Waits until a host is connected, at most that long. Calls do not need it; a service that wants
  // its first call to be fast does.
  absl::Status WaitForReady(absl::Duration timeout);

  // gRPC's service config as it is, JSON (gRFC A2, A6): methodConfig with name, timeout,
  // waitForReady, retryPolicy or hedgingPolicy and the limits of messages, and retryThrottling. It
  // holds for calls that begin from now on, until ChannelOptions::service_config_file, where that
  // is set, changes; and as in gRPC it is a default: while the registry gives one, that holds
  // instead, whole. Calls that wait for the first hosts go by what holds when those are there.
  //
  // Of a call and its config the shorter timeout and the lower limit hold, and the channel's
  // timeout where neither has one; a retryPolicy or hedgingPolicy stands in place of both
  // RetryOptions and HedgeOptions, but for the budget; max_attempts and hedge_delay of the call go
  // before all of them. What has a hedgingPolicy counts as idempotent. The limits hold for calls of
  // one message each way.
  //
  // INVALID_ARGUMENT names what is wrong by its path, and the config that was there stays. What a
  // file or registry gives is refused likewise: DebugString says why, and
  // FactoryStats::service_configs_refused counts. Any thread.
  absl::Status SetServiceConfig(std::string_view json);

  // Any thread, at any time. Connect makes an idle channel resolve its target and connect, as its
  // first call would.
  ChannelState State() const;
  void Connect();
  // Connects as Connect does, and calls `done` once, on a loop thread, never within this call: with
  // true once the state is another than `from` (maybe at once), with false after `timeout`.
  void WhenStateIsNot(ChannelState from, absl::Duration timeout,
                      absl::AnyInvocable<void(bool) &&> done);

  const std::string& target() const;
  // What is known of every host, in the order of the registry. A copy; not for each call.
  std::vector<HostInfo> Hosts() const;
  // The same as text, which service config holds and why another does not, for people.
  std::string DebugString() const;

 private:
  friend class Awaitable;
  // Makes the call, writes its handle, then lets it run: `done` may run before this returns, on
  // another thread.
  void StartInto(CallHandle& handle, Request request, CallOptions options, BodySink* sink,
                 ResponseCallback done);

  std::shared_ptr<channel::ChannelImpl> impl_;
};

class Channel::Awaitable {
 public:
  Awaitable(Channel* channel, Request request, CallOptions options)
      : channel_(channel), request_(std::move(request)), options_(std::move(options)) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    // The coroutine may be resumed, and this object be gone, before StartInto returns: nothing is
    // touched after it.
    channel_->StartInto(call_, std::move(request_), std::move(options_), nullptr,
                        [this, handle](absl::StatusOr<Response> response) {
                          response_.emplace(std::move(response));
                          handle.resume();
                        });
  }
  absl::StatusOr<Response> await_resume() { return std::move(*response_); }

 private:
  Channel* channel_;
  Request request_;
  CallOptions options_;
  CallHandle call_;
  std::optional<absl::StatusOr<Response>> response_;
};

}  // namespace weft::inline v0

#endif  // WEFT_CHANNEL_H_
