// What the clients over generated stubs share.
#ifndef WEFT_TEST_GRPC_INTEROP_STUBS_STUB_SUPPORT_H_
#define WEFT_TEST_GRPC_INTEROP_STUBS_STUB_SUPPORT_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "grpc_interop/client.h"
#include "grpc_interop/interop.grpc.pb.h"

namespace weft::inline v0::testing {

using ::grpc::testing::TestService;
using ::grpc::testing::UnimplementedService;
using EmptyMessage = ::grpc::testing::Empty;

// Both services over one channel.
struct InteropStubs {
  explicit InteropStubs(const std::shared_ptr<::grpc::ChannelInterface>& channel)
      : test(TestService::NewStub(channel)),
        unimplemented(UnimplementedService::NewStub(channel)) {}

  std::unique_ptr<TestService::Stub> test;
  std::unique_ptr<UnimplementedService::Stub> unimplemented;
};

void Apply(const InteropCallOptions& options, ::grpc::ClientContext& context);

// Of a call that has ended and whose initial metadata was asked for.
InteropOutcome OutcomeOf(const ::grpc::Status& status, const ::grpc::ClientContext& context);

::grpc::WriteOptions WriteOptionsFor(bool compress);

// Something that happens once, with the `ok` of gRPC's events. By std::mutex, which sanitizers see.
class Event {
 public:
  void Set(bool ok) {
    std::lock_guard<std::mutex> lock(mutex_);
    happened_ = true;
    ok_ = ok;
    changed_.notify_all();
  }
  // Waits for it, and is ready for the next time.
  bool Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return happened_; });
    happened_ = false;
    return ok_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool happened_ = false;
  bool ok_ = false;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_STUBS_STUB_SUPPORT_H_
