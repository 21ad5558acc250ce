// Nothing of Weft: a usual server on gRPC C++, with the stubs that its plugin generated.
#include "server.h"

#include <grpcpp/grpcpp.h>

#include <map>
#include <utility>

#include "kitchen.grpc.pb.h"

namespace {

using kitchen::Bill;
using kitchen::Dish;
using kitchen::Step;

class KitchenService final : public kitchen::Kitchen::Service {
 public:
  grpc::Status Price(grpc::ServerContext* context, const Dish* dish, Bill* bill) override {
    const auto found = prices_.find(dish->name());
    if (found == prices_.end()) {
      context->AddTrailingMetadata("try", "soup");
      return {grpc::StatusCode::NOT_FOUND, "there is no " + dish->name() + " on the menu"};
    }
    bill->set_cents(found->second);
    return grpc::Status::OK;
  }

  grpc::Status Cook(grpc::ServerContext*, const Dish* dish,
                    grpc::ServerWriter<Step>* steps) override {
    for (const char* what : {"chopped", "boiled", "served"}) {
      if (!steps->Write(Now(dish->name(), what))) break;  // nobody waits for it any more
    }
    return grpc::Status::OK;
  }

  grpc::Status Table(grpc::ServerContext*, grpc::ServerReaderWriter<Step, Dish>* table) override {
    Dish dish;
    while (table->Read(&dish)) table->Write(Now(dish.name(), "served"));
    return grpc::Status::OK;
  }

 private:
  static Step Now(const std::string& dish, const char* what) {
    Step step;
    step.set_dish(dish);
    step.set_what(what);
    return step;
  }

  const std::map<std::string, int> prices_ = {{"soup", 450}, {"bread", 120}};
};

class KitchenServer final : public Server {
 public:
  KitchenServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
  }
  ~KitchenServer() override {
    if (server_ != nullptr) server_->Shutdown();
  }
  bool runs() const { return server_ != nullptr && port_ != 0; }
  std::string address() const override { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int port_ = 0;
  KitchenService service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

std::unique_ptr<Server> StartServer() {
  auto server = std::make_unique<KitchenServer>();
  if (!server->runs()) return nullptr;
  return server;
}
