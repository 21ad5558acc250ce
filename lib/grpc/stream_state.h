// What a MessageStream is: a Stream, whose pieces it takes apart into messages.
#ifndef WEFT_LIB_GRPC_STREAM_STATE_H_
#define WEFT_LIB_GRPC_STREAM_STATE_H_

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "grpc/framing.h"
#include "grpc/message.h"
#include "weft/call_options.h"
#include "weft/channel.h"
#include "weft/grpc/context.h"
#include "weft/grpc/message_stream.h"
#include "weft/stream.h"

namespace weft::inline v0::grpc {

class MessageStream::State {
 public:
  State(Channel& channel, std::string_view method, std::optional<Outgoing> only_request,
        const CallOptions& options, Context* context);

  absl::Status Write(Outgoing message);
  void WriteThen(Outgoing message, StatusCallback done);
  absl::Status WritesDone();
  absl::Status InitialMetadata();
  void InitialMetadataThen(StatusCallback done);
  bool Read(Incoming to);
  void ReadThen(Incoming to, ReadCallback done);
  absl::Status Finish();
  void FinishThen(StatusCallback done);
  absl::Status FinishWith(Incoming reply);
  void FinishWithThen(Incoming reply, StatusCallback done);
  void Cancel() { stream_.Cancel(); }

 private:
  enum class Step { kMessage, kEnd, kNeedMore };

  // The reader's, one at a time.
  Step TakeMessage(Incoming to);
  bool AddPiece(std::optional<std::string> piece);  // false: that was the end
  void ReadMore(Incoming to, ReadCallback done);

  Compression compression() const {
    const bool off = context_ == nullptr || context_->compression == Compression::kNone;
    return off ? Compression::kNone : first_compression_;
  }

  // The end of the stream for a reason that is found here.
  void Fail(absl::Status status, bool from_peer);
  bool failed() const;
  // Looks at the head that has come: OK, or that it is no answer to a gRPC call.
  absl::Status TakeHead(const ResponseHead& head);
  // What came of a stream that ended with `status`.
  absl::Status End(absl::Status status);
  // What came of FinishWith.
  absl::Status EndWith(absl::Status status, size_t replies);
  absl::Status EndOfFailure(const absl::Status& status, const CallInfo& info) const;

  const CallOptions options_;
  Context* const context_;
  const Compression first_compression_;  // what the head said

  // The reader's.
  Deframer deframer_;
  absl::Status broken_;  // what follows in the body is no message
  std::optional<ResponseHead> head_;

  mutable std::mutex mutex_;  // guards the rest
  bool saw_head_ = false;
  absl::Status failure_;
  bool from_peer_ = false;  // failure_ is about what came
  absl::Status truncated_;

  Stream stream_;  // last: no callback of it runs once it is gone
};

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_STREAM_STATE_H_
