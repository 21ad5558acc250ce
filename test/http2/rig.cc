#include "rig.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <stdexcept>

namespace weft::test::http2 {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

uint64_t ToNumber(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

std::string HpackString(std::string_view text) {
  std::string out;
  size_t left = text.size();
  if (left < 127) {
    out += static_cast<char>(left);
  } else {
    out += static_cast<char>(127);
    left -= 127;
    for (; left >= 128; left >>= 7) out += static_cast<char>((left & 127) | 128);
    out += static_cast<char>(left);
  }
  return out.append(text);
}

std::string Listed(const weft::Headers& headers) {
  std::string text;
  for (const auto field : headers)
    text.append(" ").append(field.name).append("=").append(field.value);
  return text;
}

}  // namespace

std::string Number(uint64_t value, int bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(value >> (8 * bytes));
  return text;
}

std::string Frame(int type, int flags, uint32_t id, std::string_view payload) {
  return Number(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) +
         Number(id, 4) + std::string(payload);
}

std::string Settings(const std::vector<std::pair<uint16_t, uint32_t>>& values) {
  std::string payload;
  for (const auto& [id, value] : values) payload += Number(id, 2) + Number(value, 4);
  return Frame(kSettings, 0, 0, payload);
}

std::string SettingsAck() { return Frame(kSettings, kAck, 0, ""); }

std::string Block(const Fields& fields) {
  std::string block;
  for (const auto& [name, value] : fields) {
    block += '\0' + HpackString(name) + HpackString(value);
  }
  return block;
}

std::string Head(uint32_t id, const Fields& fields, bool end) {
  return Frame(kHeaders, kEndHeaders | (end ? kEndStream : 0), id, Block(fields));
}

std::string Data(uint32_t id, std::string_view bytes, bool end) {
  return Frame(kData, end ? kEndStream : 0, id, bytes);
}

std::string PaddedData(uint32_t id, std::string_view bytes, uint8_t padding, bool end) {
  return Frame(kData, kPadded | (end ? kEndStream : 0), id,
               static_cast<char>(padding) + std::string(bytes) + std::string(padding, '\0'));
}

std::string Rst(uint32_t id, uint32_t code) { return Frame(kRstStream, 0, id, Number(code, 4)); }

std::string Ping(uint64_t payload, bool ack) {
  return Frame(kPing, ack ? kAck : 0, 0, Number(payload, 8));
}

std::string Goaway(uint32_t last_id, uint32_t code, std::string_view debug) {
  return Frame(kGoaway, 0, 0, Number(last_id, 4) + Number(code, 4) + std::string(debug));
}

std::string WindowUpdate(uint32_t id, uint32_t size) {
  return Frame(kWindowUpdate, 0, id, Number(size, 4));
}

uint32_t Sent::code() const {
  return static_cast<uint32_t>(ToNumber(payload.substr(type == kGoaway ? 4 : 0, 4)));
}
uint64_t Sent::number() const { return ToNumber(payload); }

weft::http::BodyPiece User::ReadBody(char* to, size_t size) {
  Tell("read");
  const size_t bytes = std::min({size, piece, body.size() - sent_});
  std::copy_n(body.data() + sent_, bytes, to);
  sent_ += bytes;
  if (sent_ < body.size()) return {bytes, weft::http::BodyPiece::Next::kMore};
  return {bytes,
          body_open ? weft::http::BodyPiece::Next::kWait : weft::http::BodyPiece::Next::kEnd};
}

void User::OnHead(int status, weft::Headers headers) {
  log.push_back("head " + std::to_string(status) + Listed(headers));
  Tell("head");
}

void User::OnData(std::string_view bytes) {
  received += bytes.size();
  if (log.empty() || log.back().substr(0, 5) != "data ") log.push_back("data ");
  if (log.back().size() < 100000) log.back().append(bytes);
  if (consume) session->Consume(stream, bytes.size());
  Tell("data");
}

void User::OnTrailers(weft::Headers fields) {
  log.push_back("trailers" + Listed(fields));
  Tell("trailers");
}

void User::OnEnd(weft::http::StreamEnd ended) {
  end = std::move(ended);
  ++ends;
  log.push_back("end " + std::string(absl::StatusCodeToString(end.status.code())) + " " +
                std::string(weft::OriginName(end.origin)) + " " +
                std::string(weft::ProcessedName(end.processed)));
  Tell("end");
}

std::string User::Log() const {
  std::string text;
  for (const std::string& line : log) text.append(text.empty() ? "" : "; ").append(line);
  return text;
}

struct Rig::Inflater {
  Inflater() { nghttp2_hd_inflate_new(&inflater); }
  ~Inflater() { nghttp2_hd_inflate_del(inflater); }
  nghttp2_hd_inflater* inflater = nullptr;
};

Rig::Rig(weft::http2::SessionOptions options)
    : session(weft::http2::NewClientSession(options, *this)),
      inflater_(std::make_unique<Inflater>()) {}

Rig::~Rig() = default;

Rig& Rig::Start(const std::vector<std::pair<uint16_t, uint32_t>>& values) {
  Collect();
  const absl::Status status = Feed(Settings(values) + SettingsAck());
  if (!status.ok()) throw std::runtime_error(status.ToString());
  Collect();
  return *this;
}

User& Rig::Prepare() {
  User& user = users.emplace_back();
  user.session = session.get();
  return user;
}

User& Rig::Open(std::string path, bool has_body) {
  User& user = Prepare();
  Open(user, std::move(path), has_body);
  return user;
}

void Rig::Open(User& user, std::string path, bool has_body) {
  weft::http::RequestHead head;
  head.method = has_body ? "POST" : "GET";
  head.scheme = "http";
  head.authority = "svc";
  head.path = paths_.emplace_back(std::move(path));
  head.has_body = has_body;
  user.stream = session->Open(user, head);
}

absl::Status Rig::Feed(std::string_view bytes) { return session->Feed(bytes, now); }

absl::Status Rig::FeedInSteps(std::string_view bytes, size_t step) {
  while (!bytes.empty()) {
    // A copy of its own, so that a sanitizer sees a look beyond the end.
    const std::vector<char> part(bytes.begin(), bytes.begin() + std::min(step, bytes.size()));
    bytes.remove_prefix(part.size());
    const absl::Status status = Feed({part.data(), part.size()});
    if (!status.ok()) return status;
    Collect();
  }
  return absl::OkStatus();
}

std::string Rig::Collect(size_t limit) {
  std::string out;
  session->Collect(out, limit);
  if (!preface_seen_ && out.size() >= kPreface.size()) {
    if (out.substr(0, kPreface.size()) != kPreface) throw std::runtime_error("no preface");
    preface_seen_ = true;
    out.erase(0, kPreface.size());
  }
  return out;
}

std::vector<Sent> Rig::CollectFrames(size_t limit) {
  const std::string out = Collect(limit);
  std::vector<Sent> frames;
  size_t at = 0;
  while (at < out.size()) {
    if (out.size() - at < 9) throw std::runtime_error("torn frame");
    const size_t size = ToNumber(out.substr(at, 3));
    if (out.size() - at < 9 + size) throw std::runtime_error("torn frame");
    frames.push_back({out[at + 3], out[at + 4],
                      static_cast<uint32_t>(ToNumber(out.substr(at + 5, 4))),
                      out.substr(at + 9, size)});
    at += 9 + size;
  }
  return frames;
}

Fields Rig::Decode(const Sent& frame) {
  Fields fields;
  auto* in = reinterpret_cast<const uint8_t*>(frame.payload.data());
  size_t left = frame.payload.size();
  while (true) {
    nghttp2_nv nv;
    int flags = 0;
    const auto taken = nghttp2_hd_inflate_hd2(inflater_->inflater, &nv, &flags, in, left, 1);
    if (taken < 0) throw std::runtime_error("bad header block");
    in += taken;
    left -= static_cast<size_t>(taken);
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      fields.emplace_back(std::string(reinterpret_cast<char*>(nv.name), nv.namelen),
                          std::string(reinterpret_cast<char*>(nv.value), nv.valuelen));
    }
    if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
  }
  nghttp2_hd_inflate_end_headers(inflater_->inflater);
  return fields;
}

void Rig::OnGoaway(uint32_t code, std::string_view debug) {
  goaways.push_back(std::to_string(code) + " " + std::string(debug));
  if (on_goaway) on_goaway();
}

const Sent* FindFrame(const std::vector<Sent>& frames, int type, uint32_t id) {
  for (const Sent& frame : frames) {
    if (frame.type == type && frame.id == id) return &frame;
  }
  return nullptr;
}

size_t CountFrames(const std::vector<Sent>& frames, int type) {
  return static_cast<size_t>(std::count_if(frames.begin(), frames.end(),
                                           [&](const Sent& frame) { return frame.type == type; }));
}

}  // namespace weft::test::http2
