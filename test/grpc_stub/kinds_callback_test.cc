// The callback API, for each kind of method.
#include "grpc_stub/reactors.h"
#include "support/catch.h"

namespace weft::stub_test {
namespace {

TEST_CASE("a stub's unary call with a callback brings the answer") {
  World world;
  ::grpc::ClientContext context;
  const Note request = MakeNote("c");
  Note reply;
  Ending ending;
  world.stub->async()->Unary(&context, &request, &reply,
                             [&](::grpc::Status status) { ending.Set(std::move(status)); });
  CHECK(ending.Wait().ok());
  CHECK(reply.text() == "c");
}

TEST_CASE("a stub's unary reactor hears of the initial metadata first") {
  World world;
  UnaryReactor call(*world.stub, MakeNote("r"));
  CHECK(call.ending.Wait().ok());
  CHECK(call.metadata_came);
  CHECK(call.reply.text() == "r");
}

TEST_CASE("reactors of a stub's streams see every message") {
  World world;
  ChatReactor chat(*world.stub, 20);
  Note request = MakeNote("s");
  request.set_count(20);
  SpreadReactor spread(*world.stub, request, 100);
  CollectReactor collect(*world.stub, 20);
  CHECK(chat.ending.Wait().ok());
  CHECK(chat.metadata_came);
  REQUIRE(chat.texts.size() == 20);
  for (int i = 0; i < 20; ++i) CHECK(chat.texts[static_cast<size_t>(i)] == std::to_string(i));
  CHECK(spread.ending.Wait().ok());
  REQUIRE(spread.counts.size() == 20);
  for (int i = 0; i < 20; ++i) CHECK(spread.counts[static_cast<size_t>(i)] == i);
  CHECK(collect.ending.Wait().ok());
  CHECK(collect.reply.count() == 20);
}

TEST_CASE("a reactor that reads nothing hears the end of a stub's stream that has nothing") {
  World world;
  SpreadReactor empty(*world.stub, MakeNote("nothing"), 0);
  CHECK(empty.ending.Wait().ok());
  SpreadReactor failing(*world.stub, Failing(5, "not there"), 0);
  CHECK(failing.ending.Wait().error_code() == ::grpc::StatusCode::NOT_FOUND);
}

TEST_CASE("a reactor that stopped reading hears of a cancellation") {
  World world;
  Note request = Hanging();
  request.set_count(3);
  SpreadReactor call(*world.stub, request, 1);
  REQUIRE(world.server->WaitForHanging(1));
  call.context.TryCancel();
  CHECK(call.ending.Wait().error_code() == ::grpc::StatusCode::CANCELLED);
  CHECK(world.server->WaitForCancelled(1));
}

TEST_CASE("a reactor that waits for a message hears of a deadline") {
  World world;
  SpreadReactor call(*world.stub, Hanging(), 1, absl::Milliseconds(100));
  CHECK(call.ending.Wait().error_code() == ::grpc::StatusCode::DEADLINE_EXCEEDED);
  CHECK(call.counts.empty());
}

TEST_CASE("a reactor that stopped reading hears of a deadline") {
  World world;
  Note request = Hanging();
  request.set_count(3);
  SpreadReactor call(*world.stub, request, 1, absl::Milliseconds(200));
  CHECK(call.ending.Wait().error_code() == ::grpc::StatusCode::DEADLINE_EXCEEDED);
}

// A reactor whose metadata goes with its first message, which comes after its other operations.
class CorkedReactor final : public ::grpc::ClientBidiReactor<Note, Note> {
 public:
  explicit CorkedReactor(Post::Stub& stub) {
    context.set_initial_metadata_corked(true);
    stub.async()->Chat(&context, this);
    AddHold();
    StartRead(&in);
    StartCall();
    out_ = MakeNote("late");
    StartWriteLast(&out_, ::grpc::WriteOptions());
    RemoveHold();
  }
  void OnDone(const ::grpc::Status& status) override { ending.Set(status); }
  ::grpc::ClientContext context;
  Note in;
  Ending ending;

 private:
  Note out_;
};

TEST_CASE("a stub's corked reactor may read before it writes") {
  World world;
  CorkedReactor call(*world.stub);
  CHECK(call.ending.Wait().ok());
  CHECK(call.in.text() == "late");
}

TEST_CASE("the last stub may be dropped within a callback") {
  // Everything of gRPC goes with it, as far as this test can tell: no server of it is left either.
  std::string address;
  PostServer server;
  auto factory = ChannelFactory::Create().value();
  auto channel = factory->GetChannel(server.address()).value();
  auto stub_channel = grpc::MakeChannel(channel);
  std::unique_ptr<Post::Stub> stub = Post::NewStub(stub_channel);
  auto context = std::make_unique<::grpc::ClientContext>();
  const Note request = MakeNote("last");
  Note reply;
  Ending ending;
  Post::Stub* const raw = stub.get();
  raw->async()->Unary(context.get(), &request, &reply, [&](::grpc::Status status) {
    context = nullptr;
    stub = nullptr;
    stub_channel = nullptr;
    channel = nullptr;
    factory = nullptr;
    ending.Set(std::move(status));
  });
  CHECK(ending.Wait().ok());
  CHECK(reply.text() == "last");
}

TEST_CASE("a grpc Channel with calls over Weft may be dropped within a callback") {
  World world;
  auto carrier = grpc::MakeGrpcChannel(world.channel);
  auto stub = Post::NewStub(carrier);
  auto context = std::make_unique<::grpc::ClientContext>();
  const Note request = MakeNote("last");
  Note reply;
  Ending ending;
  stub->async()->Unary(context.get(), &request, &reply, [&](::grpc::Status status) {
    context = nullptr;
    stub = nullptr;
    carrier = nullptr;
    ending.Set(std::move(status));
  });
  CHECK(ending.Wait().ok());
}

}  // namespace
}  // namespace weft::stub_test
