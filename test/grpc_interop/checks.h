// What several files of cases say.
#ifndef WEFT_TEST_GRPC_INTEROP_CHECKS_H_
#define WEFT_TEST_GRPC_INTEROP_CHECKS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "grpc_interop/client.h"
#include "support/catch.h"

namespace weft::inline v0::testing {

// Sizes of gRPC's interop tests.
inline constexpr size_t kLargeRequest = 271828;
inline constexpr size_t kLargeResponse = 314159;

// Zeros of the sizes in use shrink to less than this with gzip, frames and headers counted in.
inline constexpr size_t kLittle = 8000;

inline constexpr char kEchoInitial[] = "x-grpc-test-echo-initial";
inline constexpr char kEchoTrailing[] = "x-grpc-test-echo-trailing-bin";

// No case takes this long on any machine.
inline constexpr absl::Duration kInteropPatience = absl::Seconds(60);

inline std::string Zeros(size_t size) { return std::string(size, '\0'); }

// Without the zeros themselves in the message of a failure.
inline bool IsZeros(const std::string& body, size_t size) { return body == Zeros(size); }

// The values of `name`, in the order in which they came.
inline std::vector<std::string> ValuesOf(const InteropMetadata& metadata, const std::string& name) {
  std::vector<std::string> values;
  const auto [begin, end] = metadata.equal_range(name);
  for (auto i = begin; i != end; ++i) values.push_back(i->second);
  return values;
}

inline void CheckOk(const InteropOutcome& outcome) {
  INFO("code " << static_cast<int>(outcome.code) << ", message \"" << outcome.message << "\"");
  CHECK(outcome.ok());
}

inline void CheckCode(const InteropOutcome& outcome, absl::StatusCode code) {
  INFO("message \"" << outcome.message << "\"");
  CHECK(static_cast<int>(outcome.code) == static_cast<int>(code));
}

inline SimpleRequest LargeRequest() {
  SimpleRequest request;
  request.set_response_size(static_cast<int>(kLargeResponse));
  request.mutable_payload()->set_body(Zeros(kLargeRequest));
  return request;
}

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_CHECKS_H_
