// gRPC over Weft, with the messages that protoc makes of kitchen.proto and without gRPC's core in
// the client: a call of one message each way, an error, a stream of replies, a stream both ways.
//
//   grpc_native                    starts a server on gRPC C++ in this process, where it has that
//   grpc_native 127.0.0.1:50051    calls one that is running
//
// Ends with status 0 only if all came as it should.
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kitchen.pb.h"
#include "server.h"
#include "weft/grpc.h"
#include "weft/weft.h"

namespace {

using kitchen::Bill;
using kitchen::Dish;
using kitchen::Step;

Dish Order(const char* name) {
  Dish dish;
  dish.set_name(name);
  return dish;
}

// Always false.
bool Fail(const absl::Status& error) {
  std::fprintf(stderr, "grpc_native: %s\n", error.ToString().c_str());
  return false;
}

// A method is named by its path, "/package.Service/Method"; what is sent says itself what it is.
// Here the calling thread waits; weft::grpc::Start takes a callback, Async is for co_await.
bool AskForAPrice(weft::Channel& channel) {
  const absl::StatusOr<Bill> bill = weft::grpc::Call<Bill>(
      channel, "/kitchen.Kitchen/Price", Order("soup"), {.timeout = absl::Seconds(5)});
  if (!bill.ok()) return Fail(bill.status());
  std::printf("price    soup costs %d cents\n", bill->cents());
  return bill->cents() == 450;
}

// An error of the server comes as it was sent. Its payload tells it from one of the way there, and
// the context has what travels beside the messages.
bool AskForWhatIsNotThere(weft::Channel& channel) {
  weft::grpc::Context context;
  context.metadata = {{"guest", "7"}};
  const absl::StatusOr<Bill> bill =
      weft::grpc::Call<Bill>(channel, "/kitchen.Kitchen/Price", Order("stone"), {}, &context);
  const auto error = weft::GetCallError(bill.status());
  if (!error.has_value() || error->origin != weft::Origin::kPeer) return Fail(bill.status());
  const std::string hint(context.trailing_metadata["try"]);
  std::printf("error    the kitchen says: %s; try %s\n",
              std::string(bill.status().message()).c_str(), hint.c_str());
  return absl::IsNotFound(bill.status()) && hint == "soup";
}

// One request, many replies: Read gives them as they come, and nothing at the end. Why it ended is
// Finish's to say.
bool WatchTheCook(weft::Channel& channel) {
  weft::grpc::ServerStream<Step> steps(channel, "/kitchen.Kitchen/Cook", Order("soup"));
  int seen = 0;
  for (; const std::optional<Step> step = steps.Read(); ++seen) {
    std::printf("cook     %s is %s\n", step->dish().c_str(), step->what().c_str());
  }
  if (const absl::Status end = steps.Finish(); !end.ok()) return Fail(end);
  return seen == 3;
}

// The smallest coroutine type that has a result. Weft works with any.
struct Task {
  struct promise_type {
    std::promise<absl::Status> end;
    Task get_return_object() { return {end.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(absl::Status status) { end.set_value(std::move(status)); }
    void unhandled_exception() { std::abort(); }
  };
  std::future<absl::Status> end;
};

// Many each way, here in a coroutine, which no thread waits in. Both sides may write whenever they
// like; these two take turns.
Task OrderInTurns(weft::grpc::BidiStream<Dish, Step>& table, int& served) {
  for (const char* name : {"bread", "soup", "tea"}) {
    const Dish dish = Order(name);
    const absl::Status written = co_await table.WriteAsync(dish);
    if (!written.ok()) break;  // the stream is over, and Finish says why
    const std::optional<Step> step = co_await table.ReadAsync();
    if (!step.has_value()) break;
    std::printf("table    %s is %s\n", step->dish().c_str(), step->what().c_str());
    if (step->dish() == name) ++served;
  }
  (void)table.WritesDone();  // no more orders; the kitchen ends the call
  co_return co_await table.FinishAsync();
}

bool SitAtTheTable(weft::Channel& channel) {
  weft::grpc::BidiStream<Dish, Step> table(channel, "/kitchen.Kitchen/Table");
  int served = 0;
  const absl::Status end = OrderInTurns(table, served).end.get();
  if (!end.ok()) return Fail(end);
  return served == 3;
}

}  // namespace

int main(int argc, char** argv) {
  std::unique_ptr<Server> server;
  std::string address;
  if (argc > 1) {
    address = argv[1];
  } else {
    server = StartServer();
    if (server == nullptr) {
      std::fprintf(stderr, "usage: grpc_native <address of a server of kitchen.proto>\n");
      return 2;
    }
    address = server->address();
  }

  auto factory = weft::ChannelFactory::Create();
  if (!factory.ok()) return Fail(factory.status()) ? 0 : 1;
  auto opened = (*factory)->GetChannel("static:" + address);
  if (!opened.ok()) return Fail(opened.status()) ? 0 : 1;
  weft::Channel& channel = **opened;

  const bool right = AskForAPrice(channel) && AskForWhatIsNotThere(channel) &&
                     WatchTheCook(channel) && SitAtTheTable(channel);
  std::printf("\n%s; connections that were opened: %d\n",
              right ? "all as ordered" : "not what was ordered",
              static_cast<int>((*factory)->Stats().connections_opened));
  return right ? 0 : 1;
}
