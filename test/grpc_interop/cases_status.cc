#include "grpc_interop/cases.h"
#include "grpc_interop/checks.h"

namespace weft::inline v0::testing {
namespace {

// Asks for that status with a unary call and with each kind of stream that can be asked, and checks
// that it is what they end with.
void CheckStatus(InteropBed& bed, absl::StatusCode code, const std::string& message,
                 const std::string& details = "") {
  const auto fill = [&](::grpc::testing::EchoStatus& status) {
    status.set_code(static_cast<int>(code));
    status.set_message(message);
    status.set_details(details);
  };
  const auto check = [&](const InteropOutcome& outcome) {
    CheckCode(outcome, code);
    CHECK(outcome.message == message);
    CHECK(outcome.details == details);
  };
  SimpleRequest unary;
  fill(*unary.mutable_response_status());
  check(bed.client.Unary(unary));

  StreamingOutputCallRequest request;
  fill(*request.mutable_response_status());
  StreamingOutputCallResponse response;
  const auto duplex = bed.client.FullDuplex();
  CHECK(duplex->Write(request));
  duplex->HalfClose();  // True or not: the call may have ended by now.
  CHECK_FALSE(duplex->Read(response));
  check(duplex->Finish());

  // After a message, so that the status comes in trailers of its own.
  request.add_response_parameters()->set_size(9);
  const auto output = bed.client.StreamingOutput(request);
  REQUIRE(output->Read(response));
  CHECK(IsZeros(response.payload().body(), 9));
  CHECK_FALSE(output->Read(response));
  check(output->Finish());
}

}  // namespace

void StatusCodeAndMessage(InteropBed& bed) {
  CheckStatus(bed, absl::StatusCode::kUnknown, "test status message");
}

void SpecialStatusMessage(InteropBed& bed) {
  // A face of three bytes and a devil of four.
  CheckStatus(bed, absl::StatusCode::kUnknown,
              "\t\ntest with whitespace\r\nand Unicode BMP \xe2\x98\xba and non-BMP "
              "\xf0\x9f\x98\x88\t\n");
  CheckStatus(bed, absl::StatusCode::kInvalidArgument, "100% of %41, %zz and %");
}

void StatusDetails(InteropBed& bed) {
  // A google.rpc.Status by hand: {code: 3, message: "no", details: [bytes that are no text]}.
  const std::string details("\x08\x03\x12\x02no\x1a\x04\x12\x02\x00\xff", 12);
  CheckStatus(bed, absl::StatusCode::kInvalidArgument, "no", details);
}

void AllStatusCodes(InteropBed& bed) {
  for (int code = 1; code <= 16; ++code) {
    CheckStatus(bed, static_cast<absl::StatusCode>(code), "code " + std::to_string(code));
  }
}

void UnimplementedMethod(InteropBed& bed) {
  CheckCode(bed.client.Empty(InteropEmptyMethod::kUnimplementedCall),
            absl::StatusCode::kUnimplemented);
}

void UnimplementedServiceCase(InteropBed& bed) {
  CheckCode(bed.client.Empty(InteropEmptyMethod::kUnimplementedService),
            absl::StatusCode::kUnimplemented);
}

}  // namespace weft::inline v0::testing
