// InteropClient: what the interop cases want of a client of the interop service, whatever library
// and whichever of its interfaces is below. The messages are the generated ones; nothing else of
// gRPC is in here.
//
//   InteropReply<SimpleResponse> reply = client.Unary(request, {.timeout = absl::Seconds(1)});
//   CHECK(reply.code == absl::StatusCode::kOk);
//
//   auto stream = client.FullDuplex();
//   CHECK(stream->Write(request));
//   CHECK(stream->Read(response));
//   stream->HalfClose();
//   CHECK_FALSE(stream->Read(response));
//   CHECK(stream->Finish().code == absl::StatusCode::kOk);
#ifndef WEFT_TEST_GRPC_INTEROP_CLIENT_H_
#define WEFT_TEST_GRPC_INTEROP_CLIENT_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpc_interop/interop.pb.h"

namespace weft::inline v0::testing {

using ::grpc::testing::SimpleRequest;
using ::grpc::testing::SimpleResponse;
using ::grpc::testing::StreamingInputCallRequest;
using ::grpc::testing::StreamingInputCallResponse;
using ::grpc::testing::StreamingOutputCallRequest;
using ::grpc::testing::StreamingOutputCallResponse;

// Names in lower case; values of names in -bin are the bytes themselves, not base64.
using InteropMetadata = std::multimap<std::string, std::string>;

struct InteropCallOptions {
  // What fails is not to hang; absl::InfiniteDuration() is a call without a deadline.
  absl::Duration timeout = absl::Seconds(60);
  InteropMetadata metadata = {};
  // With gzip; in a stream every message for which Write does not say otherwise.
  bool compress = false;
  bool wait_for_ready = false;
};

// How a call ended.
struct InteropOutcome {
  absl::StatusCode code = absl::StatusCode::kUnknown;
  std::string message = {};
  std::string details = {};  // the bytes of grpc-status-details-bin
  InteropMetadata initial = {};
  InteropMetadata trailing = {};

  bool ok() const { return code == absl::StatusCode::kOk; }
};

template <class Reply>
struct InteropReply : InteropOutcome {
  Reply reply = {};
};

// Which method to call with a message that is empty.
enum class InteropEmptyMethod { kEmptyCall, kUnimplementedCall, kUnimplementedService };

// What not every client can do, and the cases go round then.
struct InteropCapabilities {
  // A message of a compressed stream can go uncompressed.
  bool message_without_compression = true;
  bool wait_for_ready = true;
  // The largest message that it takes.
  size_t max_receive_bytes = size_t{4} << 20;
};

// A call in the course of its messages. Every step blocks until it is taken. One thread may write
// while another reads, and Cancel may come from any; what is destroyed before Finish is cancelled.
class InteropStream {
 public:
  virtual ~InteropStream() = default;
  virtual void Cancel() = 0;
  // Waits for the end of the call. Once; a stream that has Read has to be read to its end before,
  // or cancelled.
  virtual InteropOutcome Finish() = 0;
};

class InteropInputStream : public InteropStream {
 public:
  // False: the call has ended, and Finish says how.
  virtual bool Write(const StreamingInputCallRequest& request, bool compress = true) = 0;
  virtual bool HalfClose() = 0;
  // After Finish.
  virtual const StreamingInputCallResponse& reply() const = 0;
};

class InteropOutputStream : public InteropStream {
 public:
  // False: there is no further message.
  virtual bool Read(StreamingOutputCallResponse& response) = 0;
};

class InteropDuplexStream : public InteropStream {
 public:
  virtual bool Write(const StreamingOutputCallRequest& request, bool compress = true) = 0;
  virtual bool HalfClose() = 0;
  virtual bool Read(StreamingOutputCallResponse& response) = 0;
};

// Thread-safe. Streams end before their client.
class InteropClient {
 public:
  virtual ~InteropClient() = default;

  virtual InteropCapabilities Capabilities() const { return {}; }

  virtual InteropOutcome Empty(InteropEmptyMethod method,
                               const InteropCallOptions& options = {}) = 0;
  virtual InteropReply<SimpleResponse> Unary(const SimpleRequest& request,
                                             const InteropCallOptions& options = {}) = 0;
  virtual std::unique_ptr<InteropInputStream> StreamingInput(
      const InteropCallOptions& options = {}) = 0;
  virtual std::unique_ptr<InteropOutputStream> StreamingOutput(
      const StreamingOutputCallRequest& request, const InteropCallOptions& options = {}) = 0;
  virtual std::unique_ptr<InteropDuplexStream> FullDuplex(
      const InteropCallOptions& options = {}) = 0;
  virtual std::unique_ptr<InteropDuplexStream> HalfDuplex(
      const InteropCallOptions& options = {}) = 0;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_CLIENT_H_
