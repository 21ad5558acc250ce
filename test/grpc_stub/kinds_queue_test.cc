// The API of completion queues, for each kind of method, and the generic stub.
#include "grpc_stub/post_server.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "support/catch.h"

namespace weft::stub_test {
namespace {

void* Tag(intptr_t number) { return reinterpret_cast<void*>(number); }

// The next tag, and whether it was ok.
struct Next {
  explicit Next(::grpc::CompletionQueue& queue) {
    void* tag = nullptr;
    const auto got = queue.AsyncNext(&tag, &ok, In(kSoon));
    REQUIRE(got == ::grpc::CompletionQueue::GOT_EVENT);
    number = reinterpret_cast<intptr_t>(tag);
  }
  intptr_t number = 0;
  bool ok = false;
};

// Waits for one tag.
bool Pull(::grpc::CompletionQueue& queue, intptr_t number) {
  const Next next(queue);
  CHECK(next.number == number);
  return next.ok;
}

TEST_CASE("unary calls of a stub end through a completion queue") {
  World world;
  ::grpc::CompletionQueue queue;
  constexpr int kCalls = 32;
  ::grpc::ClientContext contexts[kCalls];
  Note replies[kCalls];
  ::grpc::Status statuses[kCalls];
  std::unique_ptr<::grpc::ClientAsyncResponseReader<Note>> calls[kCalls];
  for (int i = 0; i < kCalls; ++i) {
    calls[i] = world.stub->AsyncUnary(&contexts[i], MakeNote(std::to_string(i)), &queue);
    calls[i]->Finish(&replies[i], &statuses[i], Tag(i + 1));
  }
  for (int i = 0; i < kCalls; ++i) {
    const Next next(queue);
    CHECK(next.ok);
    const auto at = static_cast<size_t>(next.number - 1);
    CHECK(statuses[at].ok());
    CHECK(replies[at].text() == std::to_string(at));
  }
}

TEST_CASE("initial metadata of a stub's unary call comes before its answer where it is asked for") {
  World world;
  ::grpc::CompletionQueue queue;
  ::grpc::ClientContext context;
  context.AddMetadata("x-echo", "early");
  auto call = world.stub->AsyncUnary(&context, MakeNote("m"), &queue);
  call->ReadInitialMetadata(Tag(1));
  CHECK(Pull(queue, 1));
  CHECK(context.GetServerInitialMetadata().count("x-initial") == 1);
  Note reply;
  ::grpc::Status status;
  call->Finish(&reply, &status, Tag(2));
  CHECK(Pull(queue, 2));
  CHECK(status.ok());
  CHECK(reply.text() == "m");
}

TEST_CASE("streams of a stub go through a completion queue") {
  World world;
  ::grpc::CompletionQueue queue;
  ::grpc::Status status;
  Note reply;
  SECTION("client stream") {
    ::grpc::ClientContext context;
    auto writer = world.stub->AsyncCollect(&context, &reply, &queue, Tag(1));
    CHECK(Pull(queue, 1));
    for (int i = 0; i < 10; ++i) {
      writer->Write(MakeNote("x"), Tag(2));
      CHECK(Pull(queue, 2));
    }
    writer->WritesDone(Tag(3));
    CHECK(Pull(queue, 3));
    writer->Finish(&status, Tag(4));
    CHECK(Pull(queue, 4));
    CHECK(status.ok());
    CHECK(reply.count() == 10);
  }
  SECTION("server stream") {
    ::grpc::ClientContext context;
    Note request = MakeNote("r");
    request.set_count(10);
    auto reader = world.stub->AsyncSpread(&context, request, &queue, Tag(1));
    CHECK(Pull(queue, 1));
    int count = 0;
    for (;;) {
      reader->Read(&reply, Tag(2));
      if (!Pull(queue, 2)) break;
      CHECK(reply.count() == count++);
    }
    CHECK(count == 10);
    reader->Finish(&status, Tag(3));
    CHECK(Pull(queue, 3));
    CHECK(status.ok());
  }
  SECTION("both ways") {
    ::grpc::ClientContext context;
    auto stream = world.stub->PrepareAsyncChat(&context, &queue);
    stream->StartCall(Tag(1));
    CHECK(Pull(queue, 1));
    for (int i = 0; i < 10; ++i) {
      stream->Write(MakeNote(std::to_string(i)), Tag(2));
      CHECK(Pull(queue, 2));
      stream->Read(&reply, Tag(3));
      CHECK(Pull(queue, 3));
      CHECK(reply.text() == std::to_string(i));
    }
    stream->WritesDone(Tag(4));
    CHECK(Pull(queue, 4));
    stream->Read(&reply, Tag(5));
    CHECK_FALSE(Pull(queue, 5));
    stream->Finish(&status, Tag(6));
    CHECK(Pull(queue, 6));
    CHECK(status.ok());
  }
}

TEST_CASE("a stub's reads may follow a Finish that waits, and lose nothing") {
  World world;
  ::grpc::CompletionQueue queue;
  ::grpc::ClientContext context;
  Note request = MakeNote("r");
  request.set_count(5);
  auto reader = world.stub->AsyncSpread(&context, request, &queue, Tag(1));
  CHECK(Pull(queue, 1));
  ::grpc::Status status;
  reader->Finish(&status, Tag(9));
  Note note;
  bool finished = false;
  int count = 0;
  for (bool more = true; more;) {
    reader->Read(&note, Tag(2));
    Next next(queue);
    if (next.number == 9) {
      finished = true;
      next = Next(queue);
    }
    more = next.ok;
    if (more) CHECK(note.count() == count++);
  }
  CHECK(count == 5);
  if (!finished) CHECK(Pull(queue, 9));
  CHECK(status.ok());
}

::grpc::ByteBuffer BufferOf(const Note& note) {
  const ::grpc::Slice slice(note.SerializeAsString());
  return ::grpc::ByteBuffer(&slice, 1);
}

Note NoteOf(::grpc::ByteBuffer buffer) {
  ::grpc::Slice slice;
  Note note;
  REQUIRE(buffer.DumpToSingleSlice(&slice).ok());
  REQUIRE(note.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
  return note;
}

TEST_CASE("a generic stub makes unary calls over a raw channel") {
  World world;
  ::grpc::GenericStub stub(grpc::MakeRawChannel(world.channel));
  ::grpc::CompletionQueue queue;
  ::grpc::ClientContext context;
  std::unique_ptr<::grpc::GenericClientAsyncResponseReader> call;
  {
    // The name has not to outlive the call that takes it.
    auto method = std::make_unique<std::string>("/weft.stub_test.Post/Unary");
    call = stub.PrepareUnaryCall(&context, *method, BufferOf(MakeNote("raw")), &queue);
  }
  call->StartCall();
  ::grpc::ByteBuffer reply;
  ::grpc::Status status;
  call->Finish(&reply, &status, Tag(1));
  CHECK(Pull(queue, 1));
  INFO(status.error_message());
  REQUIRE(status.ok());
  CHECK(NoteOf(reply).text() == "raw");
}

TEST_CASE("a generic stub has streams over a raw channel") {
  World world;
  ::grpc::GenericStub stub(grpc::MakeRawChannel(world.channel));
  ::grpc::CompletionQueue queue;
  ::grpc::ClientContext context;
  auto stream = stub.PrepareCall(&context, "/weft.stub_test.Post/Chat", &queue);
  stream->StartCall(Tag(1));
  CHECK(Pull(queue, 1));
  for (int i = 0; i < 10; ++i) {
    stream->Write(BufferOf(MakeNote(std::to_string(i))), Tag(2));
    CHECK(Pull(queue, 2));
    ::grpc::ByteBuffer reply;
    stream->Read(&reply, Tag(3));
    CHECK(Pull(queue, 3));
    CHECK(NoteOf(reply).text() == std::to_string(i));
  }
  // Several slices are one message.
  const std::string bytes = MakeNote("in pieces").SerializeAsString();
  const ::grpc::Slice slices[] = {::grpc::Slice(bytes.substr(0, 3)),
                                  ::grpc::Slice(bytes.substr(3))};
  stream->WriteLast(::grpc::ByteBuffer(slices, 2), {}, Tag(4));
  CHECK(Pull(queue, 4));
  ::grpc::ByteBuffer reply;
  stream->Read(&reply, Tag(5));
  CHECK(Pull(queue, 5));
  CHECK(NoteOf(reply).text() == "in pieces");
  ::grpc::Status status;
  stream->Finish(&status, Tag(6));
  CHECK(Pull(queue, 6));
  CHECK(status.ok());
}

}  // namespace
}  // namespace weft::stub_test
