// delta_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 q_offset_dtype=none target_dtype=none page_dtype=none page_size=0 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=32 max_seq_len=4096 rab=0 page_gaps=0
// attn_delta_sm80 sm_90a rows_per_warp=16 row_warps=2 key_groups=4 block_n=16 stages=3 min_blocks=2
#include "attention/attn_delta_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i64;
  using QOffset = i32;
  using Target = i32;
  using Page = i32;
  using Mask = variant::HstuMask<Config>;
  enum : int { kHeadDimQk = 128 };
  enum : int { kHeadDimV = 128 };
  enum : bool { kVectorIo = true };
  enum : bool { kJaggedQ = false };
  enum : int { kPageSize = 0 };
  enum : bool { kCausal = true };
  enum : bool { kLocal = false };
  enum : int { kIntervals = 0 };
  enum : bool { kHasTargets = false };
  enum : bool { kTargetGroups = false };
  enum : bool { kContextual = false };
  enum : bool { kMaxAttnLen = false };
  enum : bool { kMinFullAttn = false };
  enum : bool { kAttnScale = false };
  enum : bool { kSoftmax = false };
  enum : bool { kBias = false };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kRowWarps = 2 };
  enum : int { kKeyGroups = 4 };
  enum : int { kBlockN = 16 };
  enum : int { kStages = 3 };
  enum : int { kMinBlocks = 2 };
};
static_assert(attn_split_smem_bytes<Config> == 107008, "host and device disagree about shared memory");
}  // namespace hstu

// delta_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 q_offset_dtype=none target_dtype=none page_dtype=none page_size=0 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=32 max_seq_len=4096 rab=0 page_gaps=0
// attn_delta_sm80 sm_80 rows_per_warp=32 row_warps=1 key_groups=8 block_n=16 stages=2 min_blocks=1
// 34 lines, those above but for
  enum : int { kRowsPerWarp = 32 };
  enum : int { kRowWarps = 1 };
  enum : int { kKeyGroups = 8 };
  enum : int { kStages = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_split_smem_bytes<Config> == 139776, "host and device disagree about shared memory");

// delta_attention dtype=f16 head_dim_qk=50 head_dim_v=256 num_heads=4 heads_per_kv=2 offset_dtype=i32 q_offset_dtype=i64 target_dtype=i32 page_dtype=none page_size=0 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 target_groups=1 intervals=0 attn_scale=2 vector=2 batch=32 max_q_len=128 max_seq_len=4096 rab=0 page_gaps=0
// attn_delta_sm80 sm_80 rows_per_warp=16 row_warps=8 key_groups=1 block_n=64 stages=2 min_blocks=1
// attn_delta_sm80 sm_90a rows_per_warp=16 row_warps=8 key_groups=1 block_n=64 stages=2 min_blocks=1
// 34 lines, those above but for
  using Element = f16;
  using Offset = i32;
  using QOffset = i64;
  enum : int { kHeadDimQk = 50 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kVectorIo = false };
  enum : bool { kJaggedQ = true };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : int { kRowWarps = 8 };
  enum : int { kKeyGroups = 1 };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_split_smem_bytes<Config> == 131584, "host and device disagree about shared memory");

// delta_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 q_offset_dtype=none target_dtype=none page_dtype=none page_size=0 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=32 max_seq_len=4096 rab=1 page_gaps=0
// attn_delta_sm80 sm_80 rows_per_warp=16 row_warps=2 key_groups=4 block_n=32 stages=2 min_blocks=1
// attn_delta_sm80 sm_90a rows_per_warp=16 row_warps=2 key_groups=4 block_n=32 stages=2 min_blocks=1
// 34 lines, those above but for
  enum : bool { kBias = true };
  enum : int { kBlockN = 32 };
  enum : int { kStages = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_split_smem_bytes<Config> == 139776, "host and device disagree about shared memory");

// delta_attention dtype=f16 head_dim_qk=50 head_dim_v=256 num_heads=4 heads_per_kv=2 offset_dtype=i32 q_offset_dtype=i64 target_dtype=i32 page_dtype=none page_size=0 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 target_groups=1 intervals=0 attn_scale=2 vector=2 batch=32 max_q_len=128 max_seq_len=4096 rab=1 page_gaps=0
// attn_delta_sm80 sm_80 rows_per_warp=16 row_warps=8 key_groups=1 block_n=64 stages=2 min_blocks=1
// attn_delta_sm80 sm_90a rows_per_warp=16 row_warps=8 key_groups=1 block_n=64 stages=2 min_blocks=1
// 34 lines, those above but for
  using Element = f16;
  using Offset = i32;
  using QOffset = i64;
  enum : int { kHeadDimQk = 50 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kVectorIo = false };
  enum : bool { kJaggedQ = true };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kBias = true };
  enum : int { kRowWarps = 8 };
  enum : int { kKeyGroups = 1 };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_split_smem_bytes<Config> == 131584, "host and device disagree about shared memory");

// delta_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 q_offset_dtype=none target_dtype=none page_dtype=none page_size=0 mask=3 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=5 attn_scale=0 vector=8 batch=32 max_q_len=128 max_seq_len=4096 rab=2 page_gaps=0
// attn_delta_sm80 sm_80 rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
// attn_delta_sm80 sm_90a rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
// 34 lines, those above but for
  using Mask = variant::IntervalMask<Config>;
  enum : bool { kCausal = false };
  enum : int { kIntervals = 5 };
  enum : bool { kBias = true };
  enum : int { kRowsPerWarp = 32 };
  enum : int { kRowWarps = 4 };
  enum : int { kKeyGroups = 2 };
  enum : int { kBlockN = 32 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_split_smem_bytes<Config> == 131744, "host and device disagree about shared memory");

// delta_attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 heads_per_kv=1 offset_dtype=i64 q_offset_dtype=i64 target_dtype=none page_dtype=none page_size=0 mask=2 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=256 max_seq_len=4096 rab=1 page_gaps=0
// attn_delta_sm80 sm_80 rows_per_warp=16 row_warps=8 key_groups=1 block_n=32 stages=2 min_blocks=1
// 34 lines, those above but for
  using QOffset = i64;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kJaggedQ = true };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kBias = true };
  enum : int { kRowWarps = 8 };
  enum : int { kKeyGroups = 1 };
  enum : int { kBlockN = 32 };
  enum : int { kStages = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_split_smem_bytes<Config> == 131584, "host and device disagree about shared memory");

// delta_attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 heads_per_kv=1 offset_dtype=i64 q_offset_dtype=i64 target_dtype=none page_dtype=none page_size=0 mask=2 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=256 max_seq_len=4096 rab=1 page_gaps=0
// attn_delta_sm80 sm_90a rows_per_warp=16 row_warps=8 key_groups=1 block_n=64 stages=2 min_blocks=1
// 34 lines, those above but for
  using QOffset = i64;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kJaggedQ = true };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kBias = true };
  enum : int { kRowWarps = 8 };
  enum : int { kKeyGroups = 1 };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_split_smem_bytes<Config> == 197120, "host and device disagree about shared memory");

