// Weight and bias of a norm over rows that lie as the operand of wgmma that comes from registers: in shared memory for
// each 16 columns and each t = lane % 4 the weights of columns 2t, 2t + 1, 2t + 8, 2t + 9, then their biases.
#pragma once
#include "prim/lanes.cuh"
#include "prim/memory.cuh"

namespace hstu::tile {

template <class Weight, int kDim>
class NormAffine {
 public:
  enum : int { kLine = 8 * static_cast<int>(sizeof(Weight)), kBytes = kDim / 4 * kLine };

  HSTU_PRIM explicit NormAffine(u32 smem) : mine_(smem + prim::lane_id() % 4 * kLine) {}

  // By kThreads threads; a barrier of theirs follows.
  template <int kThreads>
  HSTU_PRIM static void share(u32 smem, const void* weight, const void* bias) {
    for (u32 pair = threadIdx.x; pair < kDim / 2; pair += kThreads) {
      const u32 at = smem + (pair / 8 * 4 + pair % 4) * kLine + pair / 4 % 2 * 2 * sizeof(Weight);
      share_pair(at, weight, pair);
      share_pair(at + 4 * sizeof(Weight), bias, pair);
    }
  }

  // Of the 16 columns from 16 step on, the lane's.
  HSTU_PRIM void read(float (&weight)[4], float (&bias)[4], u32 step) const {
    const u32 at = mine_ + step * 4 * kLine;
    const prim::Quad first = prim::ld_shared(at);
    if constexpr (sizeof(Weight) == 2) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        weight[i] = half(first.word[i / 2], i % 2);
        bias[i] = half(first.word[2 + i / 2], i % 2);
      }
    } else {
      const prim::Quad second = prim::ld_shared(at + 16);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        weight[i] = __uint_as_float(first.word[i]);
        bias[i] = __uint_as_float(second.word[i]);
      }
    }
  }

 private:
  HSTU_PRIM static float half(u32 word, int which) {
    return which ? prim::unpack_hi<Weight>(word) : prim::unpack_lo<Weight>(word);
  }
  HSTU_PRIM static void share_pair(u32 to, const void* from, u32 pair) {
    if constexpr (sizeof(Weight) == 2)
      prim::st_shared(to, prim::ld_global4(static_cast<const Weight*>(from) + 2 * pair));
    else
      prim::st_shared(to, prim::ld_global8(static_cast<const Weight*>(from) + 2 * pair));
  }

  u32 mine_;
};

}  // namespace hstu::tile
