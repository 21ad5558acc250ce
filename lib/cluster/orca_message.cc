#include "cluster/orca_message.h"

#include <bit>
#include <cstdint>

#include "cluster/report_fields.h"

namespace weft::inline v0::cluster {
namespace {

// protobuf.dev/programming-guides/encoding
enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// The fields of one message, in order. Groups, which are out of use, make it malformed.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // False at the end, and where the rest is malformed.
  bool Next() {
    if (rest_.empty() || !good_) return false;
    const uint64_t tag = Varint();
    number_ = tag >> 3;
    type_ = static_cast<uint8_t>(tag & 7);
    value_ = {};
    switch (type_) {
      case kVarint:
        Varint();
        break;
      case kFixed64:
        value_ = Take(8);
        break;
      case kBytes:
        value_ = Take(Varint());
        break;
      case kFixed32:
        Take(4);
        break;
      default:
        good_ = false;
    }
    good_ = good_ && number_ > 0;
    return good_;
  }
  bool good() const { return good_; }
  bool Is(uint64_t number, WireType type) const { return number_ == number && type_ == type; }
  uint64_t number() const { return number_; }
  WireType type() const { return static_cast<WireType>(type_); }
  std::string_view bytes() const { return value_; }  // with kBytes
  double AsDouble() const {                          // with kFixed64
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i)
      bits |= uint64_t{static_cast<unsigned char>(value_[i])} << (8 * i);
    return std::bit_cast<double>(bits);
  }

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    good_ = false;
    return 0;
  }
  std::string_view Take(uint64_t size) {
    if (size > rest_.size()) good_ = false;
    if (!good_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  uint64_t number_ = 0;
  uint8_t type_ = 0;
  std::string_view value_;
  bool good_ = true;
};

ReportFields::Field FieldOf(uint64_t number) {
  switch (number) {
    case 1:
      return ReportFields::kCpuUtilization;
    case 6:
      return ReportFields::kQps;
    case 7:
      return ReportFields::kEps;
    case 9:
      return ReportFields::kApplicationUtilization;
    default:
      return ReportFields::kOther;
  }
}

// An entry of a map<string, double>: what it does not say is empty, or zero.
bool TakeNamedMetric(std::string_view entry, ReportFields& fields) {
  std::string_view name;
  double value = 0;
  WireReader reader(entry);
  while (reader.Next()) {
    if (reader.Is(1, kBytes)) name = reader.bytes();
    if (reader.Is(2, kFixed64)) value = reader.AsDouble();
  }
  return reader.good() && fields.Set(ReportFields::NamedMetric(name), value);
}

}  // namespace

std::optional<LoadReport> ReportOfMessage(std::string_view message) {
  constexpr uint64_t kNamedMetrics = 8;
  ReportFields fields;
  WireReader reader(message);
  while (reader.Next()) {
    bool believed = true;
    if (reader.type() == kFixed64) {
      believed = fields.Set(FieldOf(reader.number()), reader.AsDouble());
    } else if (reader.Is(kNamedMetrics, kBytes)) {
      believed = TakeNamedMetric(reader.bytes(), fields);
    }
    if (!believed) return std::nullopt;
  }
  return reader.good() ? fields.Finish() : std::nullopt;
}

}  // namespace weft::inline v0::cluster
