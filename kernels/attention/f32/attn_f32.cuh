// Forward attention in f32: products by fused multiply-adds, exponentials to full precision. For results that 16 bits
// cannot give, not for speed. The kernels attn_f32_*, flash_attn_f32_*, attn_delta_f32_* and attn_paged_f32_* are this
// one.
//
// One block of threads per (32 queries, head, sequence). Four lanes share a query row: in S each has every fourth key,
// in O every fourth group of four columns.
//
//   Q tile ──► smem ──┐
//   K, V of kBlockN keys ──► smem ──► S ──► weights ──► smem (the warp's own rows) ──► O += P V, in registers
//
// Shared memory   Q [32] | K [kBlockN] | V [kBlockN] | P [32], rows padded by four floats; TileInfo      (AttnF32Shape)
// Barriers        two __syncthreads a key block: loaded, read.
// Config          facts: Element (float), Mask, Sequences (attention/variant/sequences.cuh, cached_sequences.cuh),
//                 kHeadDimQk, kHeadDimV, kAttnScale, kSilu, kSoftmax, kLse, kBias and those of the mask. knobs:
//                 kBlockN, kMinBlocks.
#pragma once
#include "attention/mask/hstu_mask.cuh"
#include "attention/mask/interval_mask.cuh"
#include "attention/variant/relative_bias.cuh"
#include "prim/lanes.cuh"
#include "prim/types.cuh"

namespace hstu {

template <class Config>
struct AttnF32Shape {
  enum : int { kThreads = 128, kBlockM = kThreads / 4, kBlockN = Config::kBlockN };
  enum : int { kColsQk = (Config::kHeadDimQk + 3) / 4 * 4, kColsV = (Config::kHeadDimV + 15) / 16 * 16 };
  enum : int { kPitchQk = kColsQk + 4, kPitchV = kColsV + 4, kPitchP = kBlockN + 4 };
  enum : int { kK = kBlockM * kPitchQk, kV = kK + kBlockN * kPitchQk, kP = kV + kBlockN * kPitchV };
  enum : int { kFloats = kP + kBlockM * kPitchP };  // offsets of the tiles, then all of them
  enum : int { kOwnKeys = kBlockN / 4, kOwnGroups = kColsV / 16 };
  static_assert(kBlockN % 4 == 0 && kBlockN <= 32, "a row's bits are one word");
};

namespace attn_f32_detail {

template <class Config>
struct TileInfo {
  typename Config::Sequences sequence;
  typename Config::Mask mask;
  typename Config::Mask::Plan plan;
  int first, last;  // positions of the tile's rows
};

}  // namespace attn_f32_detail

template <class Config>
constexpr int attn_f32_smem_bytes = AttnF32Shape<Config>::kFloats * 4 + 512 + Config::Mask::kExtraBytes;

namespace attn_f32_detail {

template <class Config>
struct RowState {
  using T = AttnF32Shape<Config>;
  float o[T::kOwnGroups][4];
  float max, sum;  // of online softmax, of scores times alpha; the sum is of the lane's own keys
};

// Rows [first, first + kRows) by row(position) to smem; those outside [begin, end) and columns from kDim on are zeros.
template <int kRows, int kDim, int kPitch, int kThreads, class Row>
HSTU_PRIM void load_rows(float* to, int first, int begin, int end, const Row& row) {
  for (int i = threadIdx.x; i < kRows * kPitch; i += kThreads) {
    const int position = first + i / kPitch, column = i % kPitch;
    const bool there = position >= begin && position < end && column < kDim;
    to[i] = there ? row(position)[column] : 0.0f;
  }
}

// q . k of the lane's keys lane, lane + 4, ...
template <class Config>
HSTU_PRIM void multiply_qk(float (&s)[AttnF32Shape<Config>::kOwnKeys], const float* q, const float* k) {
  using T = AttnF32Shape<Config>;
#pragma unroll
  for (int n = 0; n < T::kOwnKeys; ++n) s[n] = 0;
#pragma unroll 2
  for (int d = 0; d < T::kColsQk; d += 4) {
    const float4 a = *reinterpret_cast<const float4*>(q + d);
#pragma unroll
    for (int n = 0; n < T::kOwnKeys; ++n) {
      const float4 b = *reinterpret_cast<const float4*>(k + n * 4 * T::kPitchQk + d);
      s[n] += a.x * b.x;
      s[n] += a.y * b.y;
      s[n] += a.z * b.z;
      s[n] += a.w * b.w;
    }
  }
}

// O += P V for the lane's columns; p: the row's weights.
template <class Config>
HSTU_PRIM void multiply_pv(RowState<Config>& row, const float* p, const float* v) {
  using T = AttnF32Shape<Config>;
#pragma unroll 4
  for (int n = 0; n < T::kBlockN; ++n) {
    const float weight = p[n];
#pragma unroll
    for (int g = 0; g < T::kOwnGroups; ++g) {
      const float4 value = *reinterpret_cast<const float4*>(v + n * T::kPitchV + g * 16);
      row.o[g][0] += weight * value.x;
      row.o[g][1] += weight * value.y;
      row.o[g][2] += weight * value.z;
      row.o[g][3] += weight * value.w;
    }
  }
}

// Raises the row's running maximum to the seen scores and rescales its sum and O with it.
template <class Config>
HSTU_PRIM void update_max(RowState<Config>& row, const float (&s)[AttnF32Shape<Config>::kOwnKeys], u32 seen) {
  float new_max = row.max;
#pragma unroll
  for (int n = 0; n < AttnF32Shape<Config>::kOwnKeys; ++n)
    if (seen >> (n * 4) & 1) new_max = fmaxf(new_max, s[n]);
  new_max = prim::lane_max<4>(new_max);
  const float rescale = expf(row.max - new_max);
  row.max = new_max;
  row.sum *= rescale;
#pragma unroll
  for (int g = 0; g < AttnF32Shape<Config>::kOwnGroups; ++g) {
#pragma unroll
    for (int i = 0; i < 4; ++i) row.o[g][i] *= rescale;
  }
}

// Of parameters whose operator has softmax heads.
template <class Config, class Params>
HSTU_PRIM int num_softmax_heads(const Params& p) {
  if constexpr (Config::kSoftmax && Config::kSilu) return p.num_softmax_heads;
  return 0;
}

HSTU_PRIM float silu(float x) { return x / (1.0f + expf(-x)); }

// One key block for one row. seen: which of its keys; shifted to the lane's own.
template <class Config, class Params>
HSTU_PRIM void add_block(const Params& p, const TileInfo<Config>& tile, RowState<Config>& row, float* smem, int seq,
                         int head, int position, int key, bool softmax, int begin) {
  using T = AttnF32Shape<Config>;
  const int local = threadIdx.x / 4, lane = threadIdx.x % 4;
  u32 seen = 0;
  // Before the range, which begins in the sequence, keys are another block's or none; queries before it see nothing.
  if (position >= 0 && position < tile.last)
    seen = tile.mask.seen_bits(position, key) & ~variant::bits_below(begin - key);
  if constexpr (T::kBlockN < 32) seen &= (1u << T::kBlockN) - 1;
  if (__ballot_sync(prim::kFullWarp, seen != 0) == 0) return;
  seen >>= lane;
  float s[T::kOwnKeys];
  multiply_qk<Config>(s, smem + local * T::kPitchQk, smem + T::kK + lane * T::kPitchQk);
  const float alpha = 2.0f * p.half_alpha;
#pragma unroll
  for (int n = 0; n < T::kOwnKeys; ++n) {
    if constexpr (Config::kBias) s[n] += variant::RelativeBias<Config>(p, seq, head).at(position, key + lane + n * 4);
    s[n] *= alpha;
  }
  if (Config::kSoftmax && softmax) update_max<Config>(row, s, seen);
  float* weights = smem + T::kP + local * T::kPitchP;
#pragma unroll
  for (int n = 0; n < T::kOwnKeys; ++n) {
    float weight = 0;
    if (seen >> (n * 4) & 1) weight = Config::kSoftmax && softmax ? expf(s[n] - row.max) : silu(s[n]);
    if constexpr (Config::kSoftmax) row.sum += weight;
    weights[lane + n * 4] = weight;
  }
  __syncwarp();
  multiply_pv<Config>(row, weights, smem + T::kV + lane * 4);
  __syncwarp();
}

// What a row's O is multiplied with; writes its log-sum-exp where there is one.
template <class Config, class Params>
HSTU_PRIM float finish(const Params& p, const TileInfo<Config>& tile, const RowState<Config>& row, int head,
                       int position, bool softmax) {
  if constexpr (Config::kSoftmax) {
    const float total = prim::lane_sum<4>(row.sum);
    if (softmax) {
      if constexpr (Config::kLse) {
        const float lse = total > 0 ? row.max + logf(total) : -__uint_as_float(0x7f800000u);
        if (position < tile.last && threadIdx.x % 4 == 0) *tile.sequence.lse(p, head, position) = lse;
      }
      return total > 0 ? 1.0f / total : 0.0f;  // a row without keys gives zeros
    }
  }
  if constexpr (Config::kAttnScale) {
    const int there = position < tile.last ? position : tile.first;
    return p.attn_scale[tile.sequence.query_row(there) * p.attn_scale_stride];
  }
  return p.scale;
}

// The tile's rows: plan and mask, by all threads.
template <class Config, class Params>
HSTU_PRIM void make_plan(const Params& p, TileInfo<Config>& tile, int seq, int head) {
  const int first = variant::max_int(tile.first, 0);
  if constexpr (Config::Mask::kSurveyed) {
    if (threadIdx.x == 0) tile.mask.place(p, head, tile.sequence.query_row(0), tile.sequence.key_count());
    __syncthreads();
    tile.mask.survey(tile.plan, first, tile.last);
  } else if (threadIdx.x == 0) {
    tile.mask = typename Config::Mask(p, seq, tile.sequence.key_count());
    if (first < tile.last)
      tile.plan = typename Config::Mask::Plan(tile.mask, first, tile.last);
    else
      tile.plan.blocks = 0;
  }
  __syncthreads();
}

template <class Config, class Params>
HSTU_PRIM void attend(const Params& p, const TileInfo<Config>& tile, float* smem, int seq, int head) {
  using T = AttnF32Shape<Config>;
  constexpr int kThreads = T::kThreads;
  const int position = tile.first + static_cast<int>(threadIdx.x) / 4;
  const bool softmax = Config::kSoftmax && (!Config::kSilu || head < num_softmax_heads<Config>(p));
  RowState<Config> row = {};
  row.max = -3.0e38f;  // finite, so that a row that sees nothing yet subtracts a number
  load_rows<T::kBlockM, Config::kHeadDimQk, T::kPitchQk, kThreads>(
      smem, tile.first, tile.first, tile.last, [&](int at) { return tile.sequence.q(p, head, at); });
  for (int block = 0; block < tile.plan.blocks; ++block) {
    const int key = tile.plan.key_begin(block), begin = tile.plan.range_begin(block), end = tile.sequence.key_count();
    load_rows<T::kBlockN, Config::kHeadDimQk, T::kPitchQk, kThreads>(
        smem + T::kK, key, begin, end, [&](int at) { return tile.sequence.k(p, head, at); });
    load_rows<T::kBlockN, Config::kHeadDimV, T::kPitchV, kThreads>(
        smem + T::kV, key, begin, end, [&](int at) { return tile.sequence.v(p, head, at); });
    __syncthreads();
    add_block<Config>(p, tile, row, smem, seq, head, position, key, softmax, begin);
    __syncthreads();
  }
  const float scale = finish<Config>(p, tile, row, head, position, softmax);
  if (position >= tile.last) return;
  float* out = tile.sequence.out(p, head, position);
#pragma unroll
  for (int g = 0; g < T::kOwnGroups; ++g) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = g * 16 + static_cast<int>(threadIdx.x) % 4 * 4 + i;
      if (column < Config::kHeadDimV) out[column] = row.o[g][i] * scale;
    }
  }
}

}  // namespace attn_f32_detail

// The whole kernel. Tile index -> (head, sequence) pair, row block; sequences longer than the grid foresaw loop.
template <class Config, class Params>
HSTU_PRIM void attn_f32_block(const Params& p) {
  using namespace attn_f32_detail;
  using T = AttnF32Shape<Config>;
  extern __shared__ __align__(1024) unsigned char shared[];
  float* smem = reinterpret_cast<float*>(shared);
  auto& tile = *reinterpret_cast<TileInfo<Config>*>(shared + T::kFloats * 4);
  static_assert(T::kFloats % 4 == 0 && sizeof tile <= 512 + Config::Mask::kExtraBytes, "TileInfo outgrew its place");
  const u32 pair = blockIdx.x / p.row_blocks;
  const int seq = static_cast<int>(pair / p.num_heads), head = static_cast<int>(pair - seq * p.num_heads);
  int row_block = static_cast<int>(blockIdx.x - pair * p.row_blocks);
  if (threadIdx.x == 0) tile.sequence = typename Config::Sequences(p, seq, head);
  __syncthreads();
  const int first_query = tile.sequence.first_query(), last_query = tile.sequence.last_query();
#pragma unroll 1
  for (; first_query + row_block * T::kBlockM < last_query; row_block += p.row_blocks) {
    if (threadIdx.x == 0) {
      tile.first = first_query + row_block * T::kBlockM;
      tile.last = variant::min_int(tile.first + T::kBlockM, last_query);
    }
    __syncthreads();
    make_plan<Config>(p, tile, seq, head);
    attend<Config>(p, tile, smem, seq, head);
    __syncthreads();  // before the tiles and `tile` are written again
  }
}

}  // namespace hstu
