#include "grpc_stub/this_stack.h"

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace weft::inline v0::grpc {
namespace {

struct Bounds {
  Bounds() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* lowest = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
      begin = reinterpret_cast<uintptr_t>(lowest);
      end = begin + size;
    }
    pthread_attr_destroy(&attributes);
  }
  bool Has(const void* object) const {
    const auto address = reinterpret_cast<uintptr_t>(object);
    return address >= begin && address < end;
  }
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

}  // namespace

bool OnThisStack(const void* object) {
  thread_local const Bounds bounds;
  // A fiber's stack is elsewhere: there the thread's own tells nothing.
  return bounds.Has(object) && bounds.Has(__builtin_frame_address(0));
}

}  // namespace weft::inline v0::grpc
