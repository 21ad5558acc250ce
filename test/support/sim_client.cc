#include "support/sim_client.h"

#include <algorithm>
#include <utility>

namespace weft::inline v0::testing {

SimClient::SimClient(std::shared_ptr<SimEnv> env, std::string_view target,
                     ChannelFactory::Options options)
    : env_(std::move(env)) {
  options.env = env_;
  if (options.loops == 0) options.loops = 2;
  factory_ = ChannelFactory::Create(std::move(options)).value();
  channel_ = factory_->GetChannel(target).value();
}

SimClient::~SimClient() { Close(); }

SimCall& SimClient::Start(Request request, CallOptions options) {
  SimCall& call = calls_.emplace_back();
  call.id_ = std::to_string(calls_.size());
  call.started_ = env_->Now();
  request.headers.Set("x-id", call.id_);
  call.handle = channel_->Start(std::move(request), std::move(options),
                                [this, &call](absl::StatusOr<Response> result) {
                                  ++call.ends_;
                                  call.ended_ = env_->Now();
                                  call.result_.emplace(std::move(result));
                                });
  return call;
}

void SimClient::Drop(SimCall& call) {
  call.silenced_ = !call.done();
  call.handle.Reset();
}

bool SimClient::RunUntilDone(const SimCall& call, base::MonoDuration limit) {
  return env_->RunUntil([&] { return call.done(); }, limit);
}

bool SimClient::RunUntilAllDone(base::MonoDuration limit) {
  return env_->RunUntil([&] { return open_calls() == 0; }, limit);
}

bool SimClient::RunUntilReady(base::MonoDuration limit) {
  // Asking needs a call or a wait; a wait would block this thread.
  SimCall probe;
  probe.handle = channel_->Start(
      Request::Get("/ready"), {.timeout = absl::InfiniteDuration(), .wait_for_ready = true},
      [&probe](absl::StatusOr<Response> result) { probe.result_.emplace(std::move(result)); });
  return env_->RunUntil([&] { return probe.done(); }, limit);
}

size_t SimClient::open_calls() const {
  return static_cast<size_t>(std::count_if(calls_.begin(), calls_.end(), [](const SimCall& call) {
    return !call.done() && !call.silenced_;
  }));
}

bool SimClient::Close() {
  if (factory_ == nullptr) return true;
  factory_.reset();
  channel_.reset();
  const bool idle = env_->RunUntilIdle();
  return idle && std::all_of(calls_.begin(), calls_.end(), [](const SimCall& call) {
           return call.ends() == (call.silenced_ ? 0 : 1);
         });
}

}  // namespace weft::inline v0::testing
