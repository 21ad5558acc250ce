// What calls inherit: from a ServerContext, and from interceptors.
#include "grpc_stub/reactors.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "support/catch.h"
#include "weft/trace_context.h"

namespace weft::stub_test {
namespace {

using ::grpc::StatusCode;

constexpr char kTrace[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string Only(const std::multimap<std::string, std::string>& metadata, const char* name) {
  return metadata.count(name) == 1 ? metadata.find(name)->second : "not one";
}

TEST_CASE("the trace that a stub's context names goes on with a span of each attempt's own") {
  World world;
  ::grpc::ClientContext context;
  context.AddMetadata("traceparent", kTrace);
  context.AddMetadata("tracestate", "a=b");
  context.AddMetadata("baggage", "k=v");
  context.AddMetadata("x-weft-tier", "2");
  Note reply;
  REQUIRE(world.stub->Unary(&context, MakeNote("x"), &reply).ok());
  const auto metadata = world.server->metadata();
  const auto sent = TraceContext::Parse(Only(metadata, "traceparent"));
  const auto mine = TraceContext::Parse(kTrace);
  REQUIRE(sent.has_value());
  CHECK(sent->trace_id == mine->trace_id);
  CHECK(sent->span_id != mine->span_id);
  CHECK(Only(metadata, "tracestate") == "a=b");
  CHECK(Only(metadata, "baggage") == "k=v");
  CHECK(Only(metadata, "x-weft-tier") == "2");
}

// A service in front of `back`, whose handler calls it with what came in.
struct TwoHops {
  TwoHops() {
    channel = factory->GetChannel(back.address()).value();
    front.PassOnTo(grpc::MakeChannel(channel));
    front_channel = factory->GetChannel(front.address()).value();
    stub = Post::NewStub(grpc::MakeChannel(front_channel));
  }
  PostServer back;
  PostServer front;
  std::shared_ptr<ChannelFactory> factory = ChannelFactory::Create().value();
  std::shared_ptr<Channel> channel;
  std::shared_ptr<Channel> front_channel;
  std::unique_ptr<Post::Stub> stub;
};

Note Inheriting() {
  Note note;
  note.set_inherit(true);
  return note;
}

TEST_CASE("a cancelled server call cancels the stub's calls that were made for it") {
  TwoHops hops;
  ::grpc::ClientContext context;
  context.AddMetadata("traceparent", kTrace);
  context.AddMetadata("x-weft-tier", "0");
  const Note request = Inheriting();
  Note reply;
  Ending ending;
  hops.stub->async()->Unary(&context, &request, &reply,
                            [&](::grpc::Status status) { ending.Set(std::move(status)); });
  REQUIRE(hops.back.WaitForHanging(1));
  const auto metadata = hops.back.metadata();
  const auto sent = TraceContext::Parse(Only(metadata, "traceparent"));
  REQUIRE(sent.has_value());
  CHECK(sent->trace_id == TraceContext::Parse(kTrace)->trace_id);
  CHECK(Only(metadata, "x-weft-tier") == "0");
  context.TryCancel();
  CHECK(ending.Wait().error_code() == StatusCode::CANCELLED);
  REQUIRE(hops.front.WaitForCancelled(1));
  CHECK(hops.front.last_passed_on().error_code() == StatusCode::CANCELLED);
  CHECK(hops.back.WaitForCancelled(1));
}

TEST_CASE("a server call's deadline goes on to the stub's calls that were made for it") {
  TwoHops hops;
  ::grpc::ClientContext context;
  context.set_deadline(In(absl::Milliseconds(300)));
  Note reply;
  CHECK(hops.stub->Unary(&context, Inheriting(), &reply).error_code() ==
        StatusCode::DEADLINE_EXCEEDED);
  CHECK(hops.back.deadline() < absl::Now() + absl::Seconds(5));
  CHECK(hops.back.WaitForCancelled(1));
}

// Answers at once, with what From says of the call.
class Asked final : public Post::CallbackService {
 public:
  ::grpc::ServerUnaryReactor* Unary(::grpc::CallbackServerContext* context, const Note*,
                                    Note* reply) override {
    const CallOptions options = grpc::From(*context);
    reply->set_text(options.trace.has_value() ? options.trace->ToString() : "none");
    reply->set_payload(std::string(options.trace_state) + "|" + std::string(options.baggage));
    reply->set_count(options.tier.has_value() ? static_cast<int>(*options.tier) : -1);
    reply->set_code(options.deadline.has_value()
                        ? static_cast<int>(absl::ToInt64Seconds(*options.deadline - absl::Now()))
                        : -1);
    auto* const reactor = context->DefaultReactor();
    reactor->Finish(::grpc::Status::OK);
    return reactor;
  }
};

TEST_CASE("call options are read from a server context") {
  Asked service;
  ::grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  auto factory = ChannelFactory::Create().value();
  auto stub = Post::NewStub(
      grpc::MakeChannel(factory->GetChannel("127.0.0.1:" + std::to_string(port)).value()));
  Note reply;
  {
    ::grpc::ClientContext context;
    context.AddMetadata("traceparent", kTrace);
    context.AddMetadata("tracestate", "a=b");
    context.AddMetadata("baggage", "k=v");
    context.AddMetadata("x-weft-tier", "1");
    context.set_deadline(In(absl::Seconds(1000)));
    REQUIRE(stub->Unary(&context, Note(), &reply).ok());
    CHECK(reply.text().substr(0, 35) == std::string(kTrace).substr(0, 35));
    CHECK(reply.payload() == "a=b|k=v");
    CHECK(reply.count() == 1);
    CHECK(reply.code() > 900);
    CHECK(reply.code() <= 1000);
  }
  ::grpc::ClientContext context;
  REQUIRE(stub->Unary(&context, Note(), &reply).ok());
  CHECK(reply.text() == "none");
  CHECK(reply.payload() == "|");
  CHECK(reply.count() == -1);
  CHECK(reply.code() == -1);
}

// An interceptor as users have them.
class Adder final : public ::grpc::experimental::Interceptor {
 public:
  void Intercept(::grpc::experimental::InterceptorBatchMethods* batch) override {
    using Hook = ::grpc::experimental::InterceptionHookPoints;
    if (batch->QueryInterceptionHookPoint(Hook::PRE_SEND_INITIAL_METADATA))
      batch->GetSendInitialMetadata()->emplace("x-echo", "intercepted");
    batch->Proceed();
  }
};
class AdderFactory final : public ::grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  ::grpc::experimental::Interceptor* CreateClientInterceptor(
      ::grpc::experimental::ClientRpcInfo*) override {
    return new Adder;
  }
};

TEST_CASE("a user's interceptors run in front of a stub's calls over Weft") {
  grpc::StubOptions options;
  options.interceptors.push_back(std::make_unique<AdderFactory>());
  World world(std::move(options));
  ::grpc::ClientContext context;
  Note reply;
  REQUIRE(world.stub->Unary(&context, MakeNote("x"), &reply).ok());
  CHECK(context.GetServerInitialMetadata().count("x-initial") == 1);
  ChatReactor chat(*world.stub, 5);
  CHECK(chat.ending.Wait().ok());
  CHECK(chat.texts.size() == 5);
}

}  // namespace
}  // namespace weft::stub_test
