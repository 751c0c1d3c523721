// O += P V for the sm_90 attention kernels, and the products of a row with its own key alone.
#pragma once
#include "attention/sm90/scores.cuh"

namespace hstu::attn90 {

// O += P V for kKeys keys from `row` of the stage on; one group of products.
template <int kKeys, class Config, class Tile>
HSTU_PRIM void issue_pv(const Warpgroup<Config, Tile>& wg, float (&o)[Shape<Config>::kColsV / 2],
                        const u32 (&w)[kKeys / 4], u32 stage, int row) {
  using T = Shape<Config>;
  using Element = typename Config::Element;
  const u64 v = prim::smem_descriptor(wg.v_rows(stage, row), T::kBlockN * 128, 1024, prim::kSwizzle128);
#pragma unroll
  for (int step = 0; step < kKeys / 16; ++step)
    prim::Wgmma<T::kColsV>::template rs<Element, Element, 1>(
        o, w[step * 4], w[step * 4 + 1], w[step * 4 + 2], w[step * 4 + 3], prim::advance_descriptor(v, step * 2048), 1);
  prim::wgmma_commit();
}

// O += silu(q_i . k_i) v_i for targets, which see no other target: the warpgroup's own rows, from row `at` of the
// stage on, as ldmatrix has them, in the places of the accumulators. Tensor cores would make 64 scores a row for one.
template <class Config, class Tile, class Params>
HSTU_PRIM void own_rows(const Warpgroup<Config, Tile>& wg, const Params& p, float (&o)[Shape<Config>::kColsV / 2],
                        const u32 (&q)[Shape<Config>::kQWords][4], u32 stage, int at) {
  using T = Shape<Config>;
  using Element = typename Config::Element;
  const u32 k_rows = wg.k_rows(stage, at);
  const u32 v_rows = wg.v_rows(stage, at);
  float score[2] = {0.0f, 0.0f};
#pragma unroll
  for (int step = 0; step < T::kStepsQk; ++step) {
    u32 own[4], k[4];
    if (step >= T::kQSteps) prim::ldmatrix_x4(own, wg.template fragment<T::kBlockM>(wg.q_rows(), step));
    prim::ldmatrix_x4(k, wg.template fragment<T::kBlockN>(k_rows, step));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const u32 word = step < T::kQSteps ? q[step < T::kQSteps ? step : 0][i] : own[i];
      score[i % 2] += prim::unpack_lo<Element>(word) * prim::unpack_lo<Element>(k[i]);
      score[i % 2] += prim::unpack_hi<Element>(word) * prim::unpack_hi<Element>(k[i]);
    }
  }
#pragma unroll
  for (float& s : score) s = prim::lane_sum<4>(s);
  silu_in_place(p, score);
  const u32 rounded = prim::pack2<Element>(score[0], score[1]);
  const float weight[2] = {prim::unpack_lo<Element>(rounded), prim::unpack_hi<Element>(rounded)};
#pragma unroll
  for (int step = 0; step < T::kColsV / 16; ++step) {
    u32 v[4];
    prim::ldmatrix_x4(v, wg.template fragment<T::kBlockN>(v_rows, step));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      o[step * 8 + i * 2] += weight[i % 2] * prim::unpack_lo<Element>(v[i]);
      o[step * 8 + i * 2 + 1] += weight[i % 2] * prim::unpack_hi<Element>(v[i]);
    }
  }
  wg.sync();  // all warps have read what one thread releases
}

}  // namespace hstu::attn90
