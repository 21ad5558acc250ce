#include "http2/pool_allocator.h"

#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_HTTP2_PLAIN_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_HTTP2_PLAIN_MALLOC 1
#endif
#endif

namespace weft::inline v0::http2 {
namespace {

// Before each block: which list it belongs to, and its usable size.
struct alignas(std::max_align_t) Head {
  uint32_t list;
  size_t size;
};

[[maybe_unused]] constexpr uint32_t kNoList = UINT32_MAX;

Head* HeadOf(void* block) { return static_cast<Head*>(block) - 1; }

PoolAllocator& Self(void* user_data) { return *static_cast<PoolAllocator*>(user_data); }

}  // namespace

PoolAllocator::PoolAllocator()
    : mem_{
          this, [](size_t size, void* self) { return Self(self).Allocate(size); },
          [](void* block, void* self) { Self(self).Free(block); },
          [](size_t count, size_t size, void* self) {
            return Self(self).AllocateZeroed(count, size);
          },
          [](void* block, size_t size, void* self) { return Self(self).Reallocate(block, size); }} {
}

PoolAllocator::~PoolAllocator() {
  for (List& list : lists_) {
    while (list.first != nullptr) {
      FreeBlock* block = list.first;
      list.first = block->next;
      std::free(HeadOf(block));
    }
  }
}

void* PoolAllocator::Allocate(size_t size) {
#ifdef WEFT_HTTP2_PLAIN_MALLOC
  return std::malloc(size);
#else
  uint32_t i = 0;
  while (i < kSizes.size() && kSizes[i] < size) ++i;
  if (i == kSizes.size()) {
    if (size > SIZE_MAX - sizeof(Head)) return nullptr;
    auto* head = static_cast<Head*>(std::malloc(sizeof(Head) + size));
    if (head == nullptr) return nullptr;
    *head = {kNoList, size};
    return head + 1;
  }
  List& list = lists_[i];
  if (list.first != nullptr) {
    FreeBlock* block = list.first;
    list.first = block->next;
    list.bytes -= kSizes[i];
    return block;
  }
  auto* head = static_cast<Head*>(std::malloc(sizeof(Head) + kSizes[i]));
  if (head == nullptr) return nullptr;
  *head = {i, kSizes[i]};
  return head + 1;
#endif
}

void* PoolAllocator::AllocateZeroed(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) return nullptr;
  void* block = Allocate(count * size);
  if (block != nullptr) std::memset(block, 0, count * size);
  return block;
}

void* PoolAllocator::Reallocate(void* block, size_t size) {
#ifdef WEFT_HTTP2_PLAIN_MALLOC
  return std::realloc(block, size);
#else
  if (block == nullptr) return Allocate(size);
  const size_t old_size = HeadOf(block)->size;
  if (size <= old_size) return block;
  void* grown = Allocate(size);
  if (grown == nullptr) return nullptr;
  std::memcpy(grown, block, old_size);
  Free(block);
  return grown;
#endif
}

void PoolAllocator::Free(void* block) {
#ifdef WEFT_HTTP2_PLAIN_MALLOC
  std::free(block);
#else
  if (block == nullptr) return;
  Head* head = HeadOf(block);
  if (head->list == kNoList || lists_[head->list].bytes + head->size > kKept) {
    std::free(head);
    return;
  }
  List& list = lists_[head->list];
  list.bytes += head->size;
  list.first = new (block) FreeBlock{list.first};
#endif
}

size_t PoolAllocator::kept_bytes() const {
  size_t bytes = 0;
  for (const List& list : lists_) bytes += list.bytes;
  return bytes;
}

}  // namespace weft::inline v0::http2
