#include "support/h2_frames.h"

#include <nghttp2/nghttp2.h>

#include <cstdlib>
#include <iterator>

namespace weft::inline v0::testing {
namespace {

constexpr size_t kHeadSize = 9;

Frame Make(uint8_t type, uint8_t flags, uint32_t stream, std::string payload) {
  Frame frame;
  frame.type = type;
  frame.flags = flags;
  frame.stream = stream;
  frame.payload = std::move(payload);
  return frame;
}

}  // namespace

std::string BigEndian(uint64_t number, int bytes) {
  std::string text;
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    text.push_back(static_cast<char>(number >> shift & 0xff));
  }
  return text;
}

uint64_t ReadU64(std::string_view payload, size_t offset) {
  if (payload.size() < offset + 8) return 0;
  uint64_t number = 0;
  for (size_t i = offset; i < offset + 8; ++i)
    number = number << 8 | static_cast<uint8_t>(payload[i]);
  return number;
}

uint32_t ReadU32(std::string_view payload, size_t offset) {
  if (payload.size() < offset + 4) return 0;
  uint32_t number = 0;
  for (size_t i = offset; i < offset + 4; ++i)
    number = number << 8 | static_cast<uint8_t>(payload[i]);
  return number;
}

std::string Encode(const Frame& frame) {
  const uint32_t length = frame.length.value_or(static_cast<uint32_t>(frame.payload.size()));
  return BigEndian(length, 3) + static_cast<char>(frame.type) + static_cast<char>(frame.flags) +
         BigEndian(frame.stream, 4) + frame.payload;
}

std::string Describe(const Frame& frame) {
  static constexpr const char* kNames[] = {
      "DATA",         "HEADERS", "PRIORITY", "RST_STREAM",    "SETTINGS",
      "PUSH_PROMISE", "PING",    "GOAWAY",   "WINDOW_UPDATE", "CONTINUATION"};
  const std::string name =
      frame.type < std::size(kNames) ? kNames[frame.type] : "type " + std::to_string(frame.type);
  return name + " stream " + std::to_string(frame.stream) + " flags " +
         std::to_string(frame.flags) + " length " +
         std::to_string(frame.length.value_or(static_cast<uint32_t>(frame.payload.size())));
}

Frame DataFrame(uint32_t stream, std::string_view bytes, uint8_t flags) {
  return Make(kData, flags, stream, std::string(bytes));
}

Frame PaddedDataFrame(uint32_t stream, std::string_view bytes, uint8_t padding, uint8_t flags) {
  std::string payload(1, static_cast<char>(padding));
  payload.append(bytes).append(padding, '\0');
  return Make(kData, flags | kPadded, stream, std::move(payload));
}

Frame HeadersFrame(uint32_t stream, std::string_view block, uint8_t flags) {
  return Make(kHeaders, flags, stream, std::string(block));
}

Frame ContinuationFrame(uint32_t stream, std::string_view block, uint8_t flags) {
  return Make(kContinuation, flags, stream, std::string(block));
}

Frame PriorityFrame(uint32_t stream, uint32_t depends_on, uint8_t weight) {
  return Make(kPriority, 0, stream, BigEndian(depends_on, 4) + static_cast<char>(weight));
}

Frame RstStreamFrame(uint32_t stream, uint32_t code) {
  return Make(kRstStream, 0, stream, BigEndian(code, 4));
}

Frame SettingsFrame(const SettingList& settings) {
  std::string payload;
  for (const auto& [id, value] : settings) payload += BigEndian(id, 2) + BigEndian(value, 4);
  return Make(kSettings, 0, 0, std::move(payload));
}

Frame SettingsAckFrame() { return Make(kSettings, kAck, 0, {}); }

Frame PushPromiseFrame(uint32_t stream, uint32_t promised, std::string_view block, uint8_t flags) {
  return Make(kPushPromise, flags, stream, BigEndian(promised, 4) + std::string(block));
}

Frame PingFrame(std::string_view eight_bytes, bool ack) {
  return Make(kPing, ack ? kAck : 0, 0, std::string(eight_bytes));
}

Frame PingFrame(uint64_t payload, bool ack) { return PingFrame(BigEndian(payload, 8), ack); }

Frame GoawayFrame(uint32_t last_stream, uint32_t code, std::string_view debug) {
  return Make(kGoaway, 0, 0, BigEndian(last_stream, 4) + BigEndian(code, 4) + std::string(debug));
}

Frame WindowUpdateFrame(uint32_t stream, uint32_t increment) {
  return Make(kWindowUpdate, 0, stream, BigEndian(increment, 4));
}

SettingList ReadSettings(std::string_view payload) {
  SettingList settings;
  for (; payload.size() >= 6; payload.remove_prefix(6)) {
    const auto id = static_cast<uint16_t>(static_cast<uint8_t>(payload[0]) << 8 |
                                          static_cast<uint8_t>(payload[1]));
    settings.emplace_back(id, ReadU32(payload, 2));
  }
  return settings;
}

std::optional<std::string> Content(const Frame& frame) {
  std::string_view payload = frame.payload;
  size_t padding = 0;
  if (frame.has(kPadded)) {
    if (payload.empty()) return std::nullopt;
    padding = static_cast<uint8_t>(payload[0]);
    payload.remove_prefix(1);
  }
  if (frame.type == kHeaders && frame.has(kPriorityFlag)) {
    if (payload.size() < 5) return std::nullopt;
    payload.remove_prefix(5);
  }
  if (padding > payload.size()) return std::nullopt;
  return std::string(payload.substr(0, payload.size() - padding));
}

// Parsing -------------------------------------------------------------------------------------

std::optional<Frame> FrameParser::Next() {
  const std::string_view bytes = rest();
  if (bytes.size() < kHeadSize) return std::nullopt;
  const size_t length = ReadU32(std::string(1, '\0') + std::string(bytes.substr(0, 3)));
  if (bytes.size() < kHeadSize + length) return std::nullopt;
  Frame frame = Make(static_cast<uint8_t>(bytes[3]), static_cast<uint8_t>(bytes[4]),
                     ReadU32(bytes, 5) & 0x7fffffffu, std::string(bytes.substr(kHeadSize, length)));
  TakeRaw(kHeadSize + length);
  return frame;
}

std::string FrameParser::TakeRaw(size_t size) {
  std::string taken = buffer_.substr(begin_, size);
  begin_ += taken.size();
  if (begin_ == buffer_.size() || begin_ > (size_t{1} << 20)) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return taken;
}

std::vector<Frame> ParseFrames(std::string_view bytes) {
  FrameParser parser;
  parser.Feed(bytes);
  std::vector<Frame> frames;
  while (std::optional<Frame> frame = parser.Next()) frames.push_back(*std::move(frame));
  if (!parser.rest().empty()) frames.push_back(Make(255, 0, 0, std::string(parser.rest())));
  return frames;
}

// HPACK ---------------------------------------------------------------------------------------

std::string HpackInteger(uint64_t number, int prefix_bits, uint8_t high_bits) {
  const uint64_t limit = (uint64_t{1} << prefix_bits) - 1;
  std::string text;
  if (number < limit) {
    text.push_back(static_cast<char>(high_bits | number));
    return text;
  }
  text.push_back(static_cast<char>(high_bits | limit));
  for (number -= limit; number >= 128; number >>= 7) {
    text.push_back(static_cast<char>(0x80 | (number & 0x7f)));
  }
  text.push_back(static_cast<char>(number));
  return text;
}

std::string HpackString(std::string_view text) {
  return HpackInteger(text.size(), 7, 0) + std::string(text);
}

std::string HpackIndexed(uint64_t index) { return HpackInteger(index, 7, 0x80); }

std::string HpackAddToTable(std::string_view name, std::string_view value) {
  return HpackInteger(0, 6, 0x40) + HpackString(name) + HpackString(value);
}

std::string HpackTableSize(uint64_t size) { return HpackInteger(size, 5, 0x20); }

std::string HpackEncode(const HeaderList& headers) {
  std::string block;
  for (const auto& [name, value] : headers) {
    block += HpackInteger(0, 4, 0x10) + HpackString(name) + HpackString(value);
  }
  return block;
}

HpackDecoder::HpackDecoder() {
  if (nghttp2_hd_inflate_new(&inflater_) != 0) std::abort();
}

HpackDecoder::~HpackDecoder() { nghttp2_hd_inflate_del(inflater_); }

void HpackDecoder::SetTableSize(size_t size) {
  nghttp2_hd_inflate_change_table_size(inflater_, size);
}

std::optional<HeaderList> HpackDecoder::Decode(std::string_view block) {
  HeaderList headers;
  const auto* next = reinterpret_cast<const uint8_t*>(block.data());
  const uint8_t* const end = next + block.size();
  for (;;) {
    nghttp2_nv field;
    int flags = 0;
    const ssize_t used =
        nghttp2_hd_inflate_hd2(inflater_, &field, &flags, next, static_cast<size_t>(end - next), 1);
    if (used < 0) return std::nullopt;
    next += used;
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      headers.emplace_back(std::string(reinterpret_cast<const char*>(field.name), field.namelen),
                           std::string(reinterpret_cast<const char*>(field.value), field.valuelen));
    }
    if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0 && next == end) break;
  }
  nghttp2_hd_inflate_end_headers(inflater_);
  return headers;
}

std::string_view Find(const HeaderList& headers, std::string_view name) {
  for (const auto& [field, value] : headers) {
    if (field == name) return value;
  }
  return {};
}

std::string GrpcMessage(std::string_view message, uint8_t flag) {
  return std::string(1, static_cast<char>(flag)) + BigEndian(message.size(), 4) +
         std::string(message);
}

}  // namespace weft::inline v0::testing
