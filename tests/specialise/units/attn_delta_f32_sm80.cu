// delta_attention dtype=f32 head_dim_qk=64 head_dim_v=80 num_heads=4 heads_per_kv=2 offset_dtype=i32 q_offset_dtype=i64 target_dtype=i32 page_dtype=none page_size=0 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 target_groups=1 intervals=0 attn_scale=2 vector=4 batch=32 max_q_len=128 max_seq_len=4096 rab=0 page_gaps=0
// attn_delta_f32_sm80 sm_80 block_n=32 min_blocks=2
// attn_delta_f32_sm80 sm_90a block_n=32 min_blocks=2
#include "attention/attn_delta_f32_sm80.cuh"
namespace hstu {
struct Config {
  using Sequences = variant::CachedSequences<Config>;
  using Element = float;
  using Offset = i32;
  using QOffset = i64;
  using Target = i32;
  using Page = i32;
  using Mask = variant::HstuMask<Config>;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 80 };
  enum : bool { kVectorIo = false };
  enum : bool { kJaggedQ = true };
  enum : int { kPageSize = 0 };
  enum : bool { kCausal = true };
  enum : bool { kLocal = false };
  enum : int { kIntervals = 0 };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kSoftmax = false };
  enum : bool { kBias = false };
  enum : bool { kSilu = true };
  enum : bool { kLse = false };
  enum : int { kBlockN = 32 };
  enum : int { kMinBlocks = 2 };
};
static_assert(attn_f32_smem_bytes<Config> == 33280, "host and device disagree about shared memory");
}  // namespace hstu

// delta_attention dtype=f32 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 q_offset_dtype=none target_dtype=i32 page_dtype=none page_size=0 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 target_groups=1 intervals=0 attn_scale=1 vector=4 batch=32 max_q_len=32 max_seq_len=4096 rab=1 page_gaps=0
// attn_delta_f32_sm80 sm_80 block_n=32 min_blocks=2
// attn_delta_f32_sm80 sm_90a block_n=32 min_blocks=2
// 33 lines, those above but for
  using Offset = i64;
  using QOffset = i32;
  enum : int { kHeadDimQk = 128 };
  enum : int { kHeadDimV = 128 };
  enum : bool { kJaggedQ = false };
  enum : bool { kBias = true };
static_assert(attn_f32_smem_bytes<Config> == 55808, "host and device disagree about shared memory");

