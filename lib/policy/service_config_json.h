// The JSON of a service config: text to tree, and typed reads of the tree that know their path.
#ifndef WEFT_LIB_POLICY_SERVICE_CONFIG_JSON_H_
#define WEFT_LIB_POLICY_SERVICE_CONFIG_JSON_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace weft::inline v0::policy {

using Json = nlohmann::json;

// Objects and lists in each other. A config needs 5; the balancers of xDS, which it may name, more.
inline constexpr size_t kMaxServiceConfigDepth = 32;

// INVALID_ARGUMENT: no JSON, a field given twice, or too deep. No exception leaves it.
absl::StatusOr<Json> ParseServiceConfigJson(std::string_view text);

// One value and where it is. The reads give false where it is not what they want; the error they
// share then says so. The value, the error and the parent have to outlive it.
class JsonNode {
 public:
  // The root. `error` is OK.
  JsonNode(const Json& value, absl::Status& error) : value_(value), error_(error) {}
  JsonNode(const JsonNode&) = delete;
  JsonNode& operator=(const JsonNode&) = delete;

  const Json& value() const { return value_; }

  // An object without other fields than these.
  bool ReadFields(std::initializer_list<std::string_view> known) const;
  bool ReadBool(bool* to) const;
  bool ReadString(std::string* to) const;
  // 0 or more.
  bool ReadDuration(absl::Duration* to) const;
  // A finite number; or "must be <rule>".
  bool ReadNumber(std::string_view rule, double* to) const;
  bool ReadWhole(uint64_t low, uint64_t high, std::string_view rule, uint64_t* to) const;

  // The field of an object, read by `read(const JsonNode&)` if it is there.
  template <typename Read>
  bool Optional(std::string_view name, Read read) const {
    const auto field = value_.find(name);
    return field == value_.end() || read(JsonNode(*field, *this, name));
  }
  template <typename Read>
  bool Required(std::string_view name, Read read) const {
    if (!value_.contains(name)) return Missing(name);
    return Optional(name, read);
  }
  // Each element of a list in turn.
  template <typename Read>
  bool ReadList(Read read) const {
    if (!value_.is_array()) return Fail("must be a list");
    for (size_t i = 0; i < value_.size(); ++i) {
      if (!read(JsonNode(value_[i], *this, i))) return false;
    }
    return true;
  }

  // False; the error is "<path> <rule>".
  bool Fail(std::string_view rule) const;

 private:
  JsonNode(const Json& value, const JsonNode& parent, std::string_view name)
      : value_(value), error_(parent.error_), parent_(&parent), name_(name) {}
  JsonNode(const Json& value, const JsonNode& parent, size_t index)
      : value_(value), error_(parent.error_), parent_(&parent), index_(index) {}

  bool Missing(std::string_view name) const;
  std::optional<double> Number() const;
  std::string Path() const;

  const Json& value_;
  absl::Status& error_;
  const JsonNode* parent_ = nullptr;
  std::string_view name_;
  std::optional<size_t> index_;
};

// Of text that may hold anything of any length: short, and on one line.
std::string ShownInError(std::string_view text);

}  // namespace weft::inline v0::policy

#endif  // WEFT_LIB_POLICY_SERVICE_CONFIG_JSON_H_
