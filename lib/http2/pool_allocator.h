// PoolAllocator: memory for one nghttp2 session, from free lists of a few sizes. nghttp2 asks for
// four small blocks per call and gives them back soon; the lists spare the walk through malloc. Not
// thread-safe, like the session.
//
// Under AddressSanitizer it hands everything to malloc, so that errors in the use of a block are
// seen.
#ifndef WEFT_LIB_HTTP2_POOL_ALLOCATOR_H_
#define WEFT_LIB_HTTP2_POOL_ALLOCATOR_H_

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::inline v0::http2 {

class PoolAllocator {
 public:
  PoolAllocator();
  PoolAllocator(const PoolAllocator&) = delete;
  PoolAllocator& operator=(const PoolAllocator&) = delete;
  ~PoolAllocator();

  // For nghttp2_session_client_new3; valid as long as this object, which outlives the session.
  nghttp2_mem* mem() { return &mem_; }

  // Null where there is no memory.
  void* Allocate(size_t size);
  void* AllocateZeroed(size_t count, size_t size);
  void* Reallocate(void* block, size_t size);
  void Free(void* block);

  // Bytes kept for later use; bounded by kKept per size.
  size_t kept_bytes() const;

 private:
  static constexpr std::array<uint32_t, 8> kSizes = {32, 64, 128, 192, 256, 512, 1024, 4096};
  static constexpr size_t kKept = size_t{256} << 10;
  struct FreeBlock {
    FreeBlock* next;
  };
  struct List {
    FreeBlock* first = nullptr;
    size_t bytes = 0;
  };

  nghttp2_mem mem_;
  std::array<List, kSizes.size()> lists_;
};

}  // namespace weft::inline v0::http2

#endif  // WEFT_LIB_HTTP2_POOL_ALLOCATOR_H_
