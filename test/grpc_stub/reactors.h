// Reactors of the callback API that keep what happened.
#ifndef WEFT_TEST_GRPC_STUB_REACTORS_H_
#define WEFT_TEST_GRPC_STUB_REACTORS_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grpc_stub/post_server.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/client_callback.h"
#include "support/catch.h"

namespace weft::stub_test {

// The end of a call, and somebody who waits for it.
class Ending {
 public:
  void Set(::grpc::Status status) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++times_;
    status_ = std::move(status);
    came_.notify_all();
  }
  ::grpc::Status Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    REQUIRE(came_.wait_for(lock, absl::ToChronoSeconds(kSoon), [&] { return times_ > 0; }));
    CHECK(times_ == 1);
    return *status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  int times_ = 0;
  std::optional<::grpc::Status> status_;
};

// Writes notes "0" … one after the other, and reads as they come.
class ChatReactor final : public ::grpc::ClientBidiReactor<Note, Note> {
 public:
  ChatReactor(Post::Stub& stub, int count) : left_(count) {
    stub.async()->Chat(&context, this);
    Write();
    StartRead(&in_);
    StartCall();
  }
  void OnReadInitialMetadataDone(bool ok) override { metadata_came = ok; }
  void OnWriteDone(bool ok) override {
    if (ok) Write();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    texts.push_back(in_.text());
    StartRead(&in_);
  }
  void OnDone(const ::grpc::Status& status) override { ending.Set(status); }

  ::grpc::ClientContext context;
  std::vector<std::string> texts;
  bool metadata_came = false;
  Ending ending;

 private:
  void Write() {
    if (left_ == 0) return StartWritesDone();
    out_ = MakeNote(std::to_string(next_++));
    --left_;
    StartWrite(&out_);
  }
  int left_;
  int next_ = 0;
  Note out_;
  Note in_;
};

// Reads up to `reads` notes and then no more.
class SpreadReactor final : public ::grpc::ClientReadReactor<Note> {
 public:
  SpreadReactor(Post::Stub& stub, Note request, int reads,
                std::optional<absl::Duration> timeout = {})
      : request_(std::move(request)), reads_(reads) {
    if (timeout.has_value()) context.set_deadline(In(*timeout));
    stub.async()->Spread(&context, &request_, this);
    if (reads_ > 0) StartRead(&in_);
    StartCall();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    counts.push_back(in_.count());
    if (--reads_ > 0) StartRead(&in_);
  }
  void OnDone(const ::grpc::Status& status) override { ending.Set(status); }

  ::grpc::ClientContext context;
  std::vector<int> counts;
  Ending ending;

 private:
  Note request_;
  int reads_;
  Note in_;
};

class CollectReactor final : public ::grpc::ClientWriteReactor<Note> {
 public:
  CollectReactor(Post::Stub& stub, int count) : left_(count) {
    stub.async()->Collect(&context, &reply, this);
    Write();
    StartCall();
  }
  void OnWriteDone(bool ok) override {
    if (ok && left_ >= 0) Write();
  }
  void OnDone(const ::grpc::Status& status) override { ending.Set(status); }

  ::grpc::ClientContext context;
  Note reply;
  Ending ending;

 private:
  void Write() {
    out_ = MakeNote("x");
    if (--left_ > 0) return StartWrite(&out_);
    left_ = -1;
    StartWriteLast(&out_, ::grpc::WriteOptions());
  }
  int left_;
  Note out_;
};

class UnaryReactor final : public ::grpc::ClientUnaryReactor {
 public:
  UnaryReactor(Post::Stub& stub, Note request) : request_(std::move(request)) {
    context.AddMetadata("x-echo", "early");
    stub.async()->Unary(&context, &request_, &reply, this);
    StartCall();
  }
  void OnReadInitialMetadataDone(bool ok) override {
    metadata_came = ok && context.GetServerInitialMetadata().count("x-initial") == 1;
  }
  void OnDone(const ::grpc::Status& status) override { ending.Set(status); }

  ::grpc::ClientContext context;
  Note reply;
  bool metadata_came = false;
  Ending ending;

 private:
  Note request_;
};

}  // namespace weft::stub_test

#endif  // WEFT_TEST_GRPC_STUB_REACTORS_H_
