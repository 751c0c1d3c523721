// Prefetch of what a thread itself will need next, by cp.async to shared memory: pieces of 16 bytes or fewer that no
// other thread touches, so that no barrier is needed.
#pragma once
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "tile/row_pack.cuh"

namespace hstu::tile {

template <int kPieces, int kThreads, int kBytes = 16>
class ThreadPrefetch {
  const u32 mine_;

 public:
  enum : int { kSmemBytes = kPieces * kThreads * kBytes };

  HSTU_PRIM explicit ThreadPrefetch(const unsigned char* smem) : mine_(prim::smem_addr(smem) + threadIdx.x * kBytes) {}

  // Starts a piece, or lets it be zeros. consumed: words that depend on all pieces that were there before, which have
  // then arrived in registers.
  HSTU_PRIM void start(int piece, const void* from, bool reads, u32 consumed) const {
    const u32 to = mine_ + (consumed & prim::opaque_zero()) + piece * kThreads * kBytes;
    if constexpr (kBytes == 16) prim::cp_async16_or_zero(to, from, reads);
    if constexpr (kBytes == 8) prim::cp_async8_zfill(to, from, reads ? 8 : 0);
    if constexpr (kBytes == 4) prim::cp_async4_zfill(to, from, reads ? 4 : 0);
    if constexpr (kBytes == 2) prim::st_shared2(to, reads ? prim::ld_global2(from) : 0);  // no copy is as narrow
  }
  HSTU_PRIM void commit() const { prim::cp_async_commit(); }
  // Until at most kLater of the commits are under way.
  template <int kLater = 0>
  HSTU_PRIM void wait() const {
    prim::cp_async_wait<kLater>();
  }

  template <class Element, int Count>
  HSTU_PRIM void read(RowPack<Element, Count>& pack, int piece) const {
    static_assert(static_cast<int>(RowPack<Element, Count>::kBytes) == kBytes, "a pack is a piece");
    const u32 from = mine_ + piece * kThreads * kBytes;
    if constexpr (kBytes == 16) {
      const prim::Quad quad = prim::ld_shared(from);
#pragma unroll
      for (int i = 0; i < 4; ++i) pack.word[i] = quad.word[i];
    } else if constexpr (kBytes == 8) {
      const prim::Pair pair = prim::ld_shared8(from);
      pack.word[0] = pair.word[0];
      pack.word[1] = pair.word[1];
    } else {
      pack.word[0] = kBytes == 4 ? prim::ld_shared4(from) : prim::ld_shared2(from);
    }
  }
};

// A row shape's config with a row at a time, for kernels that take kRowsPerThread rows one after the other.
template <class Config>
struct OneRow : Config {
  enum : int { kRowsPerThread = 1 };
};

}  // namespace hstu::tile
