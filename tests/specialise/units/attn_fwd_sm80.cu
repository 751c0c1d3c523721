// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=64 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
#include "attention/attn_fwd_sm80.cuh"
namespace hstu {
struct Config {
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::JaggedSequences<Config>;
  using Keys = tile::KeyRows<Config>;
  using Element = bf16;
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
  enum : bool { kSilu = true };
  enum : bool { kSoftmax = false };
  enum : bool { kLse = false };
  enum : bool { kBias = false };
  enum : bool { kVectorIo = true };
  enum : int { kRowsPerWarp = 32 };
  enum : int { kWarps = 4 };
  enum : int { kBlockN = 32 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 0 };
  enum : int { kMinBlocks = 2 };
};
static_assert(attn_fwd_sm80_smem_bytes<Config> == 66048, "host and device disagree about shared memory");
}  // namespace hstu

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=64 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 33 lines, those above but for
  enum : int { kBlockN = 64 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 98816, "host and device disagree about shared memory");

// attention dtype=f16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 target_dtype=none mask=1 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=2 vector=8 batch=16 total=16384 max_seq_len=4096 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// attn_fwd_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// 33 lines, those above but for
  using Element = f16;
  using Offset = i32;
  using Target = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kHasTargets = false };
  enum : bool { kAttnScale = true };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kWarps = 8 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 131584, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=1 vector=8 batch=128 total=65536 max_seq_len=1024 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// attn_fwd_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 33 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : int { kBlockN = 64 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 49664, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=50 head_dim_v=25 num_heads=1 offset_dtype=i64 target_dtype=none mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=1 batch=8 total=256 max_seq_len=64 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=4
// attn_fwd_sm80 sm_90a rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=4
// 33 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 50 };
  enum : int { kHeadDimV = 25 };
  enum : bool { kHasTargets = false };
  enum : bool { kVectorIo = false };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kMinBlocks = 4 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 20992, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=2 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// attn_fwd_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 34 lines, those above but for
  using Mask = variant::IntervalMask<Config>;
  using Target = i32;
  enum : int { kHeadDimV = 64 };
  enum : bool { kCausal = false };
  enum : int { kIntervals = 2 };
  enum : bool { kHasTargets = false };
  enum : int { kBlockN = 64 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 82496, "host and device disagree about shared memory");

// attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// attn_fwd_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 33 lines, those above but for
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
  enum : int { kBlockN = 64 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 49664, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
// 33 lines, those above but for
  using Target = i32;
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 33 lines, those above but for
  using Target = i32;
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };
  enum : int { kBlockN = 64 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 98816, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=3 softmax_heads=2 lse=1 rab=1 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// attn_fwd_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// 34 lines, those above but for
  using Mask = variant::IntervalMask<Config>;
  using Target = i32;
  enum : bool { kCausal = false };
  enum : int { kIntervals = 3 };
  enum : bool { kHasTargets = false };
  enum : bool { kAttnScale = true };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : bool { kBias = true };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kWarps = 8 };
  enum : int { kStages = 4 };
  enum : int { kQSteps = 8 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 98912, "host and device disagree about shared memory");

// attention dtype=f16 head_dim_qk=80 head_dim_v=112 num_heads=4 offset_dtype=i32 target_dtype=i64 mask=0 contextual=2 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=1 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=4 min_blocks=1
// attn_fwd_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=4 min_blocks=1
// 33 lines, those above but for
  using Element = f16;
  using Offset = i32;
  enum : int { kHeadDimQk = 80 };
  enum : int { kHeadDimV = 112 };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : bool { kBias = true };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kWarps = 8 };
  enum : int { kStages = 4 };
  enum : int { kQSteps = 4 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 70144, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=1 lse=1 rab=1 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// attn_fwd_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// 33 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };
  enum : bool { kSilu = false };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : bool { kBias = true };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kWarps = 8 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 131584, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=50 head_dim_v=25 num_heads=3 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=1 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=2 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=4
// attn_fwd_sm80 sm_90a rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=4
// 33 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 50 };
  enum : int { kHeadDimV = 25 };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kSoftmax = true };
  enum : bool { kVectorIo = false };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kMinBlocks = 4 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 20992, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
// attn_fwd_sm80 sm_90a rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
// 33 lines, those above but for
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };

// attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=1 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// attn_fwd_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 33 lines, those above but for
  using Element = f16;
  using Target = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };
  enum : bool { kSilu = false };
  enum : bool { kSoftmax = true };
  enum : int { kBlockN = 64 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 49664, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=2 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
// attn_fwd_sm80 sm_90a rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
// 33 lines, those above but for
  using Target = i32;
  enum : bool { kHasTargets = false };
  enum : bool { kBias = true };

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=2 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// attn_fwd_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=4 q_steps=8 min_blocks=1
// 33 lines, those above but for
  using Target = i32;
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : bool { kBias = true };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kWarps = 8 };
  enum : int { kStages = 4 };
  enum : int { kQSteps = 8 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 98816, "host and device disagree about shared memory");

// attention dtype=f16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=1 lse=1 rab=2 heads_per_kv=1 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// attn_fwd_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// 33 lines, those above but for
  using Element = f16;
  using Target = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };
  enum : bool { kSilu = false };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : bool { kBias = true };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kWarps = 8 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 131584, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=4 moments=0
// attn_fwd_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// attn_fwd_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 34 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : int { kHeadsPerKv = 4 };
  enum : int { kBlockN = 64 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 49664, "host and device disagree about shared memory");

