// attention_backward dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm80 sm_80 row_tiles=1 warps=4 block_n=32 stages=2 apart=0 min_blocks=2
// attn_bwd_sm80 sm_90a row_tiles=1 warps=4 block_n=32 stages=2 apart=0 min_blocks=2
#include "attention/attn_bwd_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::JaggedSequences<Config>;
  using Offset = i64;
  using Target = i64;
  enum : int { kHeadDimQk = 128 };
  enum : int { kHeadDimV = 128 };
  enum : bool { kCausal = true };
  enum : bool { kLocal = false };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = false };
  enum : bool { kContextual = false };
  enum : bool { kMaxAttnLen = false };
  enum : bool { kMinFullAttn = false };
  enum : bool { kAttnScale = false };
  enum : bool { kRowScale = false };
  enum : bool { kSilu = true };
  enum : bool { kSoftmax = false };
  enum : bool { kBias = false };
  enum : bool { kHasDq = true };
  enum : bool { kHasDk = true };
  enum : bool { kHasDv = true };
  enum : bool { kDrab = false };
  enum : bool { kHasDattnScale = false };
  enum : bool { kHalf = false };
  enum : bool { kVectorIo = true };
  enum : int { kRowTiles = 1 };
  enum : int { kWarps = 4 };
  enum : int { kBlockN = 32 };
  enum : int { kStages = 2 };
  enum : bool { kApart = false };
  enum : int { kMinBlocks = 2 };
};
static_assert(attn_bwd_sm80_smem_bytes<Config> == 66432, "host and device disagree about shared memory");
}  // namespace hstu

// attention_backward dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm80 sm_80 row_tiles=1 warps=4 block_n=64 stages=2 apart=0 min_blocks=2
// attn_bwd_sm80 sm_90a row_tiles=1 warps=4 block_n=64 stages=2 apart=0 min_blocks=2
// 38 lines, those above but for
  using Element = f16;
  using Offset = i32;
  using Target = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kRowScale = true };
  enum : bool { kHalf = true };
  enum : int { kBlockN = 64 };
static_assert(attn_bwd_sm80_smem_bytes<Config> == 50816, "host and device disagree about shared memory");

// attention_backward dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm80 sm_80 row_tiles=1 warps=8 block_n=16 stages=2 apart=1 min_blocks=1
// 38 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };
  enum : int { kWarps = 8 };
  enum : int { kBlockN = 16 };
  enum : bool { kApart = true };
  enum : int { kMinBlocks = 1 };
static_assert(attn_bwd_sm80_smem_bytes<Config> == 164480, "host and device disagree about shared memory");

// attention_backward dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm80 sm_90a row_tiles=1 warps=8 block_n=32 stages=2 apart=1 min_blocks=1
// 38 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };
  enum : int { kWarps = 8 };
  enum : bool { kApart = true };
  enum : int { kMinBlocks = 1 };
static_assert(attn_bwd_sm80_smem_bytes<Config> == 197504, "host and device disagree about shared memory");

// attention_backward dtype=f16 head_dim_qk=80 head_dim_v=112 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 contextual=2 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=2 rab=1 heads_per_kv=2 has_dq=1 has_dk=1 has_dv=1 drab=2 has_d_attn_scale=1
// attn_bwd_sm80 sm_80 row_tiles=1 warps=4 block_n=16 stages=2 apart=0 min_blocks=2
// attn_bwd_sm80 sm_90a row_tiles=1 warps=4 block_n=16 stages=2 apart=0 min_blocks=2
// 39 lines, those above but for
  using Element = f16;
  enum : int { kHeadDimQk = 80 };
  enum : int { kHeadDimV = 112 };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : int { kHeadsPerKv = 2 };
  enum : bool { kRowScale = true };
  enum : bool { kSoftmax = true };
  enum : bool { kBias = true };
  enum : bool { kDrab = true };
  enum : bool { kHasDattnScale = true };
  enum : bool { kHalf = true };
  enum : int { kBlockN = 16 };
static_assert(attn_bwd_sm80_smem_bytes<Config> == 44672, "host and device disagree about shared memory");

// attention_backward dtype=bf16 head_dim_qk=128 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=3 softmax_heads=1 rab=2 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=1 has_d_attn_scale=0
// attn_bwd_sm80 sm_80 row_tiles=1 warps=4 block_n=32 stages=2 apart=0 min_blocks=2
// attn_bwd_sm80 sm_90a row_tiles=1 warps=4 block_n=32 stages=2 apart=0 min_blocks=2
// 39 lines, those above but for
  using Mask = variant::IntervalBounds<Config>;
  using Target = i32;
  enum : int { kHeadDimV = 64 };
  enum : bool { kCausal = false };
  enum : int { kIntervals = 3 };
  enum : bool { kHasTargets = false };
  enum : bool { kAttnScale = true };
  enum : bool { kSilu = false };
  enum : bool { kSoftmax = true };
  enum : bool { kBias = true };
  enum : bool { kDrab = true };
static_assert(attn_bwd_sm80_smem_bytes<Config> == 58240, "host and device disagree about shared memory");

// attention_backward dtype=bf16 head_dim_qk=50 head_dim_v=25 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=1 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=0 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm80 sm_80 row_tiles=1 warps=4 block_n=64 stages=2 apart=0 min_blocks=2
// attn_bwd_sm80 sm_90a row_tiles=1 warps=4 block_n=64 stages=2 apart=0 min_blocks=2
// 38 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 50 };
  enum : int { kHeadDimV = 25 };
  enum : bool { kContextual = true };
  enum : bool { kHasDq = false };
  enum : bool { kVectorIo = false };
  enum : int { kBlockN = 64 };
static_assert(attn_bwd_sm80_smem_bytes<Config> == 38528, "host and device disagree about shared memory");

// attention_backward dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=1 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=0 has_dv=0 drab=0 has_d_attn_scale=1
// attn_bwd_sm80 sm_80 row_tiles=1 warps=4 block_n=64 stages=2 apart=0 min_blocks=2
// attn_bwd_sm80 sm_90a row_tiles=1 warps=4 block_n=64 stages=2 apart=0 min_blocks=2
// 38 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kCausal = false };
  enum : bool { kHasTargets = false };
  enum : bool { kAttnScale = true };
  enum : bool { kHasDk = false };
  enum : bool { kHasDv = false };
  enum : bool { kHasDattnScale = true };
  enum : int { kBlockN = 64 };
static_assert(attn_bwd_sm80_smem_bytes<Config> == 50816, "host and device disagree about shared memory");

