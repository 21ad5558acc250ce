// Messages on their way: protobuf messages, or bytes.
#ifndef WEFT_LIB_GRPC_MESSAGE_H_
#define WEFT_LIB_GRPC_MESSAGE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "grpc/framing.h"
#include "weft/grpc/context.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace weft::inline v0::grpc {

// What is to be sent; a view.
class Outgoing {
 public:
  explicit Outgoing(const google::protobuf::MessageLite& message) : message_(&message) {}
  explicit Outgoing(std::string_view bytes) : bytes_(bytes) {}

  // Appends it as a frame, serialised straight into its place, compressed unless that would make it
  // longer. RESOURCE_EXHAUSTED where it is above the limit of the context, which may be null.
  absl::Status AppendTo(std::string& out, Compression compression, const Context* context) const;

 private:
  const google::protobuf::MessageLite* message_ = nullptr;
  std::string_view bytes_;
};

// Where what is received is to go. A null place takes the message and forgets it.
class Incoming {
 public:
  explicit Incoming(google::protobuf::MessageLite* message) : message_(message) {}
  explicit Incoming(std::string* bytes) : bytes_(bytes) {}
  static Incoming Nowhere() { return Incoming(static_cast<std::string*>(nullptr)); }

  // Parses from where the bytes are, unless they have to be inflated first. INTERNAL where they are
  // no such message; RESOURCE_EXHAUSTED where they would inflate to more than `max_bytes`.
  absl::Status Take(const Frame& frame, std::optional<std::string_view> grpc_encoding,
                    size_t max_bytes) const;

 private:
  google::protobuf::MessageLite* message_ = nullptr;
  std::string* bytes_ = nullptr;
};

}  // namespace weft::inline v0::grpc

#endif  // WEFT_LIB_GRPC_MESSAGE_H_
