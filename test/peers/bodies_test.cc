// Bodies of 5 MB up and down, against windows of every size, and trailers in both directions.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "peers/client.h"
#include "support/catch.h"
#include "support/h2_frames.h"

namespace weft::inline v0::testing {
namespace {

constexpr size_t kLarge = 5'000'000;
const CallOptions kPatient = {.timeout = absl::Seconds(60)};

// REQUIRE of equal strings would print both.
void CheckSame(const std::string& got, const std::string& wanted) {
  CHECK(got.size() == wanted.size());
  CHECK((got == wanted));
}

Response CheckedCall(Channel& channel, Request request) {
  absl::StatusOr<Response> response = channel.Call(std::move(request), kPatient);
  INFO(response.status());
  REQUIRE(response.ok());
  return *std::move(response);
}

// Up and down at once.
void CheckEcho(const Peer& peer, const std::string& path) {
  const Holdings before = CountHoldings();
  Client client = MakeClient(peer);
  const std::string large = PatternBytes(kLarge);
  for (const std::string& body : {large, std::string("small"), large}) {
    const Response response = CheckedCall(*client.channel, Request::Post(path, body));
    CHECK(response.status == 200);
    CheckSame(response.body, body);
  }
  CHECK(client.factory->Stats().connections_opened == 1);
  CheckEnd(client, before);
}

// /sink and /bytes of http2_server.js.
void CheckUpAndDown(const Peer& peer) {
  const Holdings before = CountHoldings();
  Client client = MakeClient(peer);
  const std::string large = PatternBytes(kLarge);
  for (int i = 0; i < 2; ++i) {
    const Response up = CheckedCall(*client.channel, Request::Post("/sink", large));
    CHECK_THAT(up.body, Catch::Matchers::StartsWith("5000000 "));
    const Response down = CheckedCall(*client.channel, Request::Get("/bytes?n=5000000"));
    CheckSame(down.body, large);
  }
  CHECK(client.factory->Stats().connections_opened == 1);
  CheckEnd(client, before);
}

}  // namespace

TEST_CASE("5 MB through nghttpd") {
  if (const std::string missing = MissingProgram("nghttpd"); !missing.empty()) WEFT_SKIP(missing);
  CheckEcho(StartNghttpd(Security::kPlain), "/");
  CheckEcho(StartNghttpd(Security::kTls), "/");
}

TEST_CASE("5 MB through node") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  for (const Security security : {Security::kPlain, Security::kTls}) {
    const Peer node = StartNode({.security = security});
    CheckEcho(node, "/mirror");
    CheckUpAndDown(node);
  }
}

TEST_CASE("5 MB through HAProxy") {
  if (const std::string missing = MissingProgram("haproxy"); !missing.empty()) WEFT_SKIP(missing);
  CheckUpAndDown(StartHaproxy(Security::kPlain));
  CheckUpAndDown(StartHaproxy(Security::kTls));
}

TEST_CASE("5 MB through nginx") {
  if (const std::string missing = MissingProgram("nginx"); !missing.empty()) WEFT_SKIP(missing);
  for (const Security security : {Security::kPlain, Security::kTls}) {
    const Peer nginx = StartNginx(security);
    const Holdings before = CountHoldings();
    Client client = MakeClient(nginx);
    const std::string large = PatternBytes(kLarge);
    CHECK(CheckedCall(*client.channel, Request::Put("/files/large", large)).status == 201);
    CheckSame(ReadFile(nginx.files->File("files/large")), large);
    const Response down = CheckedCall(*client.channel, Request::Get("/files/large"));
    CHECK(down.status == 200);
    CheckSame(down.body, large);
    CHECK(client.factory->Stats().connections_opened == 1);
    CheckEnd(client, before);
  }
}

TEST_CASE("5 MB through a gRPC server") {
  if (const std::string missing = MissingGrpcServer(); !missing.empty()) WEFT_SKIP(missing);
  const Peer server = StartGrpcServer();
  const Holdings before = CountHoldings();
  Client client = MakeClient(server);
  for (const size_t size : {kLarge, size_t{0}, kLarge}) {
    const std::string body = GrpcMessage(size == 0 ? "" : ProtoMessage(PatternBytes(size)));
    const Response response = CheckedCall(
        *client.channel, Request::Post("/bench.Echo/Call", body,
                                       {{"content-type", "application/grpc"}, {"te", "trailers"}}));
    CHECK(response.trailers["grpc-status"] == "0");
    CheckSame(response.body, body);
  }
  // An answer of headers alone, where the trailers are all there is.
  const Response unknown = CheckedCall(
      *client.channel, Request::Post("/bench.Echo/Nothing", GrpcMessage(""),
                                     {{"content-type", "application/grpc"}, {"te", "trailers"}}));
  CHECK(unknown.status == 200);
  CHECK(absl::StrCat(std::string(unknown.headers["grpc-status"]),
                     std::string(unknown.trailers["grpc-status"])) == "12");
  CheckEnd(client, before);
}

TEST_CASE("A body over the limit ends its call and not the connection") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const Holdings before = CountHoldings();
  Client client = MakeClient(node);
  for (int i = 0; i < 20; ++i) {
    const auto response =
        client.channel->Call(Request::Get("/bytes?n=5000000"),
                             {.timeout = absl::Seconds(60), .max_response_bytes = 1'000'000});
    INFO(response.status());
    CHECK(absl::IsResourceExhausted(response.status()));
  }
  // What came of those bodies gave its window back.
  CheckSame(CheckedCall(*client.channel, Request::Get("/bytes?n=5000000")).body,
            PatternBytes(kLarge));
  CHECK(client.factory->Stats().connections_opened == 1);
  CheckEnd(client, before);
}

TEST_CASE("Trailers go up and come down") {
  if (const std::string missing = MissingProgram("node"); !missing.empty()) WEFT_SKIP(missing);
  const Peer node = StartNode();
  const NothingLeft nothing_left;
  const Client client = MakeClient(node);

  Request request = Request::Post("/mirror", "0123456789");
  request.trailers = {{"x-sum", "45"}, {"x-more", "yes"}};
  const Response response = CheckedCall(*client.channel, std::move(request));
  CHECK(response.body == "0123456789");
  CHECK(response.trailers["x-sum"] == "45");
  CHECK(response.trailers["x-more"] == "yes");
  CHECK(response.trailers["x-seen"] == "10");

  Request empty = Request::Post("/mirror");
  empty.trailers = {{"x-sum", "0"}};
  const Response none = CheckedCall(*client.channel, std::move(empty));
  CHECK(none.body.empty());
  CHECK(none.trailers["x-sum"] == "0");
  CHECK(none.trailers["x-seen"] == "0");

  class Source final : public BodySource {
   public:
    absl::StatusOr<bool> Read(std::string& out) override {
      out.append(16384, 'w');
      return ++pieces_ < 100;
    }
    Headers Trailers() override { return {{"x-pieces", absl::StrCat(pieces_)}}; }

   private:
    int pieces_ = 0;
  };
  Request sourced = Request::Post("/mirror");
  sourced.source = std::make_shared<Source>();
  const Response whole = CheckedCall(*client.channel, std::move(sourced));
  CheckSame(whole.body, std::string(100 * 16384, 'w'));
  CHECK(whole.trailers["x-pieces"] == "100");
  CHECK(whole.trailers["x-seen"] == "1638400");
}

}  // namespace weft::inline v0::testing
