#include "grpc_interop/server.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace weft::inline v0::testing {
namespace {

bool PeersAreRequired() {
  const char* required = std::getenv("WEFT_REQUIRE_PEERS");  // NOLINT(concurrency-mt-unsafe)
  return required != nullptr && std::string_view(required) == "1";
}

}  // namespace

std::string_view NameOf(InteropServerKind kind) {
  return kind == InteropServerKind::kGrpcCpp ? "the server on gRPC C++" : "the server on grpc-js";
}

std::string MissingServer(InteropServerKind kind) {
  std::string missing;
  if (kind == InteropServerKind::kGrpcJs) {
    if (!FindProgram("node").has_value()) {
      missing = "node is not installed";
    } else if (!std::filesystem::exists(WEFT_INTEROP_NODE_PACKAGES "/installed")) {
      missing = "the packages of the node server are not installed: ctest -R grpc_interop.packages";
    }
  }
  if (!missing.empty() && PeersAreRequired()) throw std::runtime_error(missing);
  return missing;
}

InteropServer::InteropServer(InteropServerKind kind, uint16_t port) : kind_(kind) {
  ProcessOptions options;
  if (kind == InteropServerKind::kGrpcCpp) {
    options.args = {WEFT_INTEROP_GRPC_SERVER};
  } else {
    options.args = {"node", WEFT_INTEROP_SOURCES "/servers/node/server.mjs",
                    WEFT_INTEROP_NODE_PACKAGES, WEFT_INTEROP_SOURCES "/interop.proto"};
  }
  options.args.push_back(std::to_string(port));
  // gRPC is not instrumented, so what the thread sanitizer says of a server on it means nothing.
  options.environment = {"TSAN_OPTIONS=report_bugs=0"};
  process_ = std::make_unique<Process>(options);
  std::istringstream words(process_->WaitForLine("ready "));
  std::string word;
  words >> word >> address_;
  port_ = static_cast<uint16_t>(std::stoi(address_.substr(address_.rfind(':') + 1)));
  while (words >> word) {
    if (word == "sees-compression") sees_compression_ = true;
    if (word == "answers-compressed") answers_compressed_ = true;
  }
}

int InteropServer::CountPeers() { return std::stoi(process_->Ask("peers")); }

void InteropServer::ForgetPeers() { process_->Ask("forget"); }

void InteropServer::SetServing(const std::string& service, bool serving) {
  process_->Ask("health " + service + (serving ? " serving" : " not-serving"));
}

}  // namespace weft::inline v0::testing
