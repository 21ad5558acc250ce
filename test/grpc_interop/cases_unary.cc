#include <cstdint>

#include "grpc_interop/cases.h"
#include "grpc_interop/checks.h"
#include "grpc_interop/wire.h"

namespace weft::inline v0::testing {
namespace {

void CheckLargeReply(const InteropReply<SimpleResponse>& reply) {
  CheckOk(reply);
  CHECK(IsZeros(reply.reply.payload().body(), kLargeResponse));
}

}  // namespace

void EmptyUnary(InteropBed& bed) {
  const InteropOutcome outcome = bed.client.Empty(InteropEmptyMethod::kEmptyCall);
  CheckOk(outcome);
  CHECK(outcome.message.empty());
  CHECK(outcome.details.empty());
  CheckOk(bed.client.Empty(InteropEmptyMethod::kEmptyCall, {.timeout = absl::InfiniteDuration()}));
}

void LargeUnary(InteropBed& bed) { CheckLargeReply(bed.client.Unary(LargeRequest())); }

void ClientCompressedUnary(InteropBed& bed) {
  CheckOk(bed.client.Empty(InteropEmptyMethod::kEmptyCall));
  SimpleRequest request = LargeRequest();

  request.mutable_expect_compressed()->set_value(true);
  if (bed.server.sees_compression()) {
    CheckCode(bed.client.Unary(request), absl::StatusCode::kInvalidArgument);
  } else {
    CheckCode(bed.client.Unary(request), absl::StatusCode::kUnimplemented);
    request.clear_expect_compressed();  // The wire tells, the server only reads it.
  }
  WireCount before = CountWire(bed.server.port());
  CheckLargeReply(bed.client.Unary(request, {.compress = true}));
  CHECK(WireSince(before, bed.server.port()).sent < kLittle);

  request.mutable_expect_compressed()->set_value(false);
  before = CountWire(bed.server.port());
  CheckLargeReply(bed.client.Unary(request));
  CHECK(WireSince(before, bed.server.port()).sent > kLargeRequest);
}

void ServerCompressedUnary(InteropBed& bed) {
  CheckOk(bed.client.Empty(InteropEmptyMethod::kEmptyCall));
  SimpleRequest request = LargeRequest();

  request.mutable_response_compressed()->set_value(true);
  WireCount before = CountWire(bed.server.port());
  if (bed.server.answers_compressed()) {
    CheckLargeReply(bed.client.Unary(request));
    CHECK(WireSince(before, bed.server.port()).received < kLittle);
  } else {
    WARN("compressed answers were not tried: " << NameOf(bed.server.kind()) << " has none");
    CheckCode(bed.client.Unary(request), absl::StatusCode::kUnimplemented);
  }

  request.mutable_response_compressed()->set_value(false);
  before = CountWire(bed.server.port());
  CheckLargeReply(bed.client.Unary(request));
  CHECK(WireSince(before, bed.server.port()).received > kLargeResponse);
}

void CustomMetadata(InteropBed& bed) {
  const InteropCallOptions options = {
      .metadata = {{kEchoInitial, "test_initial_metadata_value"}, {kEchoTrailing, "\xab\xab\xab"}}};
  const auto check = [](const InteropOutcome& outcome) {
    CheckOk(outcome);
    CHECK(ValuesOf(outcome.initial, kEchoInitial) ==
          std::vector<std::string>{"test_initial_metadata_value"});
    CHECK(ValuesOf(outcome.trailing, kEchoTrailing) == std::vector<std::string>{"\xab\xab\xab"});
  };
  const InteropReply<SimpleResponse> reply = bed.client.Unary(LargeRequest(), options);
  check(reply);
  CHECK(IsZeros(reply.reply.payload().body(), kLargeResponse));

  const auto stream = bed.client.FullDuplex(options);
  StreamingOutputCallRequest request;
  request.add_response_parameters()->set_size(static_cast<int>(kLargeResponse));
  request.mutable_payload()->set_body(Zeros(kLargeRequest));
  CHECK(stream->Write(request));
  CHECK(stream->HalfClose());
  StreamingOutputCallResponse response;
  REQUIRE(stream->Read(response));
  CHECK(IsZeros(response.payload().body(), kLargeResponse));
  CHECK_FALSE(stream->Read(response));
  check(stream->Finish());

  // All bytes there are, and each length that base64 pads in another way.
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  for (const size_t size : {256, 255, 254, 1, 0}) {
    const InteropReply<SimpleResponse> echoed =
        bed.client.Unary({}, {.metadata = {{kEchoTrailing, bytes.substr(256 - size)}}});
    CheckOk(echoed);
    CHECK(ValuesOf(echoed.trailing, kEchoTrailing) ==
          std::vector<std::string>{bytes.substr(256 - size)});
  }
}

void WaitForReady(InteropBed& bed) {
  if (!bed.client.Capabilities().wait_for_ready) {
    WARN("wait_for_ready was not tried: this client has none");
    return;
  }
  const uint16_t port = FreePort();
  const auto client = bed.make_client("127.0.0.1:" + std::to_string(port));
  // With nobody there the channel is in its back-off afterwards, when other calls fail at once.
  CheckCode(client->Empty(InteropEmptyMethod::kEmptyCall), absl::StatusCode::kUnavailable);
  InteropServer late(bed.server.kind(), port);
  CheckOk(client->Empty(InteropEmptyMethod::kEmptyCall, {.wait_for_ready = true}));
  CHECK(late.CountPeers() == 1);
}

void MaxReceiveSize(InteropBed& bed) {
  const auto limit = static_cast<int>(bed.client.Capabilities().max_receive_bytes);
  SimpleRequest request;
  request.set_response_size(limit);  // And a few bytes around it.
  CheckCode(bed.client.Unary(request), absl::StatusCode::kResourceExhausted);
  // The connection is as good as before.
  constexpr int kAround = 16;
  request.set_response_size(limit - kAround);
  const InteropReply<SimpleResponse> reply = bed.client.Unary(request);
  CheckOk(reply);
  CHECK(IsZeros(reply.reply.payload().body(), static_cast<size_t>(limit - kAround)));
}

void MaxSendSize(InteropBed& bed) {
  // Both servers take 4 MiB, and say no before they have read more than that.
  constexpr size_t kServerLimit = size_t{4} << 20;
  SimpleRequest request;
  request.mutable_payload()->set_body(Zeros(kServerLimit));
  CheckCode(bed.client.Unary(request), absl::StatusCode::kResourceExhausted);
  CheckOk(bed.client.Empty(InteropEmptyMethod::kEmptyCall));
}

}  // namespace weft::inline v0::testing
