// The state of a channel, as gRPC's functions tell it.
#include <thread>

#include "grpc_stub/post_server.h"
#include "grpcpp/completion_queue.h"
#include "support/catch.h"

namespace weft::stub_test {
namespace {

TEST_CASE("a stub's channel is idle until it is asked to connect, and then ready") {
  World world;
  CHECK(world.stub_channel->GetState(false) == GRPC_CHANNEL_IDLE);
  CHECK(world.stub_channel->GetState(false) == GRPC_CHANNEL_IDLE);
  CHECK(world.stub_channel->GetState(true) == GRPC_CHANNEL_IDLE);
  CHECK(world.stub_channel->WaitForConnected(In(kSoon)));
  CHECK(world.stub_channel->GetState(false) == GRPC_CHANNEL_READY);
}

TEST_CASE("waiting for a stub's channel to connect ends with its deadline") {
  World world;
  world.server->Stop();
  CHECK_FALSE(world.stub_channel->WaitForConnected(In(absl::Milliseconds(200))));
  CHECK_FALSE(world.stub_channel->WaitForConnected(In(-absl::Seconds(1))));
}

TEST_CASE("a change of a stub's channel is announced through a completion queue") {
  World world;
  REQUIRE(world.stub_channel->WaitForConnected(In(kSoon)));
  ::grpc::CompletionQueue queue;
  int changed = 0;
  int late = 0;
  world.stub_channel->NotifyOnStateChange(GRPC_CHANNEL_READY, In(kSoon), &queue, &changed);
  world.stub_channel->NotifyOnStateChange(GRPC_CHANNEL_READY, In(-absl::Seconds(1)), &queue, &late);
  void* tag = nullptr;
  bool ok = true;
  REQUIRE(queue.Next(&tag, &ok));
  CHECK(tag == &late);
  CHECK_FALSE(ok);
  world.server->Stop();
  REQUIRE(queue.Next(&tag, &ok));
  CHECK(tag == &changed);
  CHECK(ok);
  CHECK(world.stub_channel->GetState(false) != GRPC_CHANNEL_READY);
}

TEST_CASE("a queue's shutdown waits for the announcement of a stub's channel") {
  World world;
  ::grpc::CompletionQueue queue;
  int here = 0;
  REQUIRE(world.stub_channel->WaitForConnected(In(kSoon)));
  world.stub_channel->NotifyOnStateChange(GRPC_CHANNEL_READY, In(absl::Milliseconds(100)), &queue,
                                          &here);
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = true;
  REQUIRE(queue.Next(&tag, &ok));
  CHECK(tag == &here);
  CHECK_FALSE(ok);
  CHECK_FALSE(queue.Next(&tag, &ok));
}

TEST_CASE("a stub's channel whose factory is gone is shut down") {
  World world;
  REQUIRE(world.stub_channel->WaitForConnected(In(kSoon)));
  std::thread closer([&] { world.factory = nullptr; });
  CHECK(world.stub_channel->WaitForStateChange(GRPC_CHANNEL_READY, In(kSoon)));
  closer.join();
  CHECK(world.stub_channel->GetState(true) == GRPC_CHANNEL_SHUTDOWN);
  CHECK_FALSE(world.stub_channel->WaitForConnected(In(absl::Milliseconds(10))));
}

}  // namespace
}  // namespace weft::stub_test
