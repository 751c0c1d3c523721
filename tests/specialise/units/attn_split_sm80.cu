// attention dtype=bf16 head_dim_qk=128 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=2 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_split_sm80 sm_80 rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
// attn_split_sm80 sm_90a rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
#include "attention/attn_split_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i64;
  using QOffset = i64;
  using Target = i32;
  using Page = i32;
  using Mask = variant::IntervalMask<Config>;
  enum : int { kHeadDimQk = 128 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kVectorIo = true };
  enum : bool { kJaggedQ = true };
  enum : int { kPageSize = 0 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = false };
  enum : int { kIntervals = 2 };
  enum : bool { kHasTargets = false };
  enum : bool { kTargetGroups = false };
  enum : bool { kContextual = false };
  enum : bool { kMaxAttnLen = false };
  enum : bool { kMinFullAttn = false };
  enum : bool { kAttnScale = false };
  enum : bool { kSoftmax = false };
  enum : bool { kBias = false };
  enum : int { kRowsPerWarp = 32 };
  enum : int { kRowWarps = 4 };
  enum : int { kKeyGroups = 2 };
  enum : int { kBlockN = 32 };
  enum : int { kStages = 3 };
  enum : int { kMinBlocks = 1 };
};
static_assert(attn_split_smem_bytes<Config> == 107072, "host and device disagree about shared memory");
}  // namespace hstu

// attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_split_sm80 sm_80 rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
// attn_split_sm80 sm_90a rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
// 34 lines, those above but for
  using Element = f16;
  using Offset = i32;
  using QOffset = i32;
  using Mask = variant::HstuMask<Config>;
  enum : int { kHeadDimQk = 64 };
  enum : bool { kCausal = true };
  enum : int { kIntervals = 0 };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
static_assert(attn_split_smem_bytes<Config> == 66048, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_split_sm80 sm_80 rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
// attn_split_sm80 sm_90a rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
// 34 lines, those above but for
  using Mask = variant::HstuMask<Config>;
  enum : int { kHeadDimV = 128 };
  enum : bool { kLocal = true };
  enum : int { kIntervals = 0 };
static_assert(attn_split_smem_bytes<Config> == 131584, "host and device disagree about shared memory");

