// What a thread will need next, on its way to shared memory without registers: 16-byte pieces that no other thread
// touches, so that no barrier is needed.
#pragma once
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "tile/row_pack.cuh"

namespace hstu::tile {

template <int kPieces, int kThreads>
class OwnAhead {
  const u32 mine_;

 public:
  enum : int { kSmemBytes = kPieces * kThreads * 16 };

  HSTU_PRIM explicit OwnAhead(const unsigned char* smem) : mine_(prim::smem_addr(smem) + threadIdx.x * 16) {}

  // Starts a piece, or lets it be zeros. taken: words that depend on all pieces that were there before, which have then
  // arrived in registers.
  HSTU_PRIM void start(int piece, const void* from, bool reads, u32 taken) const {
    prim::cp_async16_or_zero(mine_ + (taken & prim::opaque_zero()) + piece * kThreads * 16, from, reads);
  }
  HSTU_PRIM void commit() const { prim::cp_async_commit(); }
  HSTU_PRIM void wait() const { prim::cp_async_wait<0>(); }

  template <class Element, int Count>
  HSTU_PRIM void take(RowPack<Element, Count>& pack, int piece) const {
    static_assert(RowPack<Element, Count>::kBytes == 16, "pieces are 16 bytes");
    const prim::Quad quad = prim::ld_shared(mine_ + piece * kThreads * 16);
#pragma unroll
    for (int i = 0; i < 4; ++i) pack.word[i] = quad.word[i];
  }
};

// A row shape's config with a row at a time, for kernels that take kRowsPerThread rows one after the other.
template <class Config>
struct OneRow : Config {
  enum : int { kRowsPerThread = 1 };
};

}  // namespace hstu::tile
