// paged_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=none q_offset_dtype=i32 target_dtype=i32 page_dtype=i32 page_size=32 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=256 max_seq_len=1024 rab=0 page_gaps=0
// attn_paged_sm90 sm_90a consumers=2 block_n=64 stages=5 q_steps=8 blocks=1 split=1
#include "attention/attn_paged_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i32;
  using QOffset = i32;
  using Target = i32;
  using Page = i32;
  using Mask = variant::HstuMask<Config>;
  enum : int { kHeadDimQk = 128 };
  enum : int { kHeadDimV = 128 };
  enum : bool { kVectorIo = true };
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
  enum : int { kConsumers = 2 };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 5 };
  enum : int { kQSteps = 8 };
  enum : int { kBlocks = 1 };
  enum : int { kSplit = 1 };
  enum : int { kPieceRows = 32 };
};
static_assert(attn_paged_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");
}  // namespace hstu

// paged_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=none q_offset_dtype=i32 target_dtype=i32 page_dtype=i32 page_size=32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 target_groups=1 intervals=0 attn_scale=2 vector=8 batch=32 max_q_len=256 max_seq_len=1024 rab=2 page_gaps=0
// attn_paged_sm90 sm_90a consumers=2 block_n=64 stages=3 q_steps=8 blocks=1 split=1
// 35 lines, those above but for
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kBias = true };
  enum : int { kStages = 3 };
static_assert(attn_paged_sm90_smem_bytes<Config> == 214016, "host and device disagree about shared memory");

