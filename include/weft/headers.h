// Headers: the fields of a request or a response, in order, duplicates kept (RFC 9110 section 5).
//
// Shape: one block of bytes and an index into it, so that a whole header list costs two
// allocations. Views that Headers hands out point into that block: they live until the object is
// changed, moved from or destroyed. Not thread-safe for writers; any number of readers.
#ifndef WEFT_HEADERS_H_
#define WEFT_HEADERS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace weft::inline v0 {

class Headers {
 public:
  struct Field {
    std::string_view name;  // lower case
    std::string_view value;
  };

  Headers() = default;
  // Names are lowered. {{"accept", "text/plain"}, {"x-tenant", "7"}}
  Headers(std::initializer_list<std::pair<std::string_view, std::string_view>> fields);

  // Appends a field; the name is lowered. Any bytes are taken here; a call refuses to send what
  // `Validate` refuses.
  void Add(std::string_view name, std::string_view value);
  // Removes all fields of that name, then appends one.
  void Set(std::string_view name, std::string_view value);
  // Removes all fields of that name (any case); says whether there was one.
  bool Remove(std::string_view name);
  void Clear();
  // Room for that many fields of that many bytes (names and values together) in all.
  void Reserve(size_t fields, size_t bytes);

  // The first value of that name (any case), or an empty view where there is none; Find tells the
  // two apart.
  std::string_view operator[](std::string_view name) const;
  std::optional<std::string_view> Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name).has_value(); }
  // All values of that name, in order.
  std::vector<std::string_view> All(std::string_view name) const;

  size_t size() const { return index_.size(); }
  bool empty() const { return index_.empty(); }
  // Bytes of all names and values, without any per-field overhead.
  size_t bytes() const;
  Field at(size_t i) const {
    const Entry& e = index_[i];
    return {std::string_view(block_).substr(e.offset, e.name_size),
            std::string_view(block_).substr(e.offset + e.name_size, e.value_size)};
  }

  class Iterator {
   public:
    Iterator(const Headers* headers, size_t i) : headers_(headers), i_(i) {}
    Field operator*() const { return headers_->at(i_); }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return i_ != other.i_; }
    bool operator==(const Iterator& other) const { return i_ == other.i_; }

   private:
    const Headers* headers_;
    size_t i_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

  // INVALID_ARGUMENT naming the first field that may not be sent over HTTP/2 (RFC 9113
  // section 8.2): a bad byte in a name or value, leading or trailing space, a pseudo-header, a
  // connection-specific field. The value is never echoed.
  absl::Status Validate() const;

 private:
  struct Entry {
    uint32_t offset;
    uint32_t name_size;
    uint32_t value_size;
  };
  std::string block_;
  std::vector<Entry> index_;
};

}  // namespace weft::inline v0

#endif  // WEFT_HEADERS_H_
