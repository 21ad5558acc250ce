// Many threads over one connection. WEFT_STUB_CALLS: calls of each thread, 20 unless set.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "grpc_stub/reactors.h"
#include "grpcpp/completion_queue.h"
#include "support/catch.h"

namespace weft::stub_test {
namespace {

constexpr int kThreads = 64;

int CallsOfEach() {
  const char* const set = std::getenv("WEFT_STUB_CALLS");
  return set != nullptr ? std::atoi(set) : 20;
}

template <class Function>
void OnThreads(Function function) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(function, i);
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("64 threads with blocking stubs get their own answers over one connection") {
  World world;
  const int calls = CallsOfEach();
  std::atomic<int> right = 0;
  OnThreads([&](int thread) {
    for (int i = 0; i < calls; ++i) {
      const std::string id = std::to_string(thread) + "/" + std::to_string(i);
      ::grpc::ClientContext context;
      context.set_deadline(In(kSoon));
      Note reply;
      if (world.stub->Unary(&context, MakeNote(id), &reply).ok() && reply.text() == id) ++right;
    }
  });
  CHECK(right == kThreads * calls);
  CHECK(world.server->peers() == 1);
}

TEST_CASE("64 threads with a stub's queues and streams get their own answers") {
  World world;
  const int calls = CallsOfEach();
  std::atomic<int> right = 0;
  OnThreads([&](int thread) {
    ::grpc::CompletionQueue queue;
    for (int i = 0; i < calls; ++i) {
      const std::string id = std::to_string(thread) + "/" + std::to_string(i);
      Note reply;
      if (thread % 2 == 0) {
        ::grpc::ClientContext context;
        ::grpc::Status status;
        auto call = world.stub->AsyncUnary(&context, MakeNote(id), &queue);
        call->Finish(&reply, &status, &reply);
        void* tag = nullptr;
        bool ok = false;
        if (queue.Next(&tag, &ok) && ok && status.ok() && reply.text() == id) ++right;
      } else {
        ::grpc::ClientContext context;
        auto stream = world.stub->Chat(&context);
        const bool answered = stream->Write(MakeNote(id)) && stream->Read(&reply);
        stream->WritesDone();
        if (answered && stream->Finish().ok() && reply.text() == id) ++right;
      }
    }
  });
  CHECK(right == kThreads * calls);
  CHECK(world.server->peers() == 1);
}

TEST_CASE("calls of a stub that are cancelled at any moment end once") {
  World world;
  const int calls = CallsOfEach();
  std::atomic<int> ended = 0;
  OnThreads([&](int thread) {
    for (int i = 0; i < calls; ++i) {
      if (thread % 2 == 0) {
        ::grpc::ClientContext context;
        std::thread canceller([&] { context.TryCancel(); });
        Note reply;
        const ::grpc::Status status = world.stub->Unary(&context, MakeNote("x"), &reply);
        canceller.join();
        if (status.ok() || status.error_code() == ::grpc::StatusCode::CANCELLED) ++ended;
      } else {
        ChatReactor chat(*world.stub, 3);
        chat.context.TryCancel();
        const ::grpc::Status status = chat.ending.Wait();
        if (status.ok() || status.error_code() == ::grpc::StatusCode::CANCELLED) ++ended;
      }
    }
  });
  CHECK(ended == kThreads * calls);
}

}  // namespace
}  // namespace weft::stub_test
