// What the scales of q, k and v make of the factors of scores and output, for attn_fp8_sm90.
#pragma once
#include "attn90/fp8_tile.cuh"
#include "prim/lanes.cuh"
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

// What scores and sums of products are multiplied by. A tile's rows have one scale, and so have its keys, or with
// scales of 128 rows those of each of its blocks (variant/scale_blocks.cuh): consumers say which keys they come to.
template <class Config, bool kBlockScales = variant::block_scales<Config>(0)>
class Factors {
 public:
  float half_alpha;    // of q k: half of alpha and the scales of q and k
  float gained_alpha;  // that times the gain of P
  float output;        // of P v: the scale of v over the gain

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
  // Once, when all else that a tile begins with is under way.
  HSTU_PRIM void survey() {}
  // The next keys are those of a block from `key` on, or of the block behind it: their scales are asked for, then used.
  HSTU_PRIM void come_to(int) {}
  HSTU_PRIM void come_to_next() {}
  HSTU_PRIM void settle() {}
};

// Since sums go on from block to block, P takes the scale of v before it is rounded, over the greatest of the keys that
// the tile sees, which O gets back: what has small values loses bits of its weights before others do. The gain goes by
// the greatest product of scales of k and v.
template <class Config>
class Factors<Config, true> {
 public:
  float half_alpha, gained_alpha, output;

  HSTU_PRIM Factors(const AttnFwdParams& p, const Fp8Tile<Config>& tile) : p_(p) {
    const i64 head = tile.head, kv_head = variant::kv_head_of<Config>(tile.head), first = tile.start / kRows;
    k_scale_ = p.k_scale + first * p.k_scale_stride + kv_head * p.k_scale_head_stride;
    v_scale_ = p.v_scale + first * p.v_scale_stride + kv_head * p.v_scale_head_stride;
    lead_ = static_cast<int>(tile.start) & (kRows - 1);
    const int own = (lead_ + tile.first_row) / kRows;
    alpha_ = p.half_alpha * p.q_scale[(first + own) * p.q_scale_stride + head * p.q_scale_head_stride];
    last_ = last_block(tile, own);
    const bool has_lower = tile.plan.blocks > tile.plan.upper_blocks;
    at_ = (lead_ + (has_lower ? tile.plan.lower_begin : tile.plan.upper_begin)) / kRows + prim::lane_id();
    k_ = v_ = 0;
    if (at_ <= last_) fetch_block();
  }
  HSTU_PRIM void survey() {
    // Of magnitudes; NaN is passed over.
    float v = fmaxf(fabsf(v_), 1e-30f), kv = fabsf(v_ * k_);  // scales may be zeros
#pragma unroll 1
    for (at_ += 32; at_ <= last_; at_ += 32) {
      fetch_block();
      v = fmaxf(v, fabsf(v_));
      kv = fmaxf(kv, fabsf(v_ * k_));
    }
    v = uniform_max(v);
    kv = uniform_max(fmaxf(kv, 0.0f));
    const float gain = weight_gain<Config>(alpha_ * (kv / v));
    weight_ = gain / v;
    output = v / gain;
  }

  HSTU_PRIM void come_to(int key) {
    at_ = lead_ + key;
    k_at_ = k_scale_ + at_ / kRows * p_.k_scale_stride;
    v_at_ = v_scale_ + at_ / kRows * p_.v_scale_stride;
    fetch();
  }
  HSTU_PRIM void come_to_next() {
    at_ = (at_ | (Config::kBlockN - 1)) + 1;
    if (at_ % kRows == 0) {
      k_at_ += p_.k_scale_stride;
      v_at_ += p_.v_scale_stride;
    }
    fetch();
  }
  // Lanes have the same, and what a reduction leaves lies in uniform registers: others the compiler puts where P of the
  // block before is, and then waits for its products before it weighs (799 TFLOP/s instead of 846).
  HSTU_PRIM void settle() {
    const float half = alpha_ * k_;
    half_alpha = uniform_max(half);
    gained_alpha = uniform_max(half * (weight_ * v_));
  }

 private:
  enum : int { kRows = variant::kScaleRows };
  // Of the bits of floats: the greatest of those that are not negative, and what all lanes have.
  HSTU_PRIM static float uniform_max(float x) { return __uint_as_float(prim::lane_max(__float_as_uint(x))); }
  // The last block of rows that the tile sees keys of; `own`: the one that it lies in.
  HSTU_PRIM int last_block(const Fp8Tile<Config>& tile, int own) const {
    if (Config::kCausal && !(Config::kContextual && tile.mask.is_contextual(tile.first_row))) return own;
    const int end = tile.plan.key_begin(tile.plan.blocks - 1) + Config::kBlockN;
    return (lead_ + variant::min_int(end, tile.mask.length) - 1) / kRows;
  }
  HSTU_PRIM void fetch() {
    k_ = *k_at_;
    v_ = *v_at_;
  }
  HSTU_PRIM void fetch_block() {
    k_at_ = k_scale_ + at_ * p_.k_scale_stride;
    v_at_ = v_scale_ + at_ * p_.v_scale_stride;
    fetch();
  }

  const AttnFwdParams& p_;
  const float *k_at_, *v_at_;        // of the keys at hand
  const float *k_scale_, *v_scale_;  // of the block of rows that the sequence begins in
  int lead_;                         // rows of that block before the sequence
  int at_;                           // row of the keys at hand, from that block's first on; at first a block
  int last_;                         // the last block that the tile sees keys of
  float alpha_, weight_;             // half of alpha and the scale of q; the gain of P over the greatest scale of v
  float k_, v_;
};

}  // namespace hstu::attn90
