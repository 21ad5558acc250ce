#include "http/grpc_health.h"

#include <algorithm>
#include <cstddef>

#include "http/grpc_wire.h"

namespace weft::inline v0::http {
namespace {

constexpr uint64_t kFieldOne = 1;
enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void AppendVarint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>((value & 0x7f) | 0x80);
  to += static_cast<char>(value);
}

// Takes it from the front of `bytes`. False: there is none.
bool ReadVarint(std::string_view& bytes, uint64_t& value) {
  constexpr size_t kMax = 10;
  value = 0;
  for (size_t i = 0; i < bytes.size() && i < kMax; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (i == kMax - 1 && byte > 1) return false;  // more than 64 bits
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool Skip(std::string_view& bytes, uint64_t wire_type) {
  uint64_t size = 0;
  switch (wire_type) {
    case kVarint:
      return ReadVarint(bytes, size);
    case kFixed64:
      size = 8;
      break;
    case kBytes:
      if (!ReadVarint(bytes, size)) return false;
      break;
    case kFixed32:
      size = 4;
      break;
    default:  // groups, which nothing has written for long
      return false;
  }
  if (size > bytes.size()) return false;
  bytes.remove_prefix(static_cast<size_t>(size));
  return true;
}

ServingStatus StatusOf(uint64_t value) {
  return value <= static_cast<uint64_t>(ServingStatus::kServiceUnknown)
             ? static_cast<ServingStatus>(value)
             : ServingStatus::kUnknown;
}

}  // namespace

std::string GrpcHealthRequest(std::string_view service) {
  std::string message;
  if (!service.empty()) {
    AppendVarint(message, kFieldOne << 3 | kBytes);
    AppendVarint(message, service.size());
    message += service;
  }
  std::string body(kGrpcPrefixBytes, '\0');
  for (size_t i = 0; i < 4; ++i)
    body[kGrpcPrefixBytes - 1 - i] = static_cast<char>(message.size() >> (8 * i));
  return body + message;
}

std::optional<ServingStatus> ParseGrpcHealthResponse(std::string_view message) {
  ServingStatus status = ServingStatus::kUnknown;
  while (!message.empty()) {
    uint64_t tag = 0;
    if (!ReadVarint(message, tag) || tag >> 3 == 0 || tag > UINT32_MAX) return std::nullopt;
    if (tag == (kFieldOne << 3 | kVarint)) {
      uint64_t value = 0;
      if (!ReadVarint(message, value)) return std::nullopt;
      status = StatusOf(value);
    } else if (!Skip(message, tag & 7)) {
      return std::nullopt;
    }
  }
  return status;
}

bool GrpcHealthReader::Read(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t wanted = partial_.size() < kGrpcPrefixBytes
                              ? kGrpcPrefixBytes
                              : kGrpcPrefixBytes + GrpcMessageBytes(partial_);
    const size_t taken = std::min(bytes.size(), wanted - partial_.size());
    partial_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (partial_.size() < kGrpcPrefixBytes) return true;
    const size_t size = GrpcMessageBytes(partial_);
    if (partial_[0] != 0 || size > kMaxMessage) return false;
    if (partial_.size() < kGrpcPrefixBytes + size) continue;
    last_ = ParseGrpcHealthResponse(std::string_view(partial_).substr(kGrpcPrefixBytes));
    if (!last_.has_value()) return false;
    partial_.clear();
  }
  return true;
}

}  // namespace weft::inline v0::http
