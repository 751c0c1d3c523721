// What the scales of q, k and v make of the factors of scores and output, for attn_fp8_sm90. A tile's are found by the
// warp that describes it, while consumers are busy with the tile before; those of per-block scales (of 128 rows) come
// with the keys.
#pragma once
#include "attention/attn_fwd.h"
#include "attention/sm90/load.cuh"
#include "attention/variant/kv_heads.cuh"
#include "attention/variant/scale_blocks.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "tile/tma_ring.cuh"

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

// Of a tile. With per-block scales the first two lack those of k and v.
struct TileFactors {
  float half_alpha;  // of q k: half of alpha and the scales of q and k
  float weight;      // of P: its gain
  float output;      // of P v: the scale of v over the gain
};

// Of per-tensor, per-head or per-sequence scales, which are one number a tile.
template <class Config>
HSTU_PRIM TileFactors factors_of_pair(const AttnFwdParams& p, i64 seq, i64 head) {
  const i64 kv_head = variant::kv_head_of<Config>(static_cast<int>(head));
  const float q_scale = p.q_scale[seq * p.q_scale_stride + head * p.q_scale_head_stride];
  const float k_scale = p.k_scale[seq * p.k_scale_stride + kv_head * p.k_scale_head_stride];
  const float v_scale = p.v_scale[seq * p.v_scale_stride + kv_head * p.v_scale_head_stride];
  const float half_alpha = p.half_alpha * q_scale * k_scale, gain = weight_gain<Config>(half_alpha);
  return {half_alpha, gain, v_scale / gain};
}

// Where the scales of a sequence's keys lie, one for 128 rows of the tensor.
template <class Config>
class KeyScales {
 public:
  enum : int { kRows = variant::kScaleRows };

  HSTU_PRIM KeyScales(const AttnFwdParams& p, i64 start, int head) : p_(&p) {
    const i64 first = start / kRows, kv_head = variant::kv_head_of<Config>(head);
    k_scale_ = p.k_scale + first * p.k_scale_stride + kv_head * p.k_scale_head_stride;
    v_scale_ = p.v_scale + first * p.v_scale_stride + kv_head * p.v_scale_head_stride;
    lead_ = static_cast<int>(start) & (kRows - 1);
  }
  // Number of the 128 rows that a position lies in, from those on that the sequence begins in.
  HSTU_PRIM int block_of(int position) const { return (lead_ + position) / kRows; }
  HSTU_PRIM float k_scale(int block) const { return k_scale_[block * p_->k_scale_stride]; }
  HSTU_PRIM float v_scale(int block) const { return v_scale_[block * p_->v_scale_stride]; }

 private:
  const AttnFwdParams* p_;
  const float *k_scale_, *v_scale_;
  int lead_;  // rows before the sequence
};

// Of per-block scales. Since sums go on from block to block, P takes the scale of v before it is rounded, over the
// largest of the keys that the tile sees, which O gets back: what has small values loses bits of its weights before
// others do. The gain goes by the largest product of scales of k and v. By all lanes of a warp.
template <class Config, class Tile>
HSTU_PRIM TileFactors factors_of_blocks(const AttnFwdParams& p, const Tile& tile) {
  const KeyScales<Config> keys(p, tile.start, tile.head);
  const int own = keys.block_of(tile.first_row);
  const i64 rows = tile.start / variant::kScaleRows + own;
  const float alpha = p.half_alpha * p.q_scale[rows * p.q_scale_stride + tile.head * p.q_scale_head_stride];
  const int end = keys.block_of(tile.keys_end() - 1);
  float v = 1e-30f, kv = 0.0f;  // of magnitudes; scales may be zeros, and NaN is passed over
#pragma unroll 1
  for (int at = keys.block_of(tile.keys_begin()) + prim::lane_id(); at <= end; at += 32) {
    const float k_scale = keys.k_scale(at), v_scale = keys.v_scale(at);
    v = fmaxf(v, fabsf(v_scale));
    kv = fmaxf(kv, fabsf(k_scale * v_scale));
  }
  v = __uint_as_float(prim::lane_max(__float_as_uint(v)));
  kv = __uint_as_float(prim::lane_max(__float_as_uint(kv)));
  const float gain = weight_gain<Config>(alpha * (kv / v));
  return {alpha, gain / v, v / gain};
}

// With per-block scales: what makes P of the scores of each block of keys, in shared memory beside the ring of keys.
// Twice as many slots as stages, for who has read a slot releases no more than the next block's keys.
template <class Config>
struct FactorSlots {
  enum : int { kCount = 2 * Config::kStages };
  u32 smem;

  HSTU_PRIM u32 at(const tile::PipelineState<Config::kStages>& place) const {
    return smem + 8 * (place.stage + place.parity * Config::kStages);
  }
};

// Brings them: the thread that loads the keys, which asks for those of a block when it has begun to load the one
// before.
template <class Config, class Tile>
class KeyFactors {
 public:
  enum : bool { kReadsTile = true };
  HSTU_PRIM KeyFactors(const AttnFwdParams& p, u32 slots) : p_(p), slots_{slots} {}

  HSTU_PRIM void begin(const Tile& tile) { tile_ = &tile; }
  HSTU_PRIM void fetch(int key) {
    const KeyScales<Config> keys(p_, tile_->start, tile_->head);
    const int block = keys.block_of(key);
    k_ = keys.k_scale(block);
    v_ = keys.v_scale(block);
  }
  HSTU_PRIM void put(const tile::PipelineState<Config::kStages>& place) const {
    const float half = tile_->factors.half_alpha * k_, gained = half * (tile_->factors.weight * v_);
    prim::st_shared(slots_.at(place), prim::Pair{{__float_as_uint(half), __float_as_uint(gained)}});
  }

 private:
  const AttnFwdParams& p_;
  FactorSlots<Config> slots_;
  const Tile* tile_;
  float k_, v_;
};

// What the loader brings beside the keys.
template <class Config, class Tile>
HSTU_PRIM auto key_factors(const AttnFwdParams& p, u32 slots) {
  if constexpr (variant::block_scales<Config>(0))
    return KeyFactors<Config, Tile>(p, slots);
  else
    return KeysAlone();
}

// What a consumer multiplies scores and sums of products by.
template <class Config, bool kBlockScales = variant::block_scales<Config>(0)>
class Factors {
 public:
  float half_alpha;    // of q k: half of alpha and the scales of q and k
  float gained_alpha;  // that times what P is multiplied with
  float output;

  HSTU_PRIM Factors(const TileFactors& of, u32)
      : half_alpha(of.half_alpha), gained_alpha(of.half_alpha * of.weight), output(of.output) {}
  // The next keys are those of this stage of the ring, which have come: their factors are loaded, then broadcast.
  HSTU_PRIM void load(const tile::PipelineState<Config::kStages>&) {}
  HSTU_PRIM void broadcast() {}
};
template <class Config>
class Factors<Config, true> {
 public:
  float half_alpha, gained_alpha, output;

  HSTU_PRIM Factors(const TileFactors& of, u32 slots) : output(of.output), slots_{slots} {}
  // By a warp's first lane, which releases the keys too.
  HSTU_PRIM void load(const tile::PipelineState<Config::kStages>& place) {
    pair_ = {{0, 0}};
    if (prim::lane_id() == 0) pair_ = prim::ld_shared8(slots_.at(place));
  }
  // To all lanes. What a reduction leaves lies in uniform registers: others the compiler puts where P of the block
  // before is, and then waits for its products before its softmax or SiLU (799 TFLOP/s instead of 846).
  HSTU_PRIM void broadcast() {
    half_alpha = __uint_as_float(prim::lane_max(pair_.word[0]));
    gained_alpha = __uint_as_float(prim::lane_max(pair_.word[1]));
  }

 private:
  FactorSlots<Config> slots_;
  prim::Pair pair_;
};

}  // namespace hstu::attn90
