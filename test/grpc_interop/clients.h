// The clients that the cases run with.
#ifndef WEFT_TEST_GRPC_INTEROP_CLIENTS_H_
#define WEFT_TEST_GRPC_INTEROP_CLIENTS_H_

#include <memory>
#include <string>
#include <vector>

#include "grpc_interop/client.h"

namespace weft::inline v0::testing {

struct InteropClientKind {
  std::string name;
  std::unique_ptr<InteropClient> (*make)(const std::string& address);
};
std::vector<InteropClientKind> InteropClients();

}  // namespace weft::inline v0::testing

#endif  // WEFT_TEST_GRPC_INTEROP_CLIENTS_H_
