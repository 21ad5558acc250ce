// Streams, sources and sinks: both directions, back-pressure, half-close, trailers, cancellation.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/rogue_server.h"
#include "support/sim_client.h"

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

struct World {
  std::shared_ptr<SimEnv> env = std::make_shared<SimEnv>();
  RogueServer server{*env, "10.0.0.1:80"};
  SimClient client{env, "static:10.0.0.1:80"};

  Channel& channel() { return client.channel(); }
  template <class Predicate>
  void Until(Predicate predicate) {
    REQUIRE(env->RunUntil(predicate, 60s));
  }
};

// Reads to the end.
struct Reader {
  explicit Reader(Stream& s) : stream(s) {}
  void Go() {
    stream.ReadThen([this](std::optional<std::string> piece) {
      if (!piece.has_value()) {
        end = true;
        return;
      }
      body += *piece;
      Go();
    });
  }
  Stream& stream;
  std::string body;
  bool end = false;
};

TEST_CASE("a stream carries pieces both ways and ends with trailers") {
  World w;
  w.server.options().handler = [](const RogueRequest& request) {
    return RogueAnswer{.status = 201,
                       .body = request.body,
                       .trailers = {{"sum", std::to_string(request.body.size())}}};
  };
  Stream stream = w.channel().Open(Request::Post("/", "first "));
  std::vector<absl::Status> written;
  stream.WriteThen("second ", [&](absl::Status s) { written.push_back(s); });
  w.Until([&] { return written.size() == 1; });
  stream.WriteThen("third", [&](absl::Status s) { written.push_back(s); });
  CHECK(stream.WritesDone({{"my", "trailer"}}).ok());
  CHECK(absl::IsFailedPrecondition(stream.WritesDone()));
  std::optional<absl::StatusOr<ResponseHead>> head;
  stream.HeadThen([&](auto h) { head = std::move(h); });
  Reader reader(stream);
  reader.Go();
  w.Until([&] { return reader.end; });
  CHECK(reader.body == "first second third");
  REQUIRE(head.has_value());
  CHECK((*head)->status == 201);
  std::optional<absl::Status> end;
  stream.FinishThen([&](absl::Status s) { end = s; });
  w.Until([&] { return end.has_value(); });
  CHECK(end->ok());
  CHECK(stream.Trailers()["sum"] == "18");
  CHECK(stream.Info().attempts == 1);
  CHECK(w.server.requests()[0]->trailers == HeaderList{{"my", "trailer"}});
  CHECK(w.server.violations().empty());
  stream = Stream();
  CHECK(w.client.Close());
}

TEST_CASE("a reader that pauses stops its own sender and nobody else") {
  World w;
  const std::string big(4 << 20, 'x');
  w.server.options().handler = [&](const RogueRequest& request) {
    return RogueAnswer{.body = request.path() == "/big" ? big : "small"};
  };
  std::vector<Stream> paused;
  for (int i = 0; i < 30; ++i)
    paused.push_back(
        w.channel().Open(Request::Get("/big"), {.timeout = absl::Seconds(1000)}, true));
  w.env->RunFor(10s);
  // Thirty windows of 1 MiB are more than the connection's 16 MiB: if unread bytes were held
  // against it, this call would starve.
  SimCall& call = w.client.Get("/small");
  REQUIRE(w.client.RunUntilDone(call, 1s));
  CHECK(call.ok());
  const uint64_t sent = w.server.host().stats.bytes_to_client;
  CHECK(sent < (31ull << 20) + 100000);
  for (Stream& stream : paused) {
    Reader reader(stream);
    reader.Go();
    w.Until([&] { return reader.end; });
    CHECK(reader.body.size() == big.size());
  }
  CHECK(w.server.violations().empty());
  paused.clear();
  CHECK(w.client.Close());
}

TEST_CASE("a writer waits while the peer takes nothing, its deadline frees it, others go on") {
  World w;
  w.server.options().settings = {{kInitialWindowSize, 1000}};
  w.server.options().return_windows = false;
  w.server.options().connection_window = 1 << 20;
  Stream stream = w.channel().Open(Request::Post("/"), {.timeout = absl::Seconds(5)});
  int done = 0;
  absl::Status last;
  std::function<void()> write = [&] {
    stream.WriteThen(std::string(10000, 'x'), [&](absl::Status s) {
      last = s;
      if (!s.ok()) return;
      ++done;
      write();
    });
  };
  write();
  w.env->RunFor(1s);
  CHECK(done >= 6);
  CHECK(done <= 8);
  SimCall& other = w.client.Post("/", "small");
  REQUIRE(w.client.RunUntilDone(other));
  CHECK(other.ok());
  w.env->RunFor(5s);
  CHECK(absl::IsDeadlineExceeded(last));
  CHECK(w.server.violations().empty());
  stream = Stream();
  CHECK(w.client.Close());
}

TEST_CASE("windows raised by SETTINGS alone let an upload go on") {
  World w;
  w.server.options().settings = {{kInitialWindowSize, 0}};
  SimCall& call = w.client.Post("/", std::string(1000, 'x'));
  w.env->RunFor(1s);
  CHECK_FALSE(call.done());
  w.server.last().SendSettings({{kInitialWindowSize, 10000}});
  REQUIRE(w.client.RunUntilDone(call));
  CHECK(call.ok());
  CHECK(w.client.Close());
}

TEST_CASE("a full answer before the upload has ended is kept, and the upload stops") {
  World w;
  w.server.options().answer_at_head = true;
  w.server.options().return_windows = false;
  w.server.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.status = 413, .body = "too large"};
  };
  SimCall& call = w.client.Post("/", std::string(1 << 20, 'x'));
  REQUIRE(w.client.RunUntilDone(call));
  REQUIRE(call.ok());
  CHECK(call.response().status == 413);
  CHECK(call.response().body == "too large");
  w.env->RunFor(1s);
  CHECK(w.server.open_streams() == 0);
  CHECK(w.server.accepted() == 1);
  CHECK(w.client.Close());
}

TEST_CASE("Finish throws away what was not read and returns its window") {
  World w;
  w.server.options().handler = [](const RogueRequest&) {
    return RogueAnswer{.body = std::string(3 << 20, 'x')};
  };
  for (int i = 0; i < 20; ++i) {
    Stream stream = w.channel().Open(Request::Post("/"));
    w.env->RunFor(100ms);
    std::optional<absl::Status> end;
    stream.FinishThen([&](absl::Status s) { end = s; });
    w.Until([&] { return end.has_value(); });
    CHECK(end->ok());
  }
  CHECK(w.server.accepted() == 1);
  CHECK(w.server.violations().empty());
  CHECK(w.client.Close());
}

TEST_CASE("destroying a stream cancels it, and unread bytes do not eat the connection's window") {
  World w;
  w.server.options().handler = [](const RogueRequest& request) {
    return RogueAnswer{.body = std::string(request.path() == "/big" ? (1 << 20) : 10, 'x')};
  };
  for (int i = 0; i < 40; ++i) {
    Stream stream = w.channel().Open(Request::Get("/big"), {}, true);
    w.env->RunFor(20ms);
    CHECK(stream.TryHead().has_value());
  }
  SimCall& call = w.client.Get("/small");
  REQUIRE(w.client.RunUntilDone(call));
  CHECK(call.ok());
  CHECK(w.server.accepted() == 1);
  CHECK(w.client.Close());
}

TEST_CASE("no callback of a stream runs after its destructor") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  bool ran = false;
  {
    Stream stream = w.channel().Open(Request::Post("/"));
    stream.HeadThen([&](auto) { ran = true; });
    stream.ReadThen([&](auto) { ran = true; });
    stream.FinishThen([&](auto) { ran = true; });
    w.env->RunFor(10ms);
  }
  w.env->RunFor(1s);
  CHECK_FALSE(ran);
  CHECK(w.server.open_streams() == 0);
  CHECK(w.client.Close());
}

TEST_CASE("a second waiting operation of a kind is refused") {
  World w;
  w.server.options().handler = [](const RogueRequest&) { return RogueAnswer::Silence(); };
  Stream stream = w.channel().Open(Request::Post("/"));
  stream.HeadThen([](auto) {});
  absl::Status second;
  stream.HeadThen([&](auto head) { second = head.status(); });
  w.env->RunFor(10ms);
  CHECK(absl::IsFailedPrecondition(second));
  stream = Stream();
  CHECK(w.client.Close());
}

TEST_CASE("a stream that was refused unprocessed is repeated with all that was written") {
  World w;
  int requests = 0;
  w.server.options().handler = [&](const RogueRequest& request) {
    return ++requests == 1 ? RogueAnswer::Refused() : RogueAnswer{.body = request.body};
  };
  Stream stream = w.channel().Open(Request::Post("/"));
  stream.WriteThen(std::string(50000, 'a'), [](absl::Status) {});
  w.env->RunFor(100ms);
  CHECK(stream.WritesDone().ok());
  Reader reader(stream);
  reader.Go();
  w.Until([&] { return reader.end; });
  CHECK(reader.body == std::string(50000, 'a'));
  CHECK(requests == 2);
  stream = Stream();
  CHECK(w.client.Close());
}

class CountingSource final : public BodySource {
 public:
  CountingSource(int pieces, bool fails) : left_(pieces), fails_(fails) {}
  absl::StatusOr<bool> Read(std::string& out) override {
    if (left_ == 0 && fails_) return absl::DataLossError("the disk is gone");
    if (left_ == 0) return false;
    out.append(10000, static_cast<char>('a' + left_ % 26));
    --left_;
    ++reads;
    return true;
  }
  Headers Trailers() override { return {{"source", "done"}}; }
  int reads = 0;

 private:
  int left_;
  const bool fails_;
};

class CollectingSink final : public BodySink {
 public:
  absl::Status OnHead(int status, const Headers&) override {
    head = status;
    return absl::OkStatus();
  }
  absl::Status Write(std::string_view bytes) override {
    body.append(bytes);
    return body.size() > limit ? absl::OutOfRangeError("that is enough") : absl::OkStatus();
  }
  int head = 0;
  std::string body;
  size_t limit = ~size_t{0};
};

TEST_CASE("a source is pumped up, a sink is filled, with trailers both ways") {
  World w;
  w.server.options().handler = [](const RogueRequest& request) {
    return RogueAnswer{.body = request.body, .trailers = {{"t", "1"}}};
  };
  Request request = Request::Post("/");
  request.source = std::make_shared<CountingSource>(100, false);
  CollectingSink sink;
  std::optional<absl::StatusOr<Response>> result;
  CallHandle handle = w.channel().Start(request, {}, &sink, [&](auto r) { result = std::move(r); });
  w.Until([&] { return result.has_value(); });
  REQUIRE(result->ok());
  CHECK(sink.head == 200);
  CHECK(w.server.requests()[0]->body.size() == 1000000);
  CHECK(sink.body.size() == 1000000);
  CHECK((*result)->body.empty());
  CHECK((*result)->trailers["t"] == "1");
  CHECK(w.server.requests()[0]->trailers == HeaderList{{"source", "done"}});
  CHECK(w.client.Close());
}

TEST_CASE("a source is read no faster than the peer takes it") {
  World w;
  w.server.options().settings = {{kInitialWindowSize, 1000}};
  w.server.options().return_windows = false;
  Request request = Request::Post("/");
  auto source = std::make_shared<CountingSource>(1000, false);
  request.source = source;
  CallHandle handle = w.channel().Start(request, {}, [](auto) {});
  w.env->RunFor(10s);
  CHECK(source->reads <= 10);
  CHECK(source->reads >= 6);
  handle.Reset();
  w.env->RunFor(1s);
  CHECK(w.server.open_streams() == 0);
  CHECK(w.client.Close());
}

TEST_CASE("an error of a source or a sink ends the call with it") {
  World w;
  Request request = Request::Post("/");
  request.source = std::make_shared<CountingSource>(3, true);
  std::optional<absl::Status> source_end;
  CallHandle a = w.channel().Start(request, {}, [&](auto r) { source_end = r.status(); });
  CollectingSink sink;
  sink.limit = 10;
  std::optional<absl::Status> sink_end;
  CallHandle b = w.channel().Start(Request::Post("/", std::string(100000, 'x')), {}, &sink,
                                   [&](auto r) { sink_end = r.status(); });
  w.Until([&] { return source_end.has_value() && sink_end.has_value(); });
  CHECK(absl::IsDataLoss(*source_end));
  CHECK(absl::IsOutOfRange(*sink_end));
  w.env->RunFor(1s);
  CHECK(w.server.open_streams() == 0);
  CHECK(w.client.Close());
}

TEST_CASE("informational answers are skipped, within a bound") {
  World w;
  w.server.options().handler = [](const RogueRequest& request) {
    RogueAnswer answer{.body = "x"};
    const int n = request.path() == "/few" ? 10 : 1000;
    for (int i = 0; i < n; ++i) answer.informational.push_back({103, {{"link", "y"}}});
    return answer;
  };
  SimCall& few = w.client.Post("/few", "x");
  SimCall& endless = w.client.Post("/many", "x");
  REQUIRE(w.client.RunUntilAllDone());
  CHECK(few.ok());
  CHECK(few.response().status == 200);
  CHECK_FALSE(endless.ok());
  SimCall& after = w.client.Get("/few");
  REQUIRE(w.client.RunUntilDone(after));
  CHECK(after.ok());
  CHECK(w.server.accepted() == 1);
  CHECK(w.client.Close());
}

TEST_CASE("a source does not go with a stream that is written by hand") {
  World w;
  Request request = Request::Post("/");
  request.source = std::make_shared<CountingSource>(1, false);
  Stream stream = w.channel().Open(request);
  std::optional<absl::Status> end;
  stream.FinishThen([&](absl::Status s) { end = s; });
  w.Until([&] { return end.has_value(); });
  CHECK(absl::IsInvalidArgument(*end));
  stream = Stream();
  CHECK(w.client.Close());
}

}  // namespace
}  // namespace weft::testing
