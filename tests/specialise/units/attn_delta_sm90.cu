// delta_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 q_offset_dtype=none target_dtype=none page_dtype=none page_size=0 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=32 max_seq_len=4096 rab=0 page_gaps=0
// attn_delta_sm90 sm_90a consumers=1 block_n=64 stages=6 q_steps=8 blocks=1 split=1
#include "attention/attn_delta_sm90.cuh"
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
  enum : int { kConsumers = 1 };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 6 };
  enum : int { kQSteps = 8 };
  enum : int { kBlocks = 1 };
  enum : int { kSplit = 1 };
};
static_assert(attn_delta_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");
}  // namespace hstu

// delta_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 q_offset_dtype=none target_dtype=none page_dtype=none page_size=0 mask=3 contextual=0 max_attn_len=0 min_full_attn=0 target_groups=0 intervals=5 attn_scale=0 vector=8 batch=32 max_q_len=128 max_seq_len=4096 rab=2 page_gaps=0
// attn_delta_sm90 sm_90a consumers=2 block_n=64 stages=3 q_steps=8 blocks=1 split=1
// 34 lines, those above but for
  using Mask = variant::IntervalMask<Config>;
  enum : bool { kCausal = false };
  enum : int { kIntervals = 5 };
  enum : bool { kBias = true };
  enum : int { kConsumers = 2 };
  enum : int { kStages = 3 };
static_assert(attn_delta_sm90_smem_bytes<Config> == 216064, "host and device disagree about shared memory");

