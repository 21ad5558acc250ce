// One call of a generated stub, carried over a Weft channel.
//
// gRPC C++ hands every operation of a call, in batches, to the interceptors of its channel; this
// one hijacks the call, so that nothing of it reaches gRPC's core (gRFC L7, "Hijacking"). A batch
// is shown twice: first with what it sends, then, after Proceed, with what it wants to receive, and
// it is complete when Proceed is called again. Between the two its `methods` may wait, and any
// thread may go on with them. A third time, when all is done, it wants nothing but Proceed.
//
//   first batch       unary: the message, and all it wants at once    → Channel::Start
//                     else                                            → a MessageStream
//   later             Write, WritesDone, Read, initial metadata, Finish, from several threads
//
// The status of a stream is for after its last message. Somebody who asks for it while nobody reads
// (reactors do when the call starts) is answered by a read of our own, one message ahead, which is
// kept for the next reader.
//
// Who waits where: the batches of the synchronous API lie on the stack of the thread that will wait
// for them. For those the thread waits here, woken by Weft, and finds its completion queue filled;
// one hand-off less. All others go on from the loop's thread.
#ifndef WEFT_LIB_GRPC_STUB_STUB_CALL_H_
#define WEFT_LIB_GRPC_STUB_STUB_CALL_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpc_stub/parent_watch.h"
#include "grpcpp/alarm.h"
#include "grpcpp/support/client_interceptor.h"
#include "grpcpp/support/interceptor.h"
#include "grpcpp/support/slice.h"
#include "weft/call_handle.h"
#include "weft/call_options.h"
#include "weft/channel.h"
#include "weft/grpc/context.h"
#include "weft/grpc/message_stream.h"
#include "weft/headers.h"
#include "weft/pending_call.h"
#include "weft/response.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace weft::inline v0::grpc {

// What the calls of one stub channel have in common.
struct StubSettings {
  std::shared_ptr<Channel> channel;
  CallOptions options;
  size_t max_request_bytes = 0;
  bool raw = false;  // messages are ByteBuffers
};

class StubCall : public std::enable_shared_from_this<StubCall> {
 public:
  using Batch = ::grpc::experimental::InterceptorBatchMethods;
  using Info = ::grpc::experimental::ClientRpcInfo;

  StubCall(std::shared_ptr<const StubSettings> settings, Info* info);
  ~StubCall();

  void WatchParent();
  // Whoever calls it holds a reference until it returns: with its last batch the call may be gone
  // for everybody else.
  void OnBatch(Batch* batch);

 private:
  // A message to be sent: one of the two.
  struct Message {
    const google::protobuf::MessageLite* typed = nullptr;
    std::string_view bytes = {};
    ::grpc::Slice keep = {};
  };
  // What a batch wants to receive.
  struct Wants {
    Batch* batch = nullptr;
    bool metadata = false;
    bool message = false;
    bool status = false;
  };

  void Cancel(absl::Status reason);

  void Begin(Batch* batch);
  void Launch(Batch* batch);
  absl::Status TakeContext(Batch* batch);
  absl::Status TakeMessage(Batch* batch, Message& message) const;

  void StartUnary(Wants wants, const Message& message);
  void FinishUnary(Wants wants, absl::StatusOr<Response> answer);

  void OpenStream(const Message& message, bool has_message, bool close);
  void Send(Batch* batch, bool has_message, bool close);
  void AfterWrite(Batch* batch, bool has_message, bool close, const absl::Status& status);

  static Wants WantsOf(Batch* batch);
  void Receive(Wants wants);
  void Read(Wants wants);
  void AfterRead(Wants wants, bool got);
  void Probe();
  void AfterProbe(bool got);
  void Deliver(Wants wants, std::string bytes);
  void AwaitStatus(Wants wants);
  void Advance();  // reads ahead, or finishes, where somebody waits for the status
  void WatchDeadline();
  void Expire();
  void Finish(Wants wants);
  void Complete(Wants wants, absl::Status status);
  void FillMetadata(Wants wants);

  const std::shared_ptr<const StubSettings> settings_;
  Info* const info_;
  const std::string method_;

  // Written while the call begins.
  CallOptions options_;
  Context context_;
  absl::Time deadline_ = absl::InfiniteFuture();
  Headers inherited_;
  Message first_;
  bool first_has_message_ = false;
  bool first_closes_ = false;

  std::string read_bytes_;  // of the one reader, where messages are ByteBuffers
  std::string details_;     // what the trailing metadata points into

  std::mutex mutex_;  // guards the rest; never held while gRPC is called
  Batch* first_batch_ = nullptr;
  bool hijacked_ = false;
  std::vector<Batch*> too_early_;  // came before the batch that begins the call
  bool cancelled_ = false;
  absl::Status reason_;                // why it was cancelled
  absl::Status failure_;               // found on this side; says more than the stream does
  PendingCall* waited_for_ = nullptr;  // a unary call whose caller waits here
  bool answered_ = false;
  bool open_ = false;  // stream_ is there
  Headers initial_;    // initial metadata, where nothing moves it any more
  bool has_initial_ = false;
  bool reading_ = false;
  bool probing_ = false;
  bool ended_ = false;  // a read said that there is no more
  bool finishing_ = false;
  std::optional<std::string> ahead_;  // a message that nobody has asked for yet
  std::string probe_bytes_;
  std::optional<Wants> reader_;    // waits for the probe
  std::optional<Wants> finisher_;  // waits for the status
  bool expired_ = false;
  std::unique_ptr<::grpc::Alarm> alarm_;  // while a message is kept that nobody asks for

  ParentWatch parent_;
  // Last: no callback of them runs once they are gone.
  CallHandle unary_;
  MessageStream stream_;
};

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_STUB_STUB_CALL_H_
