#include <utility>

#include "absl/time/clock.h"
#include "grpc_interop/cases.h"
#include "grpc_interop/checks.h"
#include "grpc_interop/wire.h"

namespace weft::inline v0::testing {
namespace {

// Of a request and of the answer to it.
constexpr std::pair<size_t, size_t> kPingPong[] = {
    {27182, 31415}, {8, 9}, {1828, 2653}, {45904, 58979}};

StreamingInputCallRequest InputOf(size_t size) {
  StreamingInputCallRequest request;
  request.mutable_payload()->set_body(Zeros(size));
  return request;
}

StreamingOutputCallRequest DuplexOf(size_t size, size_t response_size) {
  StreamingOutputCallRequest request;
  request.add_response_parameters()->set_size(static_cast<int>(response_size));
  request.mutable_payload()->set_body(Zeros(size));
  return request;
}

// A server that will answer when the case is long over.
StreamingOutputCallRequest AskForSleep() {
  StreamingOutputCallRequest request = DuplexOf(27182, 31415);
  request.mutable_response_parameters(0)->set_interval_us(
      static_cast<int>(absl::ToInt64Microseconds(2 * kInteropPatience)));
  return request;
}

}  // namespace

void ClientStreaming(InteropBed& bed) {
  const auto stream = bed.client.StreamingInput();
  for (const size_t size : {27182, 8, 1828, 45904}) CHECK(stream->Write(InputOf(size)));
  CHECK(stream->HalfClose());
  CheckOk(stream->Finish());
  CHECK(stream->reply().aggregated_payload_size() == 74922);
}

void ServerStreaming(InteropBed& bed) {
  StreamingOutputCallRequest request;
  for (const auto& sizes : kPingPong) {
    request.add_response_parameters()->set_size(static_cast<int>(sizes.second));
  }
  const auto stream = bed.client.StreamingOutput(request);
  StreamingOutputCallResponse response;
  for (const auto& sizes : kPingPong) {
    REQUIRE(stream->Read(response));
    CHECK(IsZeros(response.payload().body(), sizes.second));
  }
  CHECK_FALSE(stream->Read(response));
  CheckOk(stream->Finish());
}

void ClientCompressedStreaming(InteropBed& bed) {
  CheckOk(bed.client.Empty(InteropEmptyMethod::kEmptyCall));
  StreamingInputCallRequest first = InputOf(27182);
  first.mutable_expect_compressed()->set_value(true);
  {
    const auto probe = bed.client.StreamingInput();
    probe->Write(first);  // True or not: the server may have ended the call by now.
    probe->HalfClose();
    CheckCode(probe->Finish(), bed.server.sees_compression() ? absl::StatusCode::kInvalidArgument
                                                             : absl::StatusCode::kUnimplemented);
  }
  if (!bed.server.sees_compression()) first.clear_expect_compressed();

  StreamingInputCallRequest second = InputOf(45904);
  const bool uncompressed = bed.client.Capabilities().message_without_compression;
  if (uncompressed || bed.server.sees_compression())
    second.mutable_expect_compressed()->set_value(!uncompressed);
  if (!uncompressed) WARN("a message without compression was not tried: this client has none");

  const auto stream = bed.client.StreamingInput({.compress = true});
  const WireCount before = CountWire(bed.server.port());
  CHECK(stream->Write(first));
  CHECK(stream->Write(second, !uncompressed));
  CHECK(stream->HalfClose());
  CheckOk(stream->Finish());
  CHECK(stream->reply().aggregated_payload_size() == 73086);
  const uint64_t sent = WireSince(before, bed.server.port()).sent;
  CHECK(sent < (uncompressed ? 45904 + kLittle : kLittle));
  if (uncompressed) CHECK(sent > 45904);
}

void ServerCompressedStreaming(InteropBed& bed) {
  CheckOk(bed.client.Empty(InteropEmptyMethod::kEmptyCall));
  StreamingOutputCallRequest request;
  request.add_response_parameters()->set_size(31415);
  request.add_response_parameters()->set_size(92653);
  request.mutable_response_parameters(0)->mutable_compressed()->set_value(true);
  request.mutable_response_parameters(1)->mutable_compressed()->set_value(false);
  StreamingOutputCallResponse response;
  if (!bed.server.answers_compressed()) {
    WARN("compressed answers were not tried: " << NameOf(bed.server.kind()) << " has none");
    const auto refused = bed.client.StreamingOutput(request);
    CHECK_FALSE(refused->Read(response));
    CheckCode(refused->Finish(), absl::StatusCode::kUnimplemented);
    request.mutable_response_parameters(0)->clear_compressed();
  }
  const WireCount before = CountWire(bed.server.port());
  const auto stream = bed.client.StreamingOutput(request);
  REQUIRE(stream->Read(response));
  CHECK(IsZeros(response.payload().body(), 31415));
  REQUIRE(stream->Read(response));
  CHECK(IsZeros(response.payload().body(), 92653));
  CHECK_FALSE(stream->Read(response));
  CheckOk(stream->Finish());
  const uint64_t received = WireSince(before, bed.server.port()).received;
  CHECK(received > 92653);
  if (bed.server.answers_compressed()) CHECK(received < 92653 + kLittle);
}

void PingPong(InteropBed& bed) {
  const auto stream = bed.client.FullDuplex();
  StreamingOutputCallResponse response;
  for (const auto& [size, response_size] : kPingPong) {
    REQUIRE(stream->Write(DuplexOf(size, response_size)));
    REQUIRE(stream->Read(response));
    CHECK(IsZeros(response.payload().body(), response_size));
  }
  CHECK(stream->HalfClose());
  CHECK_FALSE(stream->Read(response));
  CheckOk(stream->Finish());
}

void HalfDuplex(InteropBed& bed) {
  const auto stream = bed.client.HalfDuplex();
  StreamingOutputCallResponse response;
  for (const auto& [size, response_size] : kPingPong) {
    REQUIRE(stream->Write(DuplexOf(size, response_size)));
  }
  CHECK(stream->HalfClose());
  for (const auto& sizes : kPingPong) {
    REQUIRE(stream->Read(response));
    CHECK(IsZeros(response.payload().body(), sizes.second));
  }
  CHECK_FALSE(stream->Read(response));
  CheckOk(stream->Finish());
}

void EmptyStream(InteropBed& bed) {
  const auto stream = bed.client.FullDuplex();
  CHECK(stream->HalfClose());
  StreamingOutputCallResponse response;
  CHECK_FALSE(stream->Read(response));
  CheckOk(stream->Finish());

  const auto input = bed.client.StreamingInput();
  CHECK(input->HalfClose());
  CheckOk(input->Finish());
  CHECK(input->reply().aggregated_payload_size() == 0);

  const auto output = bed.client.StreamingOutput({});
  CHECK_FALSE(output->Read(response));
  CheckOk(output->Finish());
}

void TimeoutOnSleepingServer(InteropBed& bed) {
  CheckOk(bed.client.Empty(InteropEmptyMethod::kEmptyCall));
  // The first may end before it has reached the server, the second does not.
  for (const absl::Duration timeout : {absl::Milliseconds(1), absl::Milliseconds(200)}) {
    const absl::Time start = absl::Now();
    const auto stream = bed.client.FullDuplex({.timeout = timeout});
    stream->Write(AskForSleep());  // True or not: the time may be up.
    StreamingOutputCallResponse response;
    CHECK_FALSE(stream->Read(response));
    CheckCode(stream->Finish(), absl::StatusCode::kDeadlineExceeded);
    // Clocks and timers are a little apart, and the server's may end the call too.
    CHECK(absl::Now() - start > timeout - absl::Milliseconds(20));
    CHECK(absl::Now() - start < kInteropPatience);
  }
  const auto output =
      bed.client.StreamingOutput(AskForSleep(), {.timeout = absl::Milliseconds(50)});
  StreamingOutputCallResponse response;
  CHECK_FALSE(output->Read(response));
  CheckCode(output->Finish(), absl::StatusCode::kDeadlineExceeded);
}

void CancelAfterBegin(InteropBed& bed) {
  const auto input = bed.client.StreamingInput();
  input->Cancel();
  CheckCode(input->Finish(), absl::StatusCode::kCancelled);

  const auto duplex = bed.client.FullDuplex();
  duplex->Cancel();
  CheckCode(duplex->Finish(), absl::StatusCode::kCancelled);
  // Others of the connection do not notice.
  CheckOk(bed.client.Empty(InteropEmptyMethod::kEmptyCall));
}

void CancelAfterFirstResponse(InteropBed& bed) {
  const auto stream = bed.client.FullDuplex();
  REQUIRE(stream->Write(DuplexOf(27182, 31415)));
  StreamingOutputCallResponse response;
  REQUIRE(stream->Read(response));
  CHECK(IsZeros(response.payload().body(), 31415));
  stream->Cancel();
  CHECK_FALSE(stream->Read(response));
  CheckCode(stream->Finish(), absl::StatusCode::kCancelled);

  // Dropped in the middle of its answers: the next call has its own.
  StreamingOutputCallRequest request;
  for (int i = 0; i < 100; ++i) request.add_response_parameters()->set_size(58979);
  {
    const auto dropped = bed.client.StreamingOutput(request);
    REQUIRE(dropped->Read(response));
  }
  PingPong(bed);
}

}  // namespace weft::inline v0::testing
