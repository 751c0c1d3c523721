// hstu_attention dtype=bf16 head_dim_qk=128 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=2 softmax_heads=0 lse=0 rab=0 heads_per_kv=1
// attn_split_sm80 sm_80 rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
// attn_split_sm80 sm_90a rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
#include "attn_split_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i64;
  using QOffset = i64;
  using Target = i32;
  using Page = i32;
  using Mask = variant::IntervalMask<Config>;
  static constexpr int kHeadDimQk = 128;
  static constexpr int kHeadDimV = 64;
  static constexpr bool kVectorIo = true;
  static constexpr bool kJaggedQ = true;
  static constexpr int kPageSize = 0;
  static constexpr bool kCausal = false;
  static constexpr bool kLocal = false;
  static constexpr int kIntervals = 2;
  static constexpr bool kHasTargets = false;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = false;
  static constexpr bool kSoftmax = false;
  static constexpr bool kBias = false;
  static constexpr int kRowsPerWarp = 32;
  static constexpr int kRowWarps = 4;
  static constexpr int kKeyGroups = 2;
  static constexpr int kBlockN = 32;
  static constexpr int kStages = 3;
  static constexpr int kMinBlocks = 1;
};
static_assert(attn_split_smem_bytes<Config> == 107072, "host and device disagree about shared memory");
}  // namespace hstu

// hstu_attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1
// attn_split_sm80 sm_80 rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
// attn_split_sm80 sm_90a rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
#include "attn_split_sm80.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Offset = i32;
  using QOffset = i32;
  using Target = i32;
  using Page = i32;
  using Mask = variant::HstuMask<Config>;
  static constexpr int kHeadDimQk = 64;
  static constexpr int kHeadDimV = 64;
  static constexpr bool kVectorIo = true;
  static constexpr bool kJaggedQ = true;
  static constexpr int kPageSize = 0;
  static constexpr bool kCausal = true;
  static constexpr bool kLocal = false;
  static constexpr int kIntervals = 0;
  static constexpr bool kHasTargets = true;
  static constexpr bool kTargetGroups = true;
  static constexpr bool kContextual = true;
  static constexpr bool kMaxAttnLen = true;
  static constexpr bool kMinFullAttn = true;
  static constexpr bool kAttnScale = true;
  static constexpr bool kSoftmax = false;
  static constexpr bool kBias = false;
  static constexpr int kRowsPerWarp = 32;
  static constexpr int kRowWarps = 4;
  static constexpr int kKeyGroups = 2;
  static constexpr int kBlockN = 32;
  static constexpr int kStages = 3;
  static constexpr int kMinBlocks = 1;
};
static_assert(attn_split_smem_bytes<Config> == 66048, "host and device disagree about shared memory");
}  // namespace hstu

// hstu_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1
// attn_split_sm80 sm_80 rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
// attn_split_sm80 sm_90a rows_per_warp=32 row_warps=4 key_groups=2 block_n=32 stages=3 min_blocks=1
#include "attn_split_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i64;
  using QOffset = i64;
  using Target = i32;
  using Page = i32;
  using Mask = variant::HstuMask<Config>;
  static constexpr int kHeadDimQk = 128;
  static constexpr int kHeadDimV = 128;
  static constexpr bool kVectorIo = true;
  static constexpr bool kJaggedQ = true;
  static constexpr int kPageSize = 0;
  static constexpr bool kCausal = false;
  static constexpr bool kLocal = true;
  static constexpr int kIntervals = 0;
  static constexpr bool kHasTargets = false;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = false;
  static constexpr bool kSoftmax = false;
  static constexpr bool kBias = false;
  static constexpr int kRowsPerWarp = 32;
  static constexpr int kRowWarps = 4;
  static constexpr int kKeyGroups = 2;
  static constexpr int kBlockN = 32;
  static constexpr int kStages = 3;
  static constexpr int kMinBlocks = 1;
};
static_assert(attn_split_smem_bytes<Config> == 131584, "host and device disagree about shared memory");
}  // namespace hstu

