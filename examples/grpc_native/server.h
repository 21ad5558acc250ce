// The other side, for those who have none at hand: the kitchen on gRPC C++, in this process.
#ifndef WEFT_EXAMPLES_GRPC_NATIVE_SERVER_H_
#define WEFT_EXAMPLES_GRPC_NATIVE_SERVER_H_

#include <memory>
#include <string>

class Server {
 public:
  virtual ~Server() = default;  // stops it
  virtual std::string address() const = 0;
};

// On a free port of this machine. Null where the example was built without gRPC C++, or where the
// server could not start.
std::unique_ptr<Server> StartServer();

#endif  // WEFT_EXAMPLES_GRPC_NATIVE_SERVER_H_
