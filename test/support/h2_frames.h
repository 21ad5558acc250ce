// HTTP/2 frames and HPACK as tests need them: anything can be encoded, right or wrong (RFC 9113,
// RFC 7541).
//
//   const std::string block = HpackEncode({{":status", "200"}});
//   std::string bytes = Encode(HeadersFrame(1, block, kEndHeaders | kEndStream));
//   Frame bad = PingFrame("12345678");
//   bad.stream = 3;      // a PING on a stream
//   bad.length = 16000;  // says more than it has
//   FrameParser parser;
//   parser.Feed(bytes);
//   while (std::optional<Frame> frame = parser.Next()) ...;
#ifndef WEFT_TEST_SUPPORT_H2_FRAMES_H_
#define WEFT_TEST_SUPPORT_H2_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct nghttp2_hd_inflater;

namespace weft::inline v0::testing {

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum FrameType : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kRstStream = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoaway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};

inline constexpr uint8_t kAck = 0x1;
inline constexpr uint8_t kEndStream = 0x1;
inline constexpr uint8_t kEndHeaders = 0x4;
inline constexpr uint8_t kPadded = 0x8;
inline constexpr uint8_t kPriorityFlag = 0x20;

enum SettingId : uint16_t {
  kHeaderTableSize = 1,
  kEnablePush = 2,
  kMaxConcurrentStreams = 3,
  kInitialWindowSize = 4,
  kMaxFrameSize = 5,
  kMaxHeaderListSize = 6,
};

enum H2Error : uint32_t {
  kNoError = 0,
  kProtocolError = 1,
  kInternalError = 2,
  kFlowControlError = 3,
  kSettingsTimeout = 4,
  kStreamClosed = 5,
  kFrameSizeError = 6,
  kRefusedStream = 7,
  kCancel = 8,
  kCompressionError = 9,
  kConnectError = 10,
  kEnhanceYourCalm = 11,
  kInadequateSecurity = 12,
  kHttp11Required = 13,
};

using SettingList = std::vector<std::pair<uint16_t, uint32_t>>;
using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct Frame {
  uint8_t type = 0;
  uint8_t flags = 0;
  uint32_t stream = 0;  // the reserved bit may be set
  std::string payload;
  std::optional<uint32_t> length;  // what the head says instead of the payload's size

  bool has(uint8_t flag) const { return (flags & flag) != 0; }
};

std::string Encode(const Frame& frame);
// "HEADERS stream 1 flags 0x5 length 40": for messages of tests.
std::string Describe(const Frame& frame);

// Frames with a proper payload; change fields of the result for the improper ones.
Frame DataFrame(uint32_t stream, std::string_view bytes, uint8_t flags = 0);
// With `padding` bytes of padding.
Frame PaddedDataFrame(uint32_t stream, std::string_view bytes, uint8_t padding, uint8_t flags = 0);
Frame HeadersFrame(uint32_t stream, std::string_view block, uint8_t flags = kEndHeaders);
Frame ContinuationFrame(uint32_t stream, std::string_view block, uint8_t flags = kEndHeaders);
Frame PriorityFrame(uint32_t stream, uint32_t depends_on, uint8_t weight);
Frame RstStreamFrame(uint32_t stream, uint32_t code);
Frame SettingsFrame(const SettingList& settings);
Frame SettingsAckFrame();
Frame PushPromiseFrame(uint32_t stream, uint32_t promised, std::string_view block,
                       uint8_t flags = kEndHeaders);
Frame PingFrame(std::string_view eight_bytes, bool ack = false);
Frame PingFrame(uint64_t payload, bool ack = false);
Frame GoawayFrame(uint32_t last_stream, uint32_t code, std::string_view debug = {});
Frame WindowUpdateFrame(uint32_t stream, uint32_t increment);

// Big-endian numbers in payloads. Zero where the payload is too short.
std::string BigEndian(uint64_t number, int bytes);
uint32_t ReadU32(std::string_view payload, size_t offset = 0);
uint64_t ReadU64(std::string_view payload, size_t offset = 0);
SettingList ReadSettings(std::string_view payload);
// The content of DATA and HEADERS without padding and priority; nothing where these do not fit.
std::optional<std::string> Content(const Frame& frame);

// Takes any frame of any size.
class FrameParser {
 public:
  void Feed(std::string_view bytes) { buffer_.append(bytes); }
  // The next complete frame.
  std::optional<Frame> Next();
  // What is not a complete frame yet.
  std::string_view rest() const { return std::string_view(buffer_).substr(begin_); }
  // Removes the first `size` bytes, for a preface; `size` must be there.
  std::string TakeRaw(size_t size);

 private:
  std::string buffer_;
  size_t begin_ = 0;
};

// All frames of `bytes`, which must end with one; what is left over makes a frame of type 255.
std::vector<Frame> ParseFrames(std::string_view bytes);

// HPACK ---------------------------------------------------------------------------------------

// Literals, never indexed, without Huffman: any bytes, no state.
std::string HpackEncode(const HeaderList& headers);
// The parts, to put wrong things together from. `prefix_bits` 1 … 8; `high_bits` are those above
// the prefix.
std::string HpackInteger(uint64_t number, int prefix_bits, uint8_t high_bits);
std::string HpackString(std::string_view text);
std::string HpackIndexed(uint64_t index);  // 0 is an error
std::string HpackAddToTable(std::string_view name,
                            std::string_view value);  // literal with indexing
std::string HpackTableSize(uint64_t size);

// Through nghttp2.
class HpackDecoder {
 public:
  HpackDecoder();
  ~HpackDecoder();
  HpackDecoder(const HpackDecoder&) = delete;
  HpackDecoder& operator=(const HpackDecoder&) = delete;
  // A whole block. Nothing where it is not valid: the state is broken from then on.
  std::optional<HeaderList> Decode(std::string_view block);
  // Where the encoder acknowledged that setting.
  void SetTableSize(size_t size);

 private:
  nghttp2_hd_inflater* inflater_ = nullptr;
};

// The first value of that name; empty where there is none.
std::string_view Find(const HeaderList& headers, std::string_view name);

// A gRPC message with its prefix of five bytes.
std::string GrpcMessage(std::string_view message, uint8_t flag = 0);

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_SUPPORT_H2_FRAMES_H_
