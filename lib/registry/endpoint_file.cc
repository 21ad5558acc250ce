// The text goes through a pull of events (SAX) straight into the set: no tree is built of a text
// that may be large, and nesting costs nothing, since what is deeper than the format goes is an
// error where it opens.
#include "registry/endpoint_file.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace weft::inline v0::registry {
namespace {

using Json = nlohmann::json;

// Names and values are quoted from a file that may hold anything of any length.
std::string Quoted(std::string_view text) {
  constexpr size_t kMaxShown = 64;
  std::string quoted = "\"" + std::string(text.substr(0, kMaxShown));
  return quoted + (text.size() > kMaxShown ? "...\"" : "\"");
}

class Reader final : public nlohmann::json_sax<Json> {
 public:
  absl::Status TakeStatus() { return std::move(status_); }
  std::vector<Endpoint> TakeEndpoints() { return std::move(endpoints_); }

  bool null() override { return WrongType("null"); }
  bool boolean(bool value) override {
    if (place_ != Place::kEndpoint || field_ != Field::kDraining) return WrongType("true or false");
    endpoint().draining = value;
    return true;
  }
  bool number_integer(int64_t value) override {
    return Number(static_cast<double>(value), /*is_integer=*/true);
  }
  bool number_unsigned(uint64_t value) override {
    return Number(static_cast<double>(value), /*is_integer=*/true);
  }
  bool number_float(double value, const std::string& /*text*/) override {
    return Number(value, /*is_integer=*/false);
  }
  bool string(std::string& value) override;
  bool binary(Json::binary_t& /*value*/) override { return WrongType("binary data"); }
  bool start_object(size_t /*size*/) override;
  bool key(std::string& name) override;
  bool end_object() override;
  bool start_array(size_t /*size*/) override;
  bool end_array() override {
    place_ = Place::kTop;
    return true;
  }
  bool parse_error(size_t position, const std::string& last_token,
                   const Json::exception& error) override;

 private:
  // What the next event is part of.
  enum class Place { kOutside, kTop, kList, kEndpoint, kLocality, kMetadata };
  // What the next value belongs to; kNone within kOutside and kList.
  enum class Field {
    kNone,
    kEndpoints,
    kAddress,
    kWeight,
    kPriority,
    kDraining,
    kLocality,
    kMetadata,
    kRegion,
    kZone,
    kSubZone,
    kMetadataValue,
  };
  struct Name {
    Place place;
    std::string_view text;
    Field field;
    std::string_view type;
  };
  static constexpr Name kNames[] = {
      {Place::kTop, "endpoints", Field::kEndpoints, "an array"},
      {Place::kEndpoint, "address", Field::kAddress, "a string"},
      {Place::kEndpoint, "weight", Field::kWeight, "a number"},
      {Place::kEndpoint, "priority", Field::kPriority, "an integer"},
      {Place::kEndpoint, "draining", Field::kDraining, "true or false"},
      {Place::kEndpoint, "locality", Field::kLocality, "an object"},
      {Place::kEndpoint, "metadata", Field::kMetadata, "an object"},
      {Place::kLocality, "region", Field::kRegion, "a string"},
      {Place::kLocality, "zone", Field::kZone, "a string"},
      {Place::kLocality, "sub_zone", Field::kSubZone, "a string"},
  };

  Endpoint& endpoint() { return endpoints_.back(); }
  bool Number(double value, bool is_integer);
  bool WrongType(std::string_view found);
  bool Fail(std::string_view why);
  // Where the reader is, as a person would write it: "endpoints[3].locality.zone".
  std::string Path() const;

  // One bit a field.
  static uint32_t Bit(Field field) { return uint32_t{1} << static_cast<int>(field); }
  bool Seen(Field field) const { return (seen_ & Bit(field)) != 0; }

  Place place_ = Place::kOutside;
  Field field_ = Field::kNone;
  std::string key_;    // of the object that `place_` is in
  uint32_t seen_ = 0;  // fields of the present endpoint, and of the top
  std::vector<Endpoint> endpoints_;
  absl::Status status_;
};

std::string Reader::Path() const {
  const std::string element =
      "endpoints[" + std::to_string(endpoints_.empty() ? 0 : endpoints_.size() - 1) + "]";
  switch (place_) {
    case Place::kOutside:
      return "the file";
    case Place::kTop:
      return key_.empty() ? "the file" : key_;
    case Place::kList:  // the element that is to come
      return "endpoints[" + std::to_string(endpoints_.size()) + "]";
    case Place::kEndpoint:
      return field_ == Field::kNone ? element : element + "." + key_;
    case Place::kLocality:
      return element + ".locality" + (field_ == Field::kNone ? "" : "." + key_);
    case Place::kMetadata:
      return element + ".metadata" + (field_ == Field::kNone ? "" : "[" + Quoted(key_) + "]");
  }
  return element;
}

bool Reader::Fail(std::string_view why) {
  status_ = absl::InvalidArgumentError(Path() + ": " + std::string(why));
  return false;
}

bool Reader::WrongType(std::string_view found) {
  std::string_view wanted = "an object";
  if (place_ == Place::kMetadata) wanted = "a string";
  for (const Name& name : kNames) {
    if (name.field == field_ && name.place == place_) wanted = name.type;
  }
  return Fail("must be " + std::string(wanted) + ", not " + std::string(found));
}

bool Reader::Number(double value, bool is_integer) {
  if (place_ == Place::kEndpoint && field_ == Field::kWeight) {
    if (!(value > 0) || !std::isfinite(value)) return Fail("must be above 0");
    endpoint().weight = value;
    return true;
  }
  if (place_ == Place::kEndpoint && field_ == Field::kPriority) {
    if (!is_integer) return WrongType("a fraction");
    if (value < 0 || value > kMaxPriority) {
      return Fail("must be from 0 to " + std::to_string(kMaxPriority));
    }
    endpoint().priority = static_cast<int>(value);
    return true;
  }
  return WrongType("a number");
}

bool Reader::string(std::string& value) {
  switch (field_) {
    case Field::kAddress:
      if (value.empty()) return Fail("must not be empty");
      endpoint().address = std::move(value);
      return true;
    case Field::kRegion:
      endpoint().locality.region = std::move(value);
      return true;
    case Field::kZone:
      endpoint().locality.zone = std::move(value);
      return true;
    case Field::kSubZone:
      endpoint().locality.sub_zone = std::move(value);
      return true;
    case Field::kMetadataValue:
      endpoint().metadata[key_] = std::move(value);
      return true;
    default:
      return WrongType("a string");
  }
}

bool Reader::start_object(size_t /*size*/) {
  if (place_ == Place::kOutside) {
    place_ = Place::kTop;
  } else if (place_ == Place::kList) {
    if (endpoints_.size() == kMaxEndpointsPerFile) {
      return Fail("more than " + std::to_string(kMaxEndpointsPerFile) + " endpoints");
    }
    endpoints_.emplace_back();
    seen_ = Bit(Field::kEndpoints);
    place_ = Place::kEndpoint;
  } else if (place_ == Place::kEndpoint && field_ == Field::kLocality) {
    place_ = Place::kLocality;
  } else if (place_ == Place::kEndpoint && field_ == Field::kMetadata) {
    place_ = Place::kMetadata;
  } else {
    return WrongType("an object");
  }
  field_ = Field::kNone;
  return true;
}

bool Reader::key(std::string& name) {
  if (place_ == Place::kMetadata) {
    if (!endpoint().metadata.try_emplace(name).second) {
      field_ = Field::kNone;
      return Fail(Quoted(name) + " is given twice");
    }
    key_ = std::move(name);
    field_ = Field::kMetadataValue;
    return true;
  }
  for (const Name& known : kNames) {
    if (known.place != place_ || known.text != name) continue;
    key_ = std::move(name);
    field_ = known.field;
    if (Seen(field_)) return Fail("given twice");
    seen_ |= Bit(field_);
    return true;
  }
  key_.clear();
  field_ = Field::kNone;
  std::string known;
  for (const Name& other : kNames) {
    if (other.place == place_) known += (known.empty() ? "" : ", ") + std::string(other.text);
  }
  return Fail("unknown field " + Quoted(name) + "; known are " + known);
}

bool Reader::end_object() {
  field_ = Field::kNone;
  key_.clear();
  switch (place_) {
    case Place::kLocality:
    case Place::kMetadata:
      place_ = Place::kEndpoint;
      return true;
    case Place::kEndpoint:
      if (!Seen(Field::kAddress)) return Fail("has no \"address\"");
      place_ = Place::kList;
      return true;
    default:
      if (!Seen(Field::kEndpoints)) return Fail("has no \"endpoints\"");
      place_ = Place::kOutside;
      return true;
  }
}

bool Reader::start_array(size_t /*size*/) {
  if (place_ != Place::kTop || field_ != Field::kEndpoints) return WrongType("an array");
  place_ = Place::kList;
  field_ = Field::kNone;
  return true;
}

bool Reader::parse_error(size_t position, const std::string& /*last_token*/,
                         const Json::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ...; last read:
  // '...'": without the library's own words, and without the end, which quotes a token of any
  // length.
  std::string_view why = error.what();
  if (const size_t end = why.find("] "); end != std::string_view::npos) why.remove_prefix(end + 2);
  why = why.substr(0, why.find("; last read"));
  constexpr size_t kMaxShown = 200;
  status_ = absl::InvalidArgumentError("not JSON at byte " + std::to_string(position) + ": " +
                                       std::string(why.substr(0, kMaxShown)));
  return false;
}

}  // namespace

absl::StatusOr<std::vector<Endpoint>> ParseEndpointFile(std::string_view text) {
  if (text.size() > kMaxEndpointFileBytes) {
    return absl::InvalidArgumentError("longer than " + std::to_string(kMaxEndpointFileBytes >> 20) +
                                      " MiB");
  }
  // The library would take it for the end, and not look at what follows.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return absl::InvalidArgumentError("not JSON at byte " + std::to_string(zero + 1) +
                                      ": a zero byte");
  }
  Reader reader;
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) return reader.TakeStatus();
  return reader.TakeEndpoints();
}

std::string FormatEndpointFile(const EndpointSet& endpoints) {
  using Ordered = nlohmann::ordered_json;
  Ordered list = Ordered::array();
  for (const std::shared_ptr<const Endpoint>& endpoint : endpoints) {
    if (endpoint == nullptr) continue;
    const Locality& locality = endpoint->locality;
    Ordered entry = {
        {"address", endpoint->address},
        {"weight", endpoint->weight},
        {"priority", endpoint->priority},
        {"draining", endpoint->draining},
        {"locality",
         {{"region", locality.region}, {"zone", locality.zone}, {"sub_zone", locality.sub_zone}}},
        {"metadata", Ordered::object()}};
    for (const auto& [key, value] : endpoint->metadata) entry["metadata"][key] = value;
    list.push_back(std::move(entry));
  }
  return Ordered{{"endpoints", std::move(list)}}.dump(-1, ' ', /*ensure_ascii=*/false,
                                                      Ordered::error_handler_t::replace);
}

}  // namespace weft::inline v0::registry
