// attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=131072 max_seq_len=4096 target_groups=0 intervals=0 scaling=0 vector_out=8 fast_sums=1 heads_per_kv=1
// attn_fp8_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// attn_fp8_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
#include "attention/attn_fp8_sm80.cuh"
namespace hstu {
struct Config {
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::JaggedSequences<Config>;
  using Keys = tile::Fp8KeyRows<Config>;
  using Element = bf16;
  using Offset = i64;
  using Target = i32;
  enum : int { kHeadDimQk = 128 };
  enum : int { kHeadDimV = 128 };
  enum : bool { kCausal = true };
  enum : bool { kLocal = false };
  enum : bool { kHasTargets = false };
  enum : bool { kTargetGroups = false };
  enum : bool { kContextual = false };
  enum : bool { kMaxAttnLen = false };
  enum : bool { kMinFullAttn = false };
  enum : bool { kAttnScale = false };
  enum : bool { kSilu = true };
  enum : bool { kSoftmax = false };
  enum : bool { kLse = false };
  enum : bool { kBias = false };
  enum : bool { kVectorIo = true };
  enum : bool { kVectorIn = true };
  enum : bool { kBlockScales = false };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kWarps = 8 };
  enum : int { kBlockN = 32 };
  enum : int { kStages = 4 };
  enum : int { kQSteps = 8 };
  enum : int { kMinBlocks = 1 };
};
static_assert(attn_fwd_sm80_smem_bytes<Config> == 98816, "host and device disagree about shared memory");
}  // namespace hstu

// attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=4 total=65536 max_seq_len=16384 target_groups=0 intervals=0 scaling=1 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// attn_fp8_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// 35 lines, those above but for

// attention_fp8 dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 scaling=2 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// attn_fp8_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 35 lines, those above but for
  using Element = f16;
  using Offset = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : int { kRowsPerWarp = 32 };
  enum : int { kWarps = 4 };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 0 };
  enum : int { kMinBlocks = 2 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 49664, "host and device disagree about shared memory");

// attention_fp8 dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 scaling=0 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// attn_fp8_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// 35 lines, those above but for
  using Offset = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 0 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 131584, "host and device disagree about shared memory");

// attention_fp8 dtype=bf16 head_dim_qk=48 head_dim_v=80 num_heads=3 offset_dtype=i32 target_dtype=i64 mask=0 contextual=2 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 scaling=0 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// attn_fp8_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 35 lines, those above but for
  using Offset = i32;
  using Target = i64;
  enum : int { kHeadDimQk = 48 };
  enum : int { kHeadDimV = 80 };
  enum : bool { kHasTargets = true };
  enum : bool { kContextual = true };
  enum : bool { kAttnScale = true };
  enum : int { kRowsPerWarp = 32 };
  enum : int { kWarps = 4 };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 0 };
  enum : int { kMinBlocks = 2 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 45568, "host and device disagree about shared memory");

// attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 scaling=3 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// attn_fp8_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// 35 lines, those above but for
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kBlockScales = true };

// attention_fp8 dtype=f16 head_dim_qk=50 head_dim_v=25 num_heads=1 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=0 attn_scale=0 vector=1 batch=8 total=256 max_seq_len=64 target_groups=1 intervals=0 scaling=3 vector_out=1 fast_sums=0 heads_per_kv=1
// attn_fp8_sm80 sm_80 rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=3
// attn_fp8_sm80 sm_90a rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=3
// 35 lines, those above but for
  using Element = f16;
  enum : int { kHeadDimQk = 50 };
  enum : int { kHeadDimV = 25 };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kVectorIo = false };
  enum : bool { kVectorIn = false };
  enum : bool { kBlockScales = true };
  enum : int { kWarps = 4 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 0 };
  enum : int { kMinBlocks = 3 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 20992, "host and device disagree about shared memory");

// attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=3 scaling=2 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// attn_fp8_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 36 lines, those above but for
  using Mask = variant::IntervalMask<Config>;
  enum : int { kHeadDimV = 64 };
  enum : bool { kCausal = false };
  enum : int { kIntervals = 3 };
  enum : int { kRowsPerWarp = 32 };
  enum : int { kWarps = 4 };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 0 };
  enum : int { kMinBlocks = 2 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 82528, "host and device disagree about shared memory");

// attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 scaling=2 vector_out=8 fast_sums=0 heads_per_kv=4
// attn_fp8_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// attn_fp8_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// 36 lines, those above but for
  enum : bool { kHasTargets = true };
  enum : int { kHeadsPerKv = 4 };

// attention_fp8 dtype=f16 head_dim_qk=64 head_dim_v=32 num_heads=6 offset_dtype=i32 target_dtype=none mask=1 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 scaling=3 vector_out=8 fast_sums=0 heads_per_kv=2
// attn_fp8_sm80 sm_80 rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=3
// attn_fp8_sm80 sm_90a rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=3
// 36 lines, those above but for
  using Element = f16;
  using Offset = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 32 };
  enum : bool { kCausal = false };
  enum : int { kHeadsPerKv = 2 };
  enum : bool { kBlockScales = true };
  enum : int { kWarps = 4 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 0 };
  enum : int { kMinBlocks = 3 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 20992, "host and device disagree about shared memory");

