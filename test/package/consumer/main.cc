// What the smallest user of Weft writes.

#include <cstdio>
#include <memory>

#include "absl/status/statusor.h"
#include "weft/weft.h"

int main() {
  absl::StatusOr<std::shared_ptr<weft::ChannelFactory>> factory = weft::ChannelFactory::Create({});
  if (!factory.ok()) {
    std::fprintf(stderr, "%s\n", factory.status().ToString().c_str());
    return 1;
  }
  if (!(*factory)->GetChannel("127.0.0.1:1").ok()) return 1;
  std::puts("weft works");
  return 0;
}
