// paged_attention dtype=f32 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=none q_offset_dtype=i32 target_dtype=i32 page_dtype=i32 page_size=32 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=4 batch=32 max_q_len=256 max_seq_len=1024 rab=0 page_gaps=0
// attn_paged_f32_sm80 sm_80 block_n=32 min_blocks=2
// attn_paged_f32_sm80 sm_90a block_n=32 min_blocks=2
#include "attention/attn_paged_f32_sm80.cuh"
namespace hstu {
struct Config {
  using Sequences = variant::CachedSequences<Config>;
  using Element = float;
  using Offset = i32;
  using QOffset = i32;
  using Target = i32;
  using Page = i32;
  using Mask = variant::HstuMask<Config>;
  enum : int { kHeadDimQk = 128 };
  enum : int { kHeadDimV = 128 };
  enum : bool { kVectorIo = false };
  enum : bool { kJaggedQ = true };
  enum : int { kPageSize = 32 };
  enum : bool { kCausal = true };
  enum : bool { kLocal = false };
  enum : int { kIntervals = 0 };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = false };
  enum : bool { kContextual = false };
  enum : bool { kMaxAttnLen = false };
  enum : bool { kMinFullAttn = false };
  enum : bool { kAttnScale = false };
  enum : bool { kSoftmax = false };
  enum : bool { kBias = false };
  enum : bool { kSilu = true };
  enum : bool { kLse = false };
  enum : int { kBlockN = 32 };
  enum : int { kMinBlocks = 2 };
};
static_assert(attn_f32_smem_bytes<Config> == 55808, "host and device disagree about shared memory");
}  // namespace hstu

// paged_attention dtype=f32 head_dim_qk=64 head_dim_v=48 num_heads=4 heads_per_kv=2 offset_dtype=none q_offset_dtype=i32 target_dtype=i32 page_dtype=i32 page_size=32 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=4 batch=32 max_q_len=256 max_seq_len=1024 rab=1 page_gaps=0
// attn_paged_f32_sm80 sm_80 block_n=32 min_blocks=2
// attn_paged_f32_sm80 sm_90a block_n=32 min_blocks=2
// 33 lines, those above but for
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 48 };
  enum : bool { kBias = true };
static_assert(attn_f32_smem_bytes<Config> == 29184, "host and device disagree about shared memory");

