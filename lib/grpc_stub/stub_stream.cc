// The part of a StubCall that is for streams.
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/message_lite.h"
#include "grpc_stub/convert.h"
#include "grpc_stub/stub_call.h"
#include "grpc_stub/this_stack.h"

namespace weft::inline v0::grpc {

using google::protobuf::MessageLite;

void StubCall::OpenStream(const Message& message, bool has_message, bool close) {
  Channel& channel = *settings_->channel;
  MessageStream stream;
  if (!has_message || !close) {
    stream = MessageStream(channel, method_, options_, &context_);
  } else if (message.typed != nullptr) {
    stream = MessageStream(channel, method_, *message.typed, options_, &context_);
  } else {
    stream = MessageStream(channel, method_, message.bytes, options_, &context_);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stream_ = std::move(stream);
    open_ = true;
    if (cancelled_) stream_.Cancel();
  }
  if (close == has_message) return;
  if (close) {
    (void)stream_.WritesDone();
  } else if (message.typed != nullptr) {  // corked; whether it could be sent is for the status
    stream_.WriteThen(*message.typed, [](absl::Status) {});
  } else {
    stream_.WriteThen(message.bytes, [](absl::Status) {});
  }
}

// ---- writing ----

void StubCall::Send(Batch* batch, bool has_message, bool close) {
  bool open;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    open = open_;
  }
  Message message;
  absl::Status status;
  if (!open) {
    status = absl::CancelledError();
  } else if (has_message) {
    status = TakeMessage(batch, message);
  }
  if (!has_message || !status.ok()) {
    AfterWrite(batch, has_message, close, status);
  } else if (OnThisStack(batch)) {
    status =
        message.typed != nullptr ? stream_.Write(*message.typed) : stream_.Write(message.bytes);
    AfterWrite(batch, true, close, status);
  } else {
    auto done = [this, batch, close](absl::Status written) {
      AfterWrite(batch, true, close, written);
    };
    if (message.typed != nullptr) {
      stream_.WriteThen(*message.typed, std::move(done));
    } else {
      stream_.WriteThen(message.bytes, std::move(done));
    }
  }
}

void StubCall::AfterWrite(Batch* batch, bool has_message, bool close, const absl::Status& status) {
  if (!status.ok()) {
    if (has_message) batch->FailHijackedSendMessage();
  } else if (close) {
    (void)stream_.WritesDone();  // an error says that the stream has ended: that is for the status
  }
  batch->Proceed();
}

// ---- reading ----

void StubCall::Receive(Wants wants) {
  if (!wants.metadata && !wants.message && !wants.status) {
    wants.batch->Proceed();
    return;
  }
  bool open;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    open = open_;
  }
  if (!open) {
    Complete(wants, absl::OkStatus());  // there is a failure
  } else if (wants.message) {
    Read(wants);  // before the first message there is the initial metadata
  } else if (wants.status) {
    AwaitStatus(wants);
  } else if (OnThisStack(wants.batch)) {
    (void)stream_.InitialMetadata();
    Complete(wants, absl::OkStatus());
  } else {
    stream_.InitialMetadataThen([this, wants](absl::Status) { Complete(wants, absl::OkStatus()); });
  }
}

void StubCall::Read(Wants wants) {
  std::optional<std::string> ahead;
  bool ended;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ended = ended_;
    if (ahead_.has_value()) {
      ahead = std::exchange(ahead_, std::nullopt);
    } else if (probing_) {
      reader_ = wants;
      return;
    } else if (!ended) {
      reading_ = true;
    }
  }
  if (ahead.has_value()) return Deliver(wants, *std::move(ahead));
  if (ended) return AfterRead(wants, false);
  const bool here = OnThisStack(wants.batch);
  if (settings_->raw) {
    if (here) {
      if (!stream_.Read(&read_bytes_)) return AfterRead(wants, false);
      return Deliver(wants, std::move(read_bytes_));
    }
    stream_.ReadThen(&read_bytes_, [this, wants](bool got) {
      if (!got) return AfterRead(wants, false);
      Deliver(wants, std::move(read_bytes_));
    });
    return;
  }
  auto* const to = static_cast<MessageLite*>(wants.batch->GetRecvMessage());
  if (here) return AfterRead(wants, stream_.Read(to));
  stream_.ReadThen(to, [this, wants](bool got) { AfterRead(wants, got); });
}

void StubCall::Deliver(Wants wants, std::string bytes) {
  void* const to = wants.batch->GetRecvMessage();
  if (settings_->raw) {
    *static_cast<::grpc::ByteBuffer*>(to) = ToByteBuffer(std::move(bytes));
    return AfterRead(wants, true);
  }
  auto* const message = static_cast<MessageLite*>(to);
  const bool parsed = message->ParseFromString(bytes);
  if (!parsed) {
    std::lock_guard<std::mutex> lock(mutex_);
    failure_ =
        absl::InternalError(absl::StrCat("the message received is no ", message->GetTypeName()));
    stream_.Cancel();
  }
  AfterRead(wants, parsed);
}

void StubCall::AfterRead(Wants wants, bool got) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    reading_ = false;
    if (!got) ended_ = true;
    if (wants.status) finishing_ = true;  // the one reply of a call that has one
  }
  if (!got) wants.batch->FailHijackedRecvMessage();
  wants.message = false;
  if (wants.status) return Finish(wants);
  Complete(wants, absl::OkStatus());
  Advance();
}

// ---- the status ----

void StubCall::AwaitStatus(Wants wants) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    finisher_ = wants;
  }
  Advance();
}

void StubCall::Advance() {
  std::optional<Wants> finish;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!finisher_.has_value() || finishing_ || reading_ || probing_) return;
    if (ended_ || cancelled_ || expired_) {
      finishing_ = true;
      finish = finisher_;
    } else if (ahead_.has_value()) {
      WatchDeadline();
      return;
    } else {
      probing_ = true;
    }
  }
  finish.has_value() ? Finish(*finish) : Probe();
}

// With a message kept, nothing is being read, and so nobody would hear of the deadline.
void StubCall::WatchDeadline() {
  if (deadline_ == absl::InfiniteFuture() || alarm_ != nullptr) return;
  alarm_ = std::make_unique<::grpc::Alarm>();
  alarm_->Set(ToGrpcTime(deadline_), [weak = weak_from_this()](bool) {
    if (const auto call = weak.lock()) call->Expire();
  });
}

void StubCall::Expire() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    expired_ = true;
  }
  Advance();
}

void StubCall::Probe() {
  stream_.ReadThen(&probe_bytes_, [this](bool got) { AfterProbe(got); });
}

void StubCall::AfterProbe(bool got) {
  std::optional<Wants> reader;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    probing_ = false;
    if (!got) ended_ = true;
    reader = std::exchange(reader_, std::nullopt);
    if (got && !reader.has_value()) ahead_ = std::move(probe_bytes_);
  }
  if (!reader.has_value()) return Advance();
  if (!got) return AfterRead(*reader, false);
  Deliver(*reader, std::move(probe_bytes_));
}

void StubCall::Finish(Wants wants) {
  if (OnThisStack(wants.batch)) return Complete(wants, stream_.Finish());
  stream_.FinishThen([this, wants](absl::Status status) { Complete(wants, std::move(status)); });
}

}  // namespace weft::inline v0::grpc
