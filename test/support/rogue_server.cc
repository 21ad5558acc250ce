#include "support/rogue_server.h"

#include <utility>

namespace weft::inline v0::testing {

RogueServer::RogueServer(SimEnv& env, std::string_view address, RogueOptions options)
    : env_(env),
      address_(address),
      host_(env.network().host(address)),
      options_(std::make_shared<RogueOptions>(std::move(options))) {
  Listen();
}

RogueServer::~RogueServer() {
  StopListening();
  for (auto& connection : connections_) {
    connection->stream().OnBytes(nullptr);
    connection->stream().OnEnd(nullptr);
    connection->stream().OnReset(nullptr);
    connection->stream().Reset();
  }
}

void RogueServer::Listen() {
  host_.Listen([this](SimServerStream stream) { Accept(std::move(stream)); });
}

void RogueServer::Accept(SimServerStream stream) {
  connections_.push_back(std::make_unique<RogueConnection>(options_, &env_, stream));
  RogueConnection* connection = connections_.back().get();
  stream.OnEnd([connection] {
    connection->stream().Close();
    connection->Closed();
  });
  stream.OnReset([connection] { connection->Closed(); });
  connection->Start();
  stream.OnBytes([connection](std::string_view bytes) { connection->Receive(bytes); });
}

void RogueServer::Kill() {
  StopListening();
  for (auto& connection : connections_) {
    connection->stream().Reset();
    connection->Closed();
  }
}

void RogueServer::Drain() {
  for (auto& connection : connections_) {
    if (!connection->stream().closed()) connection->Drain();
  }
}

size_t RogueServer::open_connections() {
  size_t open = 0;
  for (auto& connection : connections_) open += connection->stream().closed() ? 0 : 1;
  return open;
}

std::vector<const RogueRequest*> RogueServer::requests() const {
  std::vector<const RogueRequest*> all;
  for (const auto& connection : connections_) {
    for (const auto& [stream, request] : connection->requests()) all.push_back(&request);
  }
  return all;
}

std::vector<std::string> RogueServer::Ids() const {
  std::vector<std::string> ids;
  for (const RogueRequest* request : requests()) ids.emplace_back(request->id());
  return ids;
}

uint64_t RogueServer::request_count() const {
  uint64_t count = 0;
  for (const auto& connection : connections_) count += connection->request_count();
  return count;
}

size_t RogueServer::open_streams() const {
  size_t open = 0;
  for (const auto& connection : connections_) {
    if (!connection->stream().closed()) open += connection->open_streams();
  }
  return open;
}

std::vector<std::string> RogueServer::violations() const {
  std::vector<std::string> all;
  for (const auto& connection : connections_) {
    for (const std::string& what : connection->violations()) {
      all.push_back("connection " + std::to_string(connection->id()) + ": " + what);
    }
  }
  return all;
}

}  // namespace weft::inline v0::testing
