// Tiles of query rows of HSTU attention in FP8: what the scales of q, k and v make of the factors of scores and output.
#pragma once
#include "attn90/hstu_tile.cuh"
#include "variant/kv_heads.cuh"

namespace hstu::attn90 {

// P = silu(x) is rounded to e4m3 times a power of two, which the output's factor undoes. Scores cannot pass
// bound = |alpha| scale_q scale_k 448^2 head_dim, and only rows parallel to keys come near; with P up to an eighth of
// that the gain makes use of all of e4m3, and weights beyond it saturate. Without scales that say how large scores are
// (a plain cast) it is 1: weights up to 448 are then exact to a sixteenth, and those below 2^-6 to 2^-10.
template <class Config>
HSTU_PRIM float weight_gain(float half_alpha) {
  constexpr float kReach = 8.0f * 448.0f / (2.0f * 448.0f * 448.0f * Config::kHeadDimQk);
  const u32 gain = __float_as_uint(__fdividef(kReach, fabsf(half_alpha))) & 0x7f800000u;
  return __uint_as_float(min(max(gain, __float_as_uint(1.0f)), __float_as_uint(1048576.0f)));
}

template <class Config>
struct Fp8Tile : HstuTile<Config> {
  variant::RowsView<Config> views[Config::kConsumers];  // what each warpgroup's rows see of parts of blocks
};

template <class Config>
struct Fp8Place : HstuPlace<Config> {
  HSTU_PRIM Fp8Place(const AttnFwdParams& p, u32 index) : HstuPlace<Config>(p, index) {}

  HSTU_PRIM void describe(const variant::RowTilePlan<Config>& plan, Fp8Tile<Config>& tile) const {
    HstuPlace<Config>::describe(plan, tile);
#pragma unroll 1
    for (int group = 0; group < Config::kConsumers; ++group)
      tile.views[group] = SeenBlocks<Config>::view_of(this->mask, this->first_row, group);
  }
};

// Factors of a tile's sums of products.
struct Factors {
  float half_alpha;    // of q k: half of alpha and the scales of q and k
  float gained_alpha;  // that times the gain of P
  float output;        // of P v: the scale of v over the gain

  template <class Config>
  HSTU_PRIM Factors(const AttnFwdParams& p, const Fp8Tile<Config>& tile) {
    const i64 seq = tile.seq, head = tile.head, kv_head = variant::kv_head_of<Config>(tile.head);
    const float q_scale = p.q_scale[seq * p.q_scale_stride + head * p.q_scale_head_stride];
    const float k_scale = p.k_scale[seq * p.k_scale_stride + kv_head * p.k_scale_head_stride];
    const float v_scale = p.v_scale[seq * p.v_scale_stride + kv_head * p.v_scale_head_stride];
    half_alpha = p.half_alpha * q_scale * k_scale;
    const float gain = weight_gain<Config>(half_alpha);
    gained_alpha = half_alpha * gain;
    output = v_scale / gain;
  }
};

}  // namespace hstu::attn90
