// attention dtype=f32 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=4 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=1 heads_per_kv=1 moments=0
// attn_f32_sm80 sm_80 block_n=16 min_blocks=2
// attn_f32_sm80 sm_90a block_n=16 min_blocks=2
#include "attention/attn_f32_sm80.cuh"
namespace hstu {
struct Config {
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::JaggedSequences<Config>;
  using Element = float;
  using Offset = i64;
  using Target = i32;
  enum : int { kHeadDimQk = 128 };
  enum : int { kHeadDimV = 128 };
  enum : bool { kCausal = true };
  enum : bool { kLocal = false };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kSilu = true };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : bool { kBias = true };
  enum : int { kBlockN = 16 };
  enum : int { kMinBlocks = 2 };
};
static_assert(attn_f32_smem_bytes<Config> == 36864, "host and device disagree about shared memory");
}  // namespace hstu

// attention dtype=f32 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=4 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=5 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_f32_sm80 sm_80 block_n=16 min_blocks=2
// attn_f32_sm80 sm_90a block_n=16 min_blocks=2
// 28 lines, those above but for
  using Mask = variant::IntervalMask<Config>;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : int { kIntervals = 5 };
  enum : bool { kHasTargets = false };
  enum : bool { kTargetGroups = false };
  enum : bool { kContextual = false };
  enum : bool { kMaxAttnLen = false };
  enum : bool { kMinFullAttn = false };
  enum : bool { kAttnScale = false };
  enum : bool { kSoftmax = false };
  enum : bool { kLse = false };
  enum : bool { kBias = false };
static_assert(attn_f32_smem_bytes<Config> == 69792, "host and device disagree about shared memory");

// attention dtype=f32 head_dim_qk=64 head_dim_v=32 num_heads=6 offset_dtype=i32 target_dtype=none mask=1 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=4 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=2 moments=0
// attn_f32_sm80 sm_80 block_n=16 min_blocks=2
// attn_f32_sm80 sm_90a block_n=16 min_blocks=2
// 28 lines, those above but for
  using Offset = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 32 };
  enum : bool { kCausal = false };
  enum : bool { kHasTargets = false };
  enum : bool { kTargetGroups = false };
  enum : bool { kContextual = false };
  enum : bool { kMaxAttnLen = false };
  enum : bool { kMinFullAttn = false };
  enum : bool { kAttnScale = false };
  enum : int { kHeadsPerKv = 2 };
  enum : bool { kSoftmax = false };
  enum : bool { kLse = false };
  enum : bool { kBias = false };
static_assert(attn_f32_smem_bytes<Config> == 18432, "host and device disagree about shared memory");

