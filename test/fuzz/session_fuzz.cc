// A client session against a peer that does anything, and users that do anything from within their
// events. Whatever happens: no crash, and every exchange ends exactly once, or never where it was
// reset.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http2/client_session.h"

namespace {

namespace http = weft::http;

// The fuzzer's bytes, taken from the front; zeros when they are used up.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  uint8_t Byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::string Bytes(size_t most) {
    const size_t size = std::min(most, left_);
    std::string bytes(reinterpret_cast<const char*>(data_), size);
    data_ += size;
    left_ -= size;
    return bytes;
  }
  bool empty() const { return left_ == 0; }

 private:
  const uint8_t* data_;
  size_t left_;
};

void Require(bool condition) {
  if (!condition) std::abort();
}

class Harness;

class User final : public http::StreamUser {
 public:
  User(Harness& harness, uint8_t kind) : harness_(harness), kind_(kind) {}
  http::BodyPiece ReadBody(char* to, size_t size) override;
  const weft::Headers* RequestTrailers() override {
    return (kind_ & 4) != 0 ? &trailers_ : nullptr;
  }
  void OnHead(int status, weft::Headers headers) override;
  void OnData(std::string_view bytes) override;
  void OnTrailers(weft::Headers trailers) override;
  void OnEnd(http::StreamEnd end) override;

  http::OpenStream* stream = nullptr;
  size_t unconsumed = 0;
  bool over = false;  // ended or reset

 private:
  void Alive() const { Require(!over); }
  Harness& harness_;
  const uint8_t kind_;
  bool has_head_ = false;
  bool has_trailers_ = false;
  int reads_ = 0;
  const weft::Headers trailers_ = {{"t", "1"}};
};

class Harness final : public http::SessionOwner {
 public:
  Harness(Input& input, const weft::http2::SessionOptions& options)
      : input_(input), session_(weft::http2::NewClientSession(options, *this)) {}

  void OnSettings() override { Act(); }
  void OnGoaway(uint32_t, std::string_view debug) override {
    Require(debug.size() <= 256);
    for (const char c : debug) Require(c >= 0x20 && c < 0x7f);
    Require(!session_->accepting());
    Act();
  }
  void OnReset() override {}
  void OnPingAck(uint64_t payload) override { Require(payload == 7); }

  // What a user may do at any time.
  void Act() {
    if (!acting_) return;
    const uint8_t what = input_.Byte();
    switch (what & 7) {
      case 0:
        Open(what >> 3);
        break;
      case 1:
        Reset(what >> 3);
        break;
      case 2:
        for (User& user : users_) {
          if (!user.over && user.stream != nullptr) session_->ResumeBody(user.stream);
        }
        break;
      case 3:
        for (User& user : users_) {
          if (user.over || user.stream == nullptr) continue;
          session_->Consume(user.stream, user.unconsumed);
          user.unconsumed = 0;
        }
        break;
      case 4:
        session_->Ping(7);
        break;
      default:
        break;
    }
  }

  void Open(uint8_t kind) {
    if (session_->capacity() == 0 || users_.size() > 200) return;
    User& user = users_.emplace_back(*this, kind);
    http::RequestHead head;
    head.method = (kind & 2) != 0 ? "HEAD" : "GET";
    head.scheme = "http";
    head.authority = "a";
    head.path = "/path";
    head.has_body = (kind & 1) != 0;
    static const weft::Headers kHeaders = {{"x-a", "1"}, {"authorization", "s"}};
    head.headers = &kHeaders;
    const size_t before = session_->open_streams();
    user.stream = session_->Open(user, head);
    Require(session_->open_streams() == before + 1);
  }

  void Reset(size_t i) {
    if (users_.empty()) return;
    User& user = users_[i % users_.size()];
    if (user.over || user.stream == nullptr) return;
    user.over = true;
    session_->Reset(user.stream, http::ResetReason::kCancelled);
  }

  bool Feed(const std::string& bytes) {
    now_ += std::chrono::milliseconds(1);
    // A block of exactly this size, so that a look beyond the end is seen.
    std::unique_ptr<char[]> block(new char[bytes.size() + 1]);
    std::copy(bytes.begin(), bytes.end(), block.get());
    const bool ok = session_->Feed({block.get(), bytes.size()}, now_).ok();
    if (!ok) Require(!session_->accepting() && session_->capacity() == 0);
    return ok;
  }

  void Collect(size_t limit) {
    std::string out;
    session_->Collect(out, limit);
    collected_ += out.size();
    Require(out.size() < limit + (1 << 20));
  }

  void Finish() {
    for (int i = 0; i < 100 && session_->wants_to_send(); ++i) Collect(1 << 16);
    acting_ = false;
    size_t alive = 0;
    for (const User& user : users_) alive += user.over ? 0 : 1;
    Require(alive == session_->open_streams());
    session_->EndAll(absl::UnavailableError("end"), collected_ / 2);
    for (const User& user : users_) Require(user.over);
    Require(session_->open_streams() == 0);
  }

  Input& input_;
  std::unique_ptr<http::Session> session_;

 private:
  std::deque<User> users_;
  weft::base::MonoTime now_{std::chrono::seconds(5)};
  uint64_t collected_ = 0;
  bool acting_ = true;
};

http::BodyPiece User::ReadBody(char* to, size_t size) {
  Alive();
  if (++reads_ % 4 == 0) harness_.Act();
  if (over) return {};
  const size_t bytes = std::min<size_t>(size, reads_ * 100);
  std::fill_n(to, bytes, 'b');
  using Next = http::BodyPiece::Next;
  return {reads_ % 3 == 0 ? 0 : bytes,
          reads_ > 30 ? Next::kEnd : (reads_ % 5 == 0 ? Next::kWait : Next::kMore)};
}

void User::OnHead(int status, weft::Headers headers) {
  Alive();
  Require(!has_head_ && status >= 200 && status <= 999);
  has_head_ = true;
  for (const auto field : headers) Require(!field.name.empty() && field.name[0] != ':');
  harness_.Act();
}

void User::OnData(std::string_view bytes) {
  Alive();
  Require(has_head_ && !has_trailers_ && !bytes.empty());
  unconsumed += bytes.size();
  harness_.Act();
}

void User::OnTrailers(weft::Headers) {
  Alive();
  Require(has_head_ && !has_trailers_);
  has_trailers_ = true;
  harness_.Act();
}

void User::OnEnd(http::StreamEnd end) {
  Alive();
  over = true;
  if (end.status.ok()) Require(has_head_);
  for (const char c : end.status.message()) Require(c >= 0x20 && c < 0x7f);
  harness_.Act();
}

std::string Number(uint64_t value, int bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(value >> (8 * bytes));
  return text;
}

std::string Frame(uint8_t type, uint8_t flags, uint32_t id, const std::string& payload) {
  return Number(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) +
         Number(id, 4) + payload;
}

std::string Field(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}

// The peer's next bytes: mostly frames that fit, some that do not, some noise.
std::string NextBytes(Input& input, uint32_t first_id) {
  const uint8_t what = input.Byte();
  const uint8_t flags = input.Byte();
  const uint32_t id = first_id + 2u * (what >> 5);
  const uint8_t end = flags & 1;
  switch (what & 31) {
    case 0:
      return input.Bytes(flags);
    case 1:
      return Frame(input.Byte(), flags, input.Byte(), input.Bytes(input.Byte()));
    case 2:
      return Frame(1, flags & 0xd7, id,
                   Field(":status", "200") + Field("a", input.Bytes(flags & 7)));
    case 3:
      return Frame(1, 4 | end, id, Field(":status", input.Bytes(3)) + Field(input.Bytes(2), "v"));
    case 4:
      return Frame(1, 4 | end, id, Field(":status", "200") + input.Bytes(flags));
    case 5:
      return Frame(1, 4 | end, id,
                   Field(":status", "200") + Field("content-length", std::to_string(flags)));
    case 6:
      return Frame(1, 4 | end, id, Field(":status", "100"));
    case 7:
      return Frame(1, end, id, Field(":status", "200"));
    case 8:
      return Frame(9, flags & 4, id, Field("c", "1"));
    case 9:
      return Frame(0, 8 | end, id, static_cast<char>(flags) + std::string(flags * 2, 'p'));
    case 10:
      return Frame(0, 8 | end, id, input.Bytes(flags));
    case 11:
    case 12:
      return Frame(1, 5, id, Field("t", "1"));
    case 13:
      return Frame(3, 0, id, Number(flags % 15, 4));
    case 14:
      return Frame(7, 0, 0, Number(id, 4) + Number(flags, 4) + input.Bytes(flags & 15));
    case 15:
      return Frame(4, 0, 0, Number(flags % 10, 2) + Number(input.Byte(), 4));
    case 16:
      return Frame(4, 0, 0, Number(4, 2) + Number(flags * 500, 4));
    case 17:
      return Frame(4, 1, 0, "");
    case 18:
      return Frame(8, 0, end ? id : 0, Number(flags * 100 + 1, 4));
    case 19:
      return Frame(6, end, 0, Number(7, 8));
    case 20:  // the acknowledgement of a probe
      return Frame(6, 1, 0, "weft" + Number(1 + flags % 4, 4));
    case 21: {
      std::string many;
      for (int i = 0; i < flags; ++i) many += Frame(input.Byte() % 10, 0, id, Number(i, 4));
      return many;
    }
    case 22:
    case 23:
    case 24:
    case 25:
      return Frame(1, 4 | end, id, Field(":status", "200"));
    default:
      return Frame(0, end, id, std::string(flags * 16, 'd'));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  weft::http2::SessionOptions options;
  const uint8_t setup = input.Byte();
  if ((setup & 1) != 0) options.stream_window = options.max_stream_window = 3000;
  if ((setup & 64) != 0) {
    options.stream_window = 3000;
    options.max_stream_window = 100000;
  }
  if ((setup & 2) != 0) options.max_header_list_bytes = 60;
  if ((setup & 4) != 0) options.first_stream_id = INT32_MAX - 20;
  if ((setup & 8) != 0) options.connection_window = options.max_connection_window = 65535;
  const auto first_id = static_cast<uint32_t>(options.first_stream_id);
  Harness harness(input, options);
  bool ok = (setup & 16) != 0 || harness.Feed(Frame(4, 0, 0, ""));
  if ((setup & 32) != 0) harness.Collect(1 << 20);
  for (int i = 0; i < 6; ++i) harness.Open(static_cast<uint8_t>(i));
  while (ok && !input.empty()) {
    std::string bytes = NextBytes(input, first_id);
    const uint8_t then = input.Byte();
    for (int i = 0; i < (then & 3); ++i) bytes += NextBytes(input, first_id);
    // In pieces of equal size, from one byte to all.
    const size_t step = (then & 4) != 0 ? bytes.size() + 1 : size_t{1} + (then >> 4);
    for (size_t at = 0; ok && at < bytes.size(); at += step)
      ok = harness.Feed(bytes.substr(at, step));
    if ((then & 8) != 0) harness.Collect(then << 6);
    harness.Act();
  }
  harness.Finish();
  return 0;
}
