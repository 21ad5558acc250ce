// The smallest user of weft::grpc.

#include <cstdio>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "google/protobuf/wrappers.pb.h"
#include "weft/grpc/status_details.h"

int main() {
  google::protobuf::StringValue message;
  message.set_value("weft::grpc works");
  absl::Status status = absl::NotFoundError("why");
  if (weft::grpc::StatusDetails(status).has_value()) return 1;
  status.SetPayload(weft::grpc::kStatusDetailsUrl, absl::Cord(message.SerializeAsString()));
  const std::optional<std::string> details = weft::grpc::StatusDetails(status);
  google::protobuf::StringValue got;
  if (!details.has_value() || !got.ParseFromString(*details)) return 1;
  std::puts(got.value().c_str());
  return 0;
}
