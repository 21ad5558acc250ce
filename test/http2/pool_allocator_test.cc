#include "http2/pool_allocator.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "support/catch.h"

namespace weft::http2 {
namespace {

TEST_CASE("blocks are aligned, keep their bytes and do not overlap") {
  PoolAllocator allocator;
  base::Random random(7);
  struct Block {
    uint8_t* bytes;
    size_t size;
    uint8_t fill;
  };
  std::vector<Block> blocks;
  for (int i = 0; i < 20000; ++i) {
    const auto fill = static_cast<uint8_t>(i);
    const size_t size = random.Below(10) == 0 ? random.Below(20000) : random.Below(600) + 1;
    if (random.Below(2) == 0 || blocks.empty()) {
      auto* bytes = static_cast<uint8_t*>(allocator.Allocate(size));
      REQUIRE(reinterpret_cast<uintptr_t>(bytes) % alignof(std::max_align_t) == 0);
      std::memset(bytes, fill, size);
      blocks.push_back({bytes, size, fill});
      continue;
    }
    const size_t which = random.Below(blocks.size());
    Block& block = blocks[which];
    if (random.Below(3) == 0 && size > 0) {
      block.bytes = static_cast<uint8_t*>(allocator.Reallocate(block.bytes, size));
      for (size_t k = 0; k < std::min(size, block.size); ++k) REQUIRE(block.bytes[k] == block.fill);
      std::memset(block.bytes, fill, size);
      block = {block.bytes, size, fill};
      continue;
    }
    for (size_t k = 0; k < block.size; ++k) REQUIRE(block.bytes[k] == block.fill);
    allocator.Free(block.bytes);
    block = blocks.back();
    blocks.pop_back();
  }
  for (const Block& block : blocks) allocator.Free(block.bytes);
  CHECK(allocator.kept_bytes() <= 8 * (size_t{256} << 10));
}

TEST_CASE("zeroed memory is zero, also where it was used before") {
  PoolAllocator allocator;
  for (int i = 0; i < 3; ++i) {
    auto* bytes = static_cast<uint8_t*>(allocator.AllocateZeroed(10, 10));
    for (int k = 0; k < 100; ++k) REQUIRE(bytes[k] == 0);
    std::memset(bytes, 0xff, 100);
    allocator.Free(bytes);
  }
  CHECK(allocator.AllocateZeroed(SIZE_MAX, 2) == nullptr);
}

TEST_CASE("null is freed and grown like malloc's") {
  PoolAllocator allocator;
  allocator.Free(nullptr);
  void* block = allocator.Reallocate(nullptr, 10);
  REQUIRE(block != nullptr);
  allocator.Free(block);
}

TEST_CASE("nghttp2's functions reach the allocator") {
  PoolAllocator allocator;
  nghttp2_mem* mem = allocator.mem();
  void* block = mem->malloc(10, mem->mem_user_data);
  block = mem->realloc(block, 100, mem->mem_user_data);
  mem->free(block, mem->mem_user_data);
  block = mem->calloc(2, 50, mem->mem_user_data);
  CHECK(static_cast<char*>(block)[99] == 0);
  mem->free(block, mem->mem_user_data);
}

}  // namespace
}  // namespace weft::http2
