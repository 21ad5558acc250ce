// Stream: a call whose request and response bodies flow piece by piece, in both directions at once.
//
// Back-pressure: Write waits while 64 KiB that the peer has not taken are waiting; what the peer
// sends is held until it is read, at most one stream window of it (1 MiB to begin with), and only
// then may the peer send more. A stream that is not read holds up nobody but itself. Three forms of
// each operation: blocking, with a callback (…Then), and awaitable (…Async). At most one read and
// one write may be waiting at a time; a second one fails with FAILED_PRECONDITION. Reads and writes
// may come from different threads. Callbacks run where the call's callbacks run
// (CallOptions::executor), never inside the call that passes them. The blocking forms are refused
// on a loop thread with FAILED_PRECONDITION. Destroying a stream that has not ended cancels it; no
// callback of it runs once the destructor has returned.
#ifndef WEFT_STREAM_H_
#define WEFT_STREAM_H_

#include <coroutine>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/headers.h"
#include "weft/response.h"

namespace weft::inline v0 {

namespace call {
class StreamCall;
}  // namespace call

class Stream {
 public:
  using HeadCallback = absl::AnyInvocable<void(absl::StatusOr<ResponseHead>) &&>;
  // A piece of the body; nothing at its end, whatever the reason: Finish tells.
  using ReadCallback = absl::AnyInvocable<void(std::optional<std::string>) &&>;
  using WriteCallback = absl::AnyInvocable<void(absl::Status) &&>;

  Stream() = default;
  Stream(Stream&& other) noexcept : call_(other.call_) { other.call_ = nullptr; }
  Stream& operator=(Stream&& other) noexcept;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  // Status and headers of the answer, once they are there. May be asked any number of times.
  absl::StatusOr<ResponseHead> Head();
  void HeadThen(HeadCallback done);
  // The same without waiting: nothing where it is not there (yet).
  std::optional<ResponseHead> TryHead() const;

  // The next piece of the response body, as it came; nothing at its end. Returning a piece lets the
  // peer send as much.
  std::optional<std::string> Read();
  void ReadThen(ReadCallback done);

  // Takes the bytes (copied) and returns when there is room for more. An error says that the stream
  // has ended; Finish says why. OK does not mean that the peer has them.
  absl::Status Write(std::string_view bytes);
  void WriteThen(std::string_view bytes, WriteCallback done);
  // Half-close: the request body is complete, `trailers` follow it. Never waits. Once; later writes
  // fail.
  absl::Status WritesDone(Headers trailers = {});

  // Waits for the end and says how it was. What has not been read is thrown away; a request body
  // that was not completed is ended first.
  absl::Status Finish();
  void FinishThen(WriteCallback done);
  // After the end: the trailers of the answer, and what the client did.
  Headers Trailers() const;
  CallInfo Info() const;

  // Ends the stream with CANCELLED, at once. Any thread, any time.
  void Cancel();

  // auto piece = co_await stream.ReadAsync(); with any coroutine type. Destroying the suspended
  // coroutine is fine as long as the stream is destroyed with it or before it.
  template <class Result, class Begin>
  class Awaitable {
   public:
    explicit Awaitable(Begin begin) : begin_(std::move(begin)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
      std::move(begin_)([this, handle](Result result) {
        result_.emplace(std::move(result));
        handle.resume();
      });
    }
    Result await_resume() { return std::move(*result_); }

   private:
    Begin begin_;
    std::optional<Result> result_;
  };
  auto HeadAsync() {
    return MakeAwaitable<absl::StatusOr<ResponseHead>>(
        [this](auto done) { HeadThen(std::move(done)); });
  }
  auto ReadAsync() {
    return MakeAwaitable<std::optional<std::string>>(
        [this](auto done) { ReadThen(std::move(done)); });
  }
  auto WriteAsync(std::string_view bytes) {  // `bytes` must live until the await is over
    return MakeAwaitable<absl::Status>(
        [this, bytes](auto done) { WriteThen(bytes, std::move(done)); });
  }
  auto FinishAsync() {
    return MakeAwaitable<absl::Status>([this](auto done) { FinishThen(std::move(done)); });
  }

  explicit operator bool() const { return call_ != nullptr; }

 private:
  friend class Channel;
  explicit Stream(call::StreamCall* call) : call_(call) {}  // takes over one reference
  template <class Result, class Begin>
  static Awaitable<Result, Begin> MakeAwaitable(Begin begin) {
    return Awaitable<Result, Begin>(std::move(begin));
  }
  call::StreamCall* call_ = nullptr;
};

}  // namespace weft::inline v0

#endif  // WEFT_STREAM_H_
