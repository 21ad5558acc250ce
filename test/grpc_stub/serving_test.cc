// Servers on gRPC C++ that say how much they have to do, and bounce calls, with Weft's clients.
#include "weft/grpc_stub/serving.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "grpc_stub/post_server.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "support/catch.h"

namespace weft::stub_test {
namespace {

// Answers with its name. Calls that hang do so until they are let go.
class LoadedServer final : public Post::Service {
 public:
  explicit LoadedServer(std::string name) : name_(std::move(name)) {
    ::grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    std::vector<std::unique_ptr<::grpc::experimental::ServerInterceptorFactoryInterface>> creators;
    creators.push_back(grpc::MakeServingInterceptor(load));
    builder.experimental().SetInterceptorCreators(std::move(creators));
    server_ = builder.BuildAndStart();
    address = "127.0.0.1:" + std::to_string(port);
  }
  ~LoadedServer() override {
    LetGo();
    server_->Shutdown();
  }
  void LetGo() {
    std::lock_guard<std::mutex> lock(mutex_);
    free_ = true;
    changed_.notify_all();
  }
  bool WaitForHanging(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, absl::ToChronoSeconds(kSoon), [&] { return hanging_ == count; });
  }

  ::grpc::Status Unary(::grpc::ServerContext* context, const Note* request, Note* reply) override {
    if (grpc::IsToBounce(*context)) return grpc::BounceStatus();
    ++taken;
    if (request->hang()) {
      std::unique_lock<std::mutex> lock(mutex_);
      ++hanging_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return free_; });
    }
    reply->set_text(name_);
    return ::grpc::Status(static_cast<::grpc::StatusCode>(request->code()), request->error());
  }
  ::grpc::Status Chat(::grpc::ServerContext* context,
                      ::grpc::ServerReaderWriter<Note, Note>* stream) override {
    if (grpc::IsToBounce(*context)) return grpc::BounceStatus();
    ++taken;
    Note note;
    while (stream->Read(&note)) stream->Write(MakeNote(name_ + note.text()));
    return ::grpc::Status::OK;
  }
  // Does not ask.
  ::grpc::Status Collect(::grpc::ServerContext*, ::grpc::ServerReader<Note>* reader,
                         Note* reply) override {
    ++taken;
    Note note;
    while (reader->Read(&note)) reply->set_count(reply->count() + 1);
    return ::grpc::Status::OK;
  }

  ServingLoad load{{.workers = 4}};
  std::string address;
  std::atomic<int> taken{0};

 private:
  const std::string name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int hanging_ = 0;
  bool free_ = false;
  std::unique_ptr<::grpc::Server> server_;
};

// The first host that the call has not tried.
class InOrder final : public Balancer {
 public:
  struct Book {
    std::atomic<uint32_t> bounce_above{0};
    std::mutex mutex;
    std::vector<PickerHost> hosts;
    HostView::Reported Reported(const std::string& address) {
      std::lock_guard<std::mutex> lock(mutex);
      for (const PickerHost& entry : hosts) {
        if (entry.host->address() == address) return entry.host->reported();
      }
      return {};
    }
  };
  explicit InOrder(std::shared_ptr<Book> book) : book_(std::move(book)) {}
  std::shared_ptr<const Picker> Update(const std::vector<PickerHost>& hosts) override {
    std::lock_guard<std::mutex> lock(book_->mutex);
    book_->hosts = hosts;
    return std::make_shared<InOrderPicker>(hosts, book_);
  }

 private:
  struct InOrderPicker final : Picker {
    InOrderPicker(std::vector<PickerHost> of, std::shared_ptr<Book> shared)
        : hosts(std::move(of)), book(std::move(shared)) {}
    PickResult Pick(const PickFacts& facts) const override {
      for (size_t i = 0; i < hosts.size(); ++i) {
        const HostView* const host = hosts[i].host;
        if (std::find(facts.tried.begin(), facts.tried.end(), host) != facts.tried.end()) continue;
        if (host->state() != HostState::kReady) return PickResult::Queue();
        PickResult result = PickResult::Host(i);
        result.bounce_above = book->bounce_above.load();
        return result;
      }
      return PickResult::Fail(absl::UnavailableError("no other"));
    }
    const std::vector<PickerHost> hosts;
    const std::shared_ptr<Book> book;
  };
  const std::shared_ptr<Book> book_;
};

struct LoadedWorld {
  LoadedWorld() {
    ChannelFactory::Options of;
    of.loops = 1;
    of.channel.balancer = [book = book](uint64_t) { return std::make_unique<InOrder>(book); };
    factory = ChannelFactory::Create(std::move(of)).value();
    stub = Post::NewStub(
        grpc::MakeChannel(factory->GetChannel("static:" + a.address + "," + b.address).value()));
  }
  std::pair<::grpc::Status, Note> Unary(const Note& request) {
    ::grpc::ClientContext context;
    context.set_deadline(In(kSoon));
    context.set_wait_for_ready(true);
    Note reply;
    ::grpc::Status status = stub->Unary(&context, request, &reply);
    return {std::move(status), std::move(reply)};
  }
  LoadedServer a{"a"};
  LoadedServer b{"b"};
  std::shared_ptr<InOrder::Book> book = std::make_shared<InOrder::Book>();
  std::shared_ptr<ChannelFactory> factory;
  std::unique_ptr<Post::Stub> stub;
};

TEST_CASE("a server on gRPC C++ tells its clients how much it has to do") {
  LoadedWorld world;
  CHECK(world.Unary(MakeNote("x")).second.text() == "a");
  HostView::Reported said = world.book->Reported(world.a.address);
  CHECK(said.report.in_flight == 0);
  CHECK(said.report.workers == 4);
  CHECK(said.report.service_time > std::chrono::nanoseconds(0));
  CHECK(said.report.latency > std::chrono::nanoseconds(0));
  CHECK(world.book->Reported(world.b.address).at == MonoTime::min());

  std::thread hanging([&] { CHECK(world.Unary(Hanging()).first.ok()); });
  REQUIRE(world.a.WaitForHanging(1));
  // With a status of its own, too.
  CHECK(world.Unary(Failing(5, "not found")).first.error_code() == ::grpc::NOT_FOUND);
  CHECK(world.book->Reported(world.a.address).report.in_flight == 1);
  world.a.LetGo();
  hanging.join();
  CHECK(world.a.load.in_flight() == 0);
}

TEST_CASE("a server on gRPC C++ bounces calls to another one") {
  LoadedWorld world;
  std::vector<std::thread> hanging;
  for (int i = 0; i < 3; ++i)
    hanging.emplace_back([&] { CHECK(world.Unary(Hanging()).first.ok()); });
  REQUIRE(world.a.WaitForHanging(3));
  world.book->bounce_above = 2;

  CHECK(world.Unary(MakeNote("x")).second.text() == "b");
  CHECK(world.factory->Stats().bounces == 1);
  CHECK(world.a.taken == 3);
  CHECK(world.a.load.in_flight() == 3);
  CHECK(world.book->Reported(world.a.address).report.in_flight == 3);

  ::grpc::ClientContext context;
  context.set_deadline(In(kSoon));
  auto chat = world.stub->Chat(&context);
  CHECK(chat->Write(MakeNote("x")));
  chat->WritesDone();
  Note note;
  CHECK(chat->Read(&note));
  CHECK(note.text() == "bx");
  CHECK(chat->Finish().ok());
  CHECK(world.factory->Stats().bounces == 2);
  CHECK(world.a.taken == 3);

  // A handler that does not ask has taken it.
  ::grpc::ClientContext collect_context;
  collect_context.set_deadline(In(kSoon));
  Note count;
  auto collect = world.stub->Collect(&collect_context, &count);
  CHECK(collect->Write(MakeNote("x")));
  collect->WritesDone();
  CHECK(collect->Finish().ok());
  CHECK(count.count() == 1);
  CHECK(world.a.taken == 4);
  CHECK(world.factory->Stats().bounces == 2);

  // Up to that many is not above.
  world.book->bounce_above = 3;
  CHECK(world.Unary(MakeNote("x")).second.text() == "a");
  world.a.LetGo();
  for (std::thread& thread : hanging) thread.join();
  CHECK(world.a.load.in_flight() == 0);
}

}  // namespace
}  // namespace weft::stub_test
