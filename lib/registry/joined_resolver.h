// JoinedResolver: one service in several registries; weft/registries.h (FallbackRegistry,
// MergedRegistry) says what is made of that.
#ifndef WEFT_LIB_REGISTRY_JOINED_RESOLVER_H_
#define WEFT_LIB_REGISTRY_JOINED_RESOLVER_H_

#include <memory>
#include <vector>

#include "weft/resolver.h"

namespace weft::inline v0::registry {

class JoinedResolver final : public Resolver {
 public:
  enum class Kind { kFirst, kAll };

  // At least one source, none of them null.
  JoinedResolver(Kind kind, std::vector<std::unique_ptr<Resolver>> sources);
  ~JoinedResolver() override;
  // Sources are started in their order.
  void Start(std::shared_ptr<ResolverSink> sink) override;

 private:
  class Joint;
  class Part;
  const Kind kind_;
  std::vector<std::unique_ptr<Resolver>> sources_;
};

}  // namespace weft::inline v0::registry

#endif  // WEFT_LIB_REGISTRY_JOINED_RESOLVER_H_
