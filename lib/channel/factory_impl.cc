#include "channel/factory_impl.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "channel/channel_impl.h"

namespace weft::inline v0::channel {
namespace {

// One read of a busy connection; one buffer for each loop.
constexpr size_t kReadBufferBytes = size_t{128} << 10;

absl::Status OutOfRange(std::string_view option, std::string_view range) {
  return absl::InvalidArgumentError(
      absl::StrCat("ChannelFactory::Options::", base::V(option), " must be ", base::V(range)));
}

absl::Status Check(const ChannelFactory::Options& options) {
  const ConnectionOptions& c = options.connection;
  constexpr size_t kMaxWindow = (size_t{1} << 31) - 1;
  if (options.loops < 0 || options.loops > 256) return OutOfRange("loops", "0 … 256");
  for (const auto& [value, name] :
       {std::pair(c.connect_timeout, "connect_timeout"),
        std::pair(c.reconnect_base, "reconnect_base"), std::pair(c.reconnect_max, "reconnect_max"),
        std::pair(c.keepalive_timeout, "keepalive_timeout"),
        std::pair(c.drain_timeout, "drain_timeout")}) {
    if (value <= absl::ZeroDuration())
      return OutOfRange(absl::StrCat("connection.", name), "more than zero");
  }
  if (c.reconnect_max < c.reconnect_base)
    return OutOfRange("connection.reconnect_max", "at least reconnect_base");
  if (c.keepalive_interval < absl::Seconds(10))
    return OutOfRange("connection.keepalive_interval", "at least 10 s");
  for (const auto& [value, max, name] :
       {std::tuple(c.stream_window, c.max_stream_window, "stream_window"),
        std::tuple(c.connection_window, c.max_connection_window, "connection_window")}) {
    if (value < 65535 || value > kMaxWindow)
      return OutOfRange(absl::StrCat("connection.", name), "65535 … 2^31-1");
    if (max < value || max > kMaxWindow) {
      return OutOfRange(absl::StrCat("connection.max_", name),
                        absl::StrCat("between ", name, " and 2^31-1"));
    }
  }
  if (c.reset_burst < 0) return OutOfRange("connection.reset_burst", "0 or more");
  if (!(c.resets_per_second >= 0))  // nor is it NaN
    return OutOfRange("connection.resets_per_second", "0 or more");
  if (c.max_pending_per_host == 0)
    return OutOfRange("connection.max_pending_per_host", "at least 1");
  if (c.max_header_list_bytes < 1024)
    return OutOfRange("connection.max_header_list_bytes", "at least 1024");
  return absl::OkStatus();
}

std::string Spelled(const TlsOptions& tls) {
  std::string spelled;
  for (const std::string* part :
       {&tls.ca_file, &tls.ca_pem, &tls.certificate_file, &tls.key_file}) {
    absl::StrAppend(&spelled, part->size(), ":", *part);
  }
  return spelled;
}

}  // namespace

absl::StatusOr<std::shared_ptr<FactoryImpl>> FactoryImpl::Create(ChannelFactory::Options options) {
  if (absl::Status status = Check(options); !status.ok()) return status;
  if (absl::Status status = registry::Validate(options.registry_options); !status.ok())
    return status;
  std::shared_ptr<FactoryImpl> factory(new FactoryImpl(std::move(options)), &Destroy);
  if (absl::Status status = factory->StartLoops(); !status.ok()) return status;
  factory->hosts_ = std::make_shared<HostTable>(factory->NextLoop(), factory, factory->closing_);
  factory->watches_ = std::make_shared<WatchTable>(factory, factory->closing_, factory->counters_);
  return factory;
}

FactoryImpl::FactoryImpl(ChannelFactory::Options options)
    : options_(std::move(options)),
      env_(options_.env != nullptr ? options_.env : net::SystemEnv()),
      fork_generation_(base::ForkGeneration()),
      random_(env_->NewSeed()) {}

FactoryImpl::~FactoryImpl() = default;

namespace {

class LastWish final : public event::Deferred {
 public:
  explicit LastWish(absl::AnyInvocable<void() &&> wish) : wish_(std::move(wish)) {}
  ~LastWish() override { std::move(wish_)(); }

 private:
  absl::AnyInvocable<void() &&> wish_;
};

}  // namespace

void FactoryImpl::Destroy(FactoryImpl* factory) {
  // In a forked child the loops' threads do not exist and their descriptors are the parent's:
  // nothing of it may be touched.
  if (factory->Forked()) return;
  if (event::Loop* const loop = event::CurrentLoop::Get()) {
    loop->DeleteLater(std::make_unique<LastWish>([factory] { delete factory; }));
  } else {
    delete factory;
  }
}

absl::Status FactoryImpl::StartLoops() {
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int loops = options_.loops > 0 ? options_.loops : std::min(4, processors);
  for (int i = 0; i < loops; ++i) {
    auto slot = std::make_unique<Slot>();
    absl::StatusOr<std::unique_ptr<event::Loop>> loop = env_->NewLoop(i, &counters_.slow_turns);
    if (!loop.ok()) return loop.status();
    slot->loop = *std::move(loop);
    slot->read_buffer.resize(kReadBufferBytes);
    slots_.push_back(std::move(slot));
  }
  return absl::OkStatus();
}

FactoryImpl::Slot& FactoryImpl::NextSlot() {
  return *slots_[next_slot_.fetch_add(1, std::memory_order_relaxed) % slots_.size()];
}

uint64_t FactoryImpl::NewSeed() {
  std::lock_guard<std::mutex> lock(mutex_);
  return random_.Next();
}

event::Loop& FactoryImpl::NextLoop() { return *NextSlot().loop; }

absl::Status FactoryImpl::Refusal() const {
  if (Forked()) {
    return absl::FailedPreconditionError(
        "this is a forked child of the process that made the ChannelFactory; make a new one here");
  }
  if (shut_down_.load(std::memory_order_acquire))
    return absl::CancelledError("the ChannelFactory was destroyed");
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<ChannelImpl>> FactoryImpl::Open(std::string_view target,
                                                               ChannelOptions options) {
  if (absl::Status status = Refusal(); !status.ok()) return status;
  absl::StatusOr<std::shared_ptr<ChannelImpl>> channel =
      ChannelImpl::Create(shared_from_this(), target, std::move(options));
  if (!channel.ok()) return channel;
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(channels_, [](const auto& weak) { return weak.expired(); });
  channels_.push_back(*channel);
  return channel;
}

absl::StatusOr<std::shared_ptr<net::TlsContext>> FactoryImpl::TlsContextFor(
    const TlsOptions& options) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<net::TlsContext>& known = tls_contexts_[Spelled(options)];
  if (std::shared_ptr<net::TlsContext> context = known.lock()) return context;
  absl::StatusOr<std::shared_ptr<net::TlsContext>> made = net::TlsContext::Create(options);
  if (made.ok()) known = *made;
  return made;
}

std::shared_ptr<cluster::Host> FactoryImpl::AcquireHost(
    const net::Address& address, const std::optional<TlsOptions>& tls,
    const std::shared_ptr<net::TlsContext>& context, const std::string& authority) {
  std::string server_name;
  std::string identity;
  if (tls.has_value()) {
    server_name = !tls->server_name.empty() ? tls->server_name : authority;
    if (server_name.empty()) server_name = address.host();
    identity = absl::StrCat(server_name.size(), ":", server_name, Spelled(*tls));
  }
  return hosts_->Acquire(address, identity, [&] {
    Slot& slot = NextSlot();
    pool::HostSetup setup;
    setup.loop = slot.loop.get();
    setup.read_buffer = &slot.read_buffer;
    setup.counters = &counters_;
    setup.options = &options_.connection;
    setup.connector.network = &env_->network();
    setup.connector.connect.user_timeout = absl::ToChronoNanoseconds(
        options_.connection.keepalive_interval + options_.connection.keepalive_timeout);
    if (context != nullptr) {
      setup.connector.tls = context;
      setup.connector.server_name = server_name;
      setup.connector.sessions = std::make_shared<net::TlsSessionCache>();
    }
    setup.seed = NewSeed();
    return base::MakeRef<pool::HostPool>(address, std::move(setup));
  });
}

void FactoryImpl::Shutdown() {
  if (Forked()) return;
  shut_down_.store(true, std::memory_order_release);
  const absl::Status why = Refusal();
  std::vector<std::weak_ptr<ChannelImpl>> channels;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    channels.swap(channels_);
  }
  for (const auto& weak : channels) {
    if (const std::shared_ptr<ChannelImpl> channel = weak.lock()) channel->Close(why);
  }
  watches_->Shutdown();
  hosts_->Shutdown(why);
  if (!env_->has_threads() || event::OnAnyLoop()) return;
  closing_.WaitForNone();
  // What the ends of calls posted, which may refer to this factory, goes before these: so its owner
  // is the last to let go, and joins the loops.
  for (const auto& slot : slots_) {
    closing_.Begin();
    slot->loop->PostFunction([this] { closing_.End(); });
  }
  closing_.WaitForNone();
  for (const auto& slot : slots_) slot->loop->AwaitRelieved();
}

}  // namespace weft::inline v0::channel
