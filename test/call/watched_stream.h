// WatchedStream: a stream in a simulation whose head, pieces and end are asked for at once, and
// counted.
#ifndef WEFT_TEST_CALL_WATCHED_STREAM_H_
#define WEFT_TEST_CALL_WATCHED_STREAM_H_

#include <optional>
#include <string>
#include <utility>

#include "support/sim_env.h"
#include "weft/weft.h"

namespace weft::inline v0::testing {

// Stays where it is.
class WatchedStream {
 public:
  WatchedStream(SimEnv& env, Channel& channel, Request request, CallOptions options,
                bool end_of_request = false)
      : env_(env),
        started_(env.Now()),
        bytes_written_(request.body.size()),
        stream_(channel.Open(std::move(request), options, end_of_request)) {
    stream_.HeadThen([this](absl::StatusOr<ResponseHead> came) {
      ++heads_;
      head_ = std::move(came);
    });
    Read();
  }
  WatchedStream(const WatchedStream&) = delete;
  WatchedStream& operator=(const WatchedStream&) = delete;

  Stream& stream() { return stream_; }
  void Write(std::string_view bytes) {
    ++asked_;
    bytes_written_ += bytes.size();
    stream_.WriteThen(bytes, [this](absl::Status status) {
      ++written_;
      last_write_ = std::move(status);
    });
  }
  void Drop() { stream_ = Stream(); }

  bool done() const { return end_.has_value(); }
  const absl::Status& end() const { return end_.value(); }
  CallError error() const { return GetCallError(end()).value_or(CallError{}); }
  base::MonoDuration took() const { return ended_ - started_; }
  const std::optional<absl::StatusOr<ResponseHead>>& head() const { return head_; }
  const std::string& body() const { return body_; }
  int written() const { return written_; }
  bool writing() const { return asked_ != written_; }
  size_t bytes_written() const { return bytes_written_; }
  const absl::Status& last_write() const { return last_write_; }
  // So many heads, ends of the body and ends of the stream were told; each is to come once.
  int heads() const { return heads_; }
  int ends_of_body() const { return ends_of_body_; }
  int ends() const { return ends_; }

 private:
  void Read() {
    stream_.ReadThen([this](std::optional<std::string> piece) {
      if (piece.has_value()) {
        body_ += *piece;
        Read();
        return;
      }
      ++ends_of_body_;
      stream_.FinishThen([this](absl::Status status) {
        ++ends_;
        ended_ = env_.Now();
        end_ = std::move(status);
      });
    });
  }

  SimEnv& env_;
  const base::MonoTime started_;
  size_t bytes_written_;
  Stream stream_;
  std::optional<absl::StatusOr<ResponseHead>> head_;
  std::string body_;
  std::optional<absl::Status> end_;
  base::MonoTime ended_;
  absl::Status last_write_;
  int asked_ = 0;
  int written_ = 0;
  int heads_ = 0;
  int ends_of_body_ = 0;
  int ends_ = 0;
};

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_CALL_WATCHED_STREAM_H_
