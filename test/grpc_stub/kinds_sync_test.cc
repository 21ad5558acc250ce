// The blocking API, for each kind of method.
#include <thread>

#include "grpc_stub/post_server.h"
#include "grpcpp/client_context.h"
#include "support/catch.h"

namespace weft::stub_test {
namespace {

TEST_CASE("a blocking unary call over a stub brings message and metadata both ways") {
  World world;
  ::grpc::ClientContext context;
  const std::string bytes("\x00\xff\x80,=", 5);
  context.AddMetadata("x-echo", "there and back");
  context.AddMetadata("x-echo-bin", bytes);
  context.set_deadline(In(kSoon));
  Note reply;
  const ::grpc::Status status = world.stub->Unary(&context, MakeNote("hello"), &reply);
  INFO(status.error_message());
  REQUIRE(status.ok());
  CHECK(reply.text() == "hello");
  const auto& initial = context.GetServerInitialMetadata();
  REQUIRE(initial.count("x-initial") == 1);
  CHECK(initial.find("x-initial")->second == "there and back");
  const auto& trailing = context.GetServerTrailingMetadata();
  REQUIRE(trailing.count("x-trailing-bin") == 1);
  const auto value = trailing.find("x-trailing-bin")->second;
  CHECK(std::string(value.data(), value.size()) == bytes);
}

TEST_CASE("a client stream over a blocking stub is answered with one message") {
  World world;
  ::grpc::ClientContext context;
  context.AddMetadata("x-echo", "early");
  Note reply;
  auto writer = world.stub->Collect(&context, &reply);
  for (const char* text : {"a", "b", "c"}) CHECK(writer->Write(MakeNote(text)));
  CHECK(writer->WritesDone());
  const ::grpc::Status status = writer->Finish();
  INFO(status.error_message());
  REQUIRE(status.ok());
  CHECK(reply.text() == "abc");
  CHECK(reply.count() == 3);
  CHECK(context.GetServerInitialMetadata().count("x-initial") == 1);
}

TEST_CASE("a server stream over a blocking stub is read to its end") {
  World world;
  ::grpc::ClientContext context;
  context.AddMetadata("x-echo", "early");
  Note request = MakeNote("r");
  request.set_count(100);
  auto reader = world.stub->Spread(&context, request);
  reader->WaitForInitialMetadata();
  CHECK(context.GetServerInitialMetadata().count("x-initial") == 1);
  Note note;
  int count = 0;
  while (reader->Read(&note)) CHECK(note.count() == count++);
  CHECK(count == 100);
  CHECK(reader->Finish().ok());
}

TEST_CASE("a stream both ways over a blocking stub goes back and forth") {
  World world;
  ::grpc::ClientContext context;
  auto stream = world.stub->Chat(&context);
  for (int i = 0; i < 50; ++i) {
    REQUIRE(stream->Write(MakeNote(std::to_string(i))));
    Note note;
    REQUIRE(stream->Read(&note));
    CHECK(note.text() == std::to_string(i));
  }
  CHECK(stream->WritesDone());
  Note note;
  CHECK_FALSE(stream->Read(&note));
  CHECK(stream->Finish().ok());
}

TEST_CASE("a stub's stream is written and read by two threads at once") {
  World world;
  ::grpc::ClientContext context;
  auto stream = world.stub->Chat(&context);
  constexpr int kCount = 500;
  std::thread writer([&] {
    for (int i = 0; i < kCount; ++i) {
      Note note = MakeNote(std::to_string(i));
      note.set_payload(std::string(2000, 'x'));
      if (!stream->Write(note)) break;
    }
    stream->WritesDone();
  });
  int count = 0;
  Note note;
  while (stream->Read(&note)) CHECK(note.text() == std::to_string(count++));
  writer.join();
  CHECK(count == kCount);
  CHECK(stream->Finish().ok());
}

TEST_CASE("the last message of a stub's stream may close it, and metadata may be corked") {
  World world;
  ::grpc::ClientContext context;
  context.set_initial_metadata_corked(true);
  auto stream = world.stub->Chat(&context);
  ::grpc::WriteOptions last;
  last.set_last_message();
  CHECK(stream->Write(MakeNote("only"), last));
  Note note;
  REQUIRE(stream->Read(&note));
  CHECK(note.text() == "only");
  CHECK_FALSE(stream->Read(&note));
  CHECK(stream->Finish().ok());
}

TEST_CASE("messages go compressed where a stub's context says so") {
  for (const auto algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    World world;
    ::grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    Note request = MakeNote("zzz");
    request.set_payload(std::string(100000, 'z'));
    Note reply;
    const ::grpc::Status status = world.stub->Unary(&context, request, &reply);
    INFO(status.error_message());
    REQUIRE(status.ok());
    CHECK(reply.payload() == request.payload());
    CHECK(world.server->metadata().count("grpc-internal-encoding-request") == 0);
  }
}

TEST_CASE(
    "large messages over a stub arrive whole, and too large ones are refused on either side") {
  grpc::StubOptions options;
  options.max_send_message_bytes = 3 << 20;
  World world(std::move(options));
  Note request = MakeNote("large");
  request.set_payload(std::string(2 << 20, 'l'));
  Note reply;
  {
    ::grpc::ClientContext context;
    REQUIRE(world.stub->Unary(&context, request, &reply).ok());
    CHECK(reply.payload() == request.payload());
  }
  request.set_payload(std::string(4 << 20, 'l'));
  {
    ::grpc::ClientContext context;
    const ::grpc::Status status = world.stub->Unary(&context, request, &reply);
    CHECK(status.error_code() == ::grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  {
    auto stub = Post::NewStub(grpc::MakeChannel(world.channel));
    ::grpc::ClientContext context;
    const ::grpc::Status status = stub->Unary(&context, request, &reply);
    INFO(status.error_message());
    CHECK(status.error_code() == ::grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  {
    request.set_count(1);
    auto stub = Post::NewStub(grpc::MakeChannel(world.channel));
    ::grpc::ClientContext context;
    auto reader = stub->Spread(&context, request);
    CHECK_FALSE(reader->Read(&reply));
    CHECK(reader->Finish().error_code() == ::grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
}

}  // namespace
}  // namespace weft::stub_test
