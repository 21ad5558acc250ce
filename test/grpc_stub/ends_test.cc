// How calls of a stub end other than well.
#include <thread>

#include "grpc_stub/reactors.h"
#include "grpcpp/security/credentials.h"
#include "support/catch.h"
#include "support/sanitizers.h"
#include "weft/request.h"

namespace weft::stub_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using ::grpc::StatusCode;

TEST_CASE("a stub gives the server's status as it was sent, with its details") {
  World world;
  const std::string details("\x08\x05\x00\xff", 4);
  const Note request = Failing(9, "no: 100 % \xc3\xa4 and\nmore", details);
  Note reply = MakeNote("untouched");
  ::grpc::ClientContext context;
  const ::grpc::Status status = world.stub->Unary(&context, request, &reply);
  CHECK(status.error_code() == StatusCode::FAILED_PRECONDITION);
  CHECK(status.error_message() == request.error());
  CHECK(status.error_details() == details);
  CHECK(reply.text() == "untouched");
  CHECK(context.GetServerTrailingMetadata().count("grpc-status-details-bin") == 1);

  ::grpc::ClientContext chat_context;
  auto chat = world.stub->Chat(&chat_context);
  CHECK(chat->Write(request));
  Note note;
  CHECK_FALSE(chat->Read(&note));
  const ::grpc::Status end = chat->Finish();
  CHECK(end.error_code() == StatusCode::FAILED_PRECONDITION);
  CHECK(end.error_message() == request.error());
  CHECK(end.error_details() == details);
}

TEST_CASE("a stub's call whose deadline has passed is not sent") {
  World world;
  ::grpc::ClientContext context;
  context.set_deadline(In(-absl::Seconds(1)));
  Note reply;
  CHECK(world.stub->Unary(&context, MakeNote("late"), &reply).error_code() ==
        StatusCode::DEADLINE_EXCEEDED);
  ::grpc::ClientContext stream_context;
  stream_context.set_deadline(In(-absl::Seconds(1)));
  auto stream = world.stub->Chat(&stream_context);
  CHECK_FALSE(stream->Read(&reply));
  CHECK(stream->Finish().error_code() == StatusCode::DEADLINE_EXCEEDED);
  CHECK(world.server->peers() == 0);
}

TEST_CASE("a stub's deadline ends the call and is told to the server") {
  World world;
  ::grpc::ClientContext context;
  context.set_deadline(In(absl::Milliseconds(150)));
  Note reply;
  const ::grpc::Status status = world.stub->Unary(&context, Hanging(), &reply);
  CHECK(status.error_code() == StatusCode::DEADLINE_EXCEEDED);
  CHECK(world.server->WaitForCancelled(1));
  CHECK(world.server->deadline() < absl::Now() + absl::Seconds(5));

  ::grpc::ClientContext stream_context;
  stream_context.set_deadline(In(absl::Milliseconds(150)));
  auto reader = world.stub->Spread(&stream_context, Hanging());
  CHECK_FALSE(reader->Read(&reply));
  CHECK(reader->Finish().error_code() == StatusCode::DEADLINE_EXCEEDED);
}

TEST_CASE("a stub's calls without a deadline have the channel's, and none by default") {
  World world;
  Note reply;
  {
    ::grpc::ClientContext context;
    REQUIRE(world.stub->Unary(&context, MakeNote("x"), &reply).ok());
    CHECK(world.server->deadline() > absl::Now() + absl::Hours(24));
  }
  grpc::StubOptions options;
  options.timeout = absl::Milliseconds(100);
  auto stub = Post::NewStub(grpc::MakeChannel(world.channel, std::move(options)));
  ::grpc::ClientContext context;
  CHECK(stub->Unary(&context, Hanging(), &reply).error_code() == StatusCode::DEADLINE_EXCEEDED);
}

TEST_CASE("a stub's call that was cancelled before it began is not sent") {
  World world;
  ::grpc::ClientContext context;
  context.TryCancel();
  Note reply;
  CHECK(world.stub->Unary(&context, MakeNote("never"), &reply).error_code() ==
        StatusCode::CANCELLED);
  ::grpc::ClientContext stream_context;
  stream_context.TryCancel();
  auto stream = world.stub->Chat(&stream_context);
  CHECK_FALSE(stream->Write(MakeNote("never")));
  CHECK_FALSE(stream->Read(&reply));
  CHECK(stream->Finish().error_code() == StatusCode::CANCELLED);
  CHECK(world.server->peers() == 0);
}

TEST_CASE("TryCancel ends a stub's blocking calls of every kind") {
  World world;
  const auto cancel_once_there = [&](::grpc::ClientContext& context, int hanging) {
    return std::thread([&world, &context, hanging] {
      world.server->WaitForHanging(hanging);
      context.TryCancel();
      context.TryCancel();
    });
  };
  Note reply;
  {
    ::grpc::ClientContext context;
    std::thread canceller = cancel_once_there(context, 1);
    CHECK(world.stub->Unary(&context, Hanging(), &reply).error_code() == StatusCode::CANCELLED);
    canceller.join();
  }
  {
    ::grpc::ClientContext context;
    std::thread canceller = cancel_once_there(context, 2);
    auto writer = world.stub->Collect(&context, &reply);
    CHECK(writer->Write(Hanging()));
    CHECK(writer->Finish().error_code() == StatusCode::CANCELLED);
    canceller.join();
    CHECK_FALSE(writer->Write(Hanging()));
  }
  {
    ::grpc::ClientContext context;
    std::thread canceller = cancel_once_there(context, 3);
    auto reader = world.stub->Spread(&context, Hanging());
    CHECK_FALSE(reader->Read(&reply));
    CHECK(reader->Finish().error_code() == StatusCode::CANCELLED);
    canceller.join();
  }
  {
    ::grpc::ClientContext context;
    std::thread canceller = cancel_once_there(context, 4);
    auto stream = world.stub->Chat(&context);
    CHECK(stream->Write(Hanging()));
    CHECK_FALSE(stream->Read(&reply));
    CHECK(stream->Finish().error_code() == StatusCode::CANCELLED);
    canceller.join();
  }
  CHECK(world.server->WaitForCancelled(4));
}

TEST_CASE("TryCancel after a stub's call changes nothing") {
  World world;
  ::grpc::ClientContext context;
  Note reply;
  CHECK(world.stub->Unary(&context, MakeNote("done"), &reply).ok());
  context.TryCancel();
  CHECK(reply.text() == "done");
}

TEST_CASE("a stub's stream that is dropped is cancelled") {
  World world;
  {
    ::grpc::ClientContext context;
    auto stream = world.stub->Chat(&context);
    CHECK(stream->Write(Hanging()));
    REQUIRE(world.server->WaitForHanging(1));
  }
  CHECK(world.server->WaitForCancelled(1));
}

TEST_CASE("what was not read does not hold up a stub's Finish after TryCancel") {
  World world;
  ::grpc::ClientContext context;
  Note request = Hanging();
  request.set_count(10);
  auto reader = world.stub->Spread(&context, request);
  Note note;
  CHECK(reader->Read(&note));
  context.TryCancel();
  CHECK(reader->Finish().error_code() == StatusCode::CANCELLED);
}

TEST_CASE("a stub says UNAVAILABLE and why where there is no server") {
  World world;
  world.server->Stop();
  ::grpc::ClientContext context;
  Note reply;
  const ::grpc::Status status = world.stub->Unary(&context, MakeNote("x"), &reply);
  CHECK(status.error_code() == StatusCode::UNAVAILABLE);
  CHECK_THAT(status.error_message(), ContainsSubstring(world.server->address()));
}

TEST_CASE("a stub's call waits for a server where its context says so") {
  World world;
  const std::string address = world.server->address();
  world.server->Stop();
  ::grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(In(absl::Milliseconds(300)));
  Note reply;
  CHECK(world.stub->Unary(&context, MakeNote("x"), &reply).error_code() ==
        StatusCode::DEADLINE_EXCEEDED);
  grpc::StubOptions waiting;
  waiting.wait_for_ready = true;
  auto stub = Post::NewStub(grpc::MakeChannel(world.channel, std::move(waiting)));
  ::grpc::ClientContext other;
  std::thread starter([&] { world.server = std::make_unique<PostServer>(address); });
  other.set_deadline(In(kSoon));
  const ::grpc::Status status = stub->Unary(&other, MakeNote("x"), &reply);
  starter.join();
  INFO(status.error_message());
  CHECK(status.ok());
}

TEST_CASE("a server that goes away ends a stub's calls with UNAVAILABLE or its own status") {
  World world;
  SpreadReactor call(*world.stub, Hanging(), 1);
  REQUIRE(world.server->WaitForHanging(1));
  world.server->Stop();
  const StatusCode code = call.ending.Wait().error_code();
  CHECK((code == StatusCode::UNAVAILABLE || code == StatusCode::CANCELLED));
}

TEST_CASE("a stub outlives the factory, and its calls say CANCELLED") {
  World world;
  Note reply;
  ::grpc::ClientContext first;
  CHECK(world.stub->Unary(&first, MakeNote("x"), &reply).ok());
  world.factory = nullptr;
  ::grpc::ClientContext context;
  const ::grpc::Status status = world.stub->Unary(&context, MakeNote("x"), &reply);
  CHECK(status.error_code() == StatusCode::CANCELLED);
  CHECK_FALSE(status.error_message().empty());
  ::grpc::ClientContext stream_context;
  auto stream = world.stub->Chat(&stream_context);
  CHECK_FALSE(stream->Read(&reply));
  CHECK(stream->Finish().error_code() == StatusCode::CANCELLED);
}

TEST_CASE("a stub's calls in flight end once when the factory goes") {
  World world;
  ::grpc::ClientContext context;
  const Note request = Hanging();
  Note reply;
  Ending unary;
  world.stub->async()->Unary(&context, &request, &reply,
                             [&](::grpc::Status status) { unary.Set(std::move(status)); });
  SpreadReactor spread(*world.stub, Hanging(), 1);
  ::grpc::ClientContext blocked_context;
  ::grpc::Status blocked_status;
  std::thread blocked([&] {
    Note note;
    blocked_status = world.stub->Unary(&blocked_context, Hanging(), &note);
  });
  REQUIRE(world.server->WaitForHanging(3));
  world.factory = nullptr;
  blocked.join();
  CHECK(blocked_status.error_code() == StatusCode::CANCELLED);
  CHECK(unary.Wait().error_code() == StatusCode::CANCELLED);
  CHECK(spread.ending.Wait().error_code() == StatusCode::CANCELLED);
}

TEST_CASE("call credentials on a stub's context are refused with a way out") {
  World world;
  ::grpc::ClientContext context;
  context.set_credentials(::grpc::AccessTokenCredentials("secret"));
  Note reply;
  const ::grpc::Status status = world.stub->Unary(&context, MakeNote("x"), &reply);
  CHECK(status.error_code() == StatusCode::UNAUTHENTICATED);
  CHECK_THAT(status.error_message(), ContainsSubstring("AddMetadata"));
  CHECK(world.server->peers() == 0);
}

TEST_CASE("metadata that cannot be sent ends a stub's call with INVALID_ARGUMENT") {
  World world;
  ::grpc::ClientContext context;
  context.AddMetadata("x-bad", "line\nbreak");
  Note reply;
  CHECK(world.stub->Unary(&context, MakeNote("x"), &reply).error_code() ==
        StatusCode::INVALID_ARGUMENT);
}

TEST_CASE("a blocking call of a stub on a loop thread is refused") {
#if WEFT_ASAN
  WEFT_SKIP("AddressSanitizer moves the objects of the stack that tell a blocking call");
#endif
  World world;
  Ending ending;
  CallHandle handle = world.channel->Start(Request::Get("/"), {}, [&](auto) {
    ::grpc::ClientContext context;
    Note reply;
    ending.Set(world.stub->Unary(&context, MakeNote("x"), &reply));
  });
  CHECK(ending.Wait().error_code() == StatusCode::FAILED_PRECONDITION);
}

}  // namespace
}  // namespace weft::stub_test
