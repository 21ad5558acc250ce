// What a RogueConnection sends; rogue_connection.cc has what it receives.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "support/rogue_connection.h"
#include "support/sim_env.h"

namespace weft::inline v0::testing {
namespace {

constexpr uint32_t kDefaultFrameSize = 16384;

}  // namespace

RogueAnswer RogueAnswer::Grpc(std::string_view message, int grpc_status) {
  return {.headers = {{"content-type", "application/grpc"}},
          .body = GrpcMessage(message),
          .trailers = {{"grpc-status", std::to_string(grpc_status)}}};
}

RogueConnection::Batch::~Batch() {
  if (--of_.batches_ > 0) return;
  for (uint32_t id : std::exchange(of_.done_, {})) {
    of_.streams_.erase(id);
    of_.requests_.erase(id);
  }
  of_.WriteOutput();
  if (of_.close_when_idle_ && of_.open_ == 0 && of_.stream_) of_.stream_.Close();
}

void RogueConnection::WriteOutput() {
  if (!stream_) return;
  const std::string output = TakeOutput();
  if (!output.empty()) stream_.Write(output);
}

// Frames --------------------------------------------------------------------------------------

void RogueConnection::SendRaw(std::string_view bytes) {
  Batch batch(*this);
  if (!closed_) output_.append(bytes);
}

void RogueConnection::Send(const Frame& frame) {
  Batch batch(*this);
  SendRaw(Encode(frame));
  Account(frame);
}

void RogueConnection::Account(const Frame& frame) {
  const auto found = streams_.find(frame.stream);
  Stream* const stream = found == streams_.end() ? nullptr : &found->second;
  switch (frame.type) {
    case kData:
      send_window_ -= static_cast<int64_t>(frame.payload.size());
      if (stream != nullptr) stream->send_window -= static_cast<int64_t>(frame.payload.size());
      [[fallthrough]];
    case kHeaders:
      if (stream == nullptr || !frame.has(kEndStream)) return;
      stream->server_ended = true;
      requests_[frame.stream].answered = true;
      return MaybeClosed(frame.stream);
    case kRstStream:
      if (stream == nullptr) return;
      stream->reset = true;
      return MaybeClosed(frame.stream);
    case kSettings:
      if (!frame.has(kAck)) settings_sent_.push_back(ReadSettings(frame.payload));
      return;
    case kWindowUpdate:
      if (frame.stream == 0) receive_window_ += ReadU32(frame.payload);
      if (stream != nullptr) stream->receive_window += ReadU32(frame.payload);
      return;
    case kGoaway:
      return AccountGoaway(ReadU32(frame.payload) & 0x7fffffff);
    default:
      return;
  }
}

// Streams above the last one are not processed, which the client takes for their end.
void RogueConnection::AccountGoaway(uint32_t last_stream) {
  goaway_last_ = std::min(goaway_last_, last_stream);
  for (auto i = streams_.upper_bound(goaway_last_); i != streams_.end(); ++i) {
    if (i->second.client_ended && i->second.server_ended) continue;
    i->second.reset = true;
    requests_[i->first].ignored = true;
    MaybeClosed(i->first);
  }
}

void RogueConnection::Drain(base::MonoDuration wait) {
  SendGoaway(0x7fffffff);
  After(wait, [this] {
    Batch batch(*this);
    SendGoaway(last_stream_);
    close_when_idle_ = true;
  });
}

void RogueConnection::After(base::MonoDuration delay, std::function<void()> function) {
  if (env_ == nullptr || delay <= base::MonoDuration(0)) return function();
  env_->After(delay, [weak = std::weak_ptr<bool>(alive_), function = std::move(function)] {
    if (weak.lock() != nullptr) function();
  });
}

// Answers -------------------------------------------------------------------------------------

void RogueConnection::Answer(uint32_t stream, RogueAnswer answer) {
  const base::MonoDuration delay = answer.delay;
  After(delay, [this, stream, answer = std::move(answer)] { AnswerNow(stream, answer); });
}

void RogueConnection::AnswerNow(uint32_t id, const RogueAnswer& answer) {
  Batch batch(*this);
  const auto found = streams_.find(id);
  if (found == streams_.end() || found->second.reset || found->second.server_ended) return;
  if (answer.head) {
    for (const auto& [status, headers] : answer.informational) SendHead(id, status, headers);
    HeaderList headers = answer.headers;
    const std::string_view x_id = requests_[id].id();
    if (!x_id.empty() && Find(headers, "x-id").empty()) headers.emplace_back("x-id", x_id);
    const bool more = !answer.body.empty() || !answer.trailers.empty();
    SendHead(id, answer.status, headers, answer.end && !more);
    if (answer.piece > 0) return SendPieces(id, answer, 0);
    found->second.body += answer.body;
  }
  FinishAnswer(id, answer);
}

void RogueConnection::SendPieces(uint32_t id, const RogueAnswer& answer, size_t from) {
  Batch batch(*this);
  const auto found = streams_.find(id);
  if (found == streams_.end() || found->second.reset) return;
  const std::string_view rest = std::string_view(answer.body).substr(from);
  if (rest.size() <= answer.piece) {
    found->second.body += rest;
    return FinishAnswer(id, answer);
  }
  SendBody(id, rest.substr(0, answer.piece));
  from += answer.piece;
  After(answer.gap, [this, id, answer, from] { SendPieces(id, answer, from); });
}

void RogueConnection::FinishAnswer(uint32_t id, const RogueAnswer& answer) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  if (answer.head) {
    stream.trailers = answer.trailers;
    stream.end_after_body = answer.end;
  }
  stream.reset_after_body = answer.reset;
  sending_.insert(id);
  Flush();
}

void RogueConnection::SendHead(uint32_t id, int status, const HeaderList& headers, bool end) {
  HeaderList all = {{":status", std::to_string(status)}};
  all.insert(all.end(), headers.begin(), headers.end());
  SendBlock(id, all, end);
}

void RogueConnection::SendBlock(uint32_t id, const HeaderList& headers, bool end) {
  Batch batch(*this);
  const std::string block = HpackEncode(headers);
  const size_t most = ClientSetting(kMaxFrameSize, kDefaultFrameSize);
  const uint8_t flags = end ? kEndStream : 0;
  Frame first = HeadersFrame(id, std::string_view(block).substr(0, most), flags);
  if (block.size() <= most) first.flags |= kEndHeaders;
  // The end counts when all of it is out: a stream is not to be forgotten in between.
  SendRaw(Encode(first));
  for (size_t from = most; from < block.size(); from += most) {
    const bool last = from + most >= block.size();
    SendRaw(Encode(
        ContinuationFrame(id, std::string_view(block).substr(from, most), last ? kEndHeaders : 0)));
  }
  Account(first);
}

void RogueConnection::SendBody(uint32_t id, std::string_view bytes, bool end) {
  Batch batch(*this);
  const auto found = streams_.find(id);
  if (found == streams_.end() || found->second.reset) {
    if (!bytes.empty() || end) Send(DataFrame(id, bytes, end ? kEndStream : 0));
    return;
  }
  found->second.body.append(bytes);
  if (end) found->second.end_after_body = true;
  sending_.insert(id);
  Flush();
}

void RogueConnection::SendTrailers(uint32_t id, const HeaderList& trailers) {
  Batch batch(*this);
  const auto found = streams_.find(id);
  if (found == streams_.end() || found->second.reset) return SendBlock(id, trailers, true);
  found->second.trailers = trailers;
  found->second.end_after_body = true;
  sending_.insert(id);
  Flush();
}

// One frame of each stream in turn, as far as the windows go.
void RogueConnection::Flush() {
  Batch batch(*this);
  for (bool progress = true; progress;) {
    progress = false;
    for (auto i = sending_.begin(); i != sending_.end();) {
      const auto found = streams_.find(*i);
      const bool sent = found != streams_.end() && FlushStream(found->second, *i);
      progress |= sent;
      const bool waits = found != streams_.end() && !found->second.body.empty();
      i = sent || waits ? std::next(i) : sending_.erase(i);
    }
  }
}

bool RogueConnection::FlushStream(Stream& stream, uint32_t id) {
  if (stream.reset) return false;
  if (!stream.body.empty()) {
    size_t most = ClientSetting(kMaxFrameSize, kDefaultFrameSize);
    if (options_->honour_windows) {
      const int64_t window = std::min(send_window_, stream.send_window);
      if (window <= 0) return false;
      most = std::min(most, static_cast<size_t>(window));
    }
    const size_t size = std::min(most, stream.body.size());
    const bool end = size == stream.body.size() && stream.end_after_body && stream.trailers.empty();
    const std::string bytes = stream.body.substr(0, size);
    stream.body.erase(0, size);
    Send(DataFrame(id, bytes, end ? kEndStream : 0));
    return true;
  }
  if (!stream.trailers.empty()) {
    SendBlock(id, std::exchange(stream.trailers, {}), stream.end_after_body);
    return true;
  }
  if (stream.end_after_body && !stream.server_ended) {
    Send(DataFrame(id, {}, kEndStream));
    return true;
  }
  if (stream.reset_after_body.has_value()) {
    SendReset(id, *std::exchange(stream.reset_after_body, std::nullopt));
    return true;
  }
  return false;
}

}  // namespace weft::inline v0::testing
