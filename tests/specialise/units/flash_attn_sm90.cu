// flash_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=16 offset_dtype=none mask=0 lse=1 vector=8 batch=16 queries=2048 keys=2048
// flash_attn_sm90 sm_90a consumers=2 block_n=128 stages=2 q_steps=8 turns=0
#include "attention/flash_attn_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i32;
  using Target = i32;
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::DenseSequences<Config>;
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
  enum : bool { kSilu = false };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : bool { kBias = false };
  enum : int { kConsumers = 2 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 8 };
  enum : int { kBlocks = 1 };
  enum : bool { kTurns = false };
};
static_assert(flash_attn_sm90_smem_bytes<Config> == 197632, "host and device disagree about shared memory");
}  // namespace hstu

// flash_attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 mask=1 lse=1 vector=8 batch=16 queries=16384 keys=2048
// flash_attn_sm90 sm_90a consumers=3 block_n=96 stages=4 q_steps=0 turns=1
// 31 lines, those above but for
  using Element = f16;
  using Offset = i64;
  using Sequences = variant::JaggedSequences<Config>;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kCausal = false };
  enum : int { kConsumers = 3 };
  enum : int { kBlockN = 96 };
  enum : int { kStages = 4 };
  enum : int { kQSteps = 0 };
  enum : bool { kTurns = true };
static_assert(flash_attn_sm90_smem_bytes<Config> == 148480, "host and device disagree about shared memory");

// flash_attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 mask=0 lse=1 vector=8 batch=16 queries=16384 keys=2048
// flash_attn_sm90 sm_90a consumers=2 block_n=64 stages=2 q_steps=4 turns=0
// 31 lines, those above but for
  using Sequences = variant::JaggedSequences<Config>;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : int { kBlockN = 64 };
  enum : int { kQSteps = 4 };
static_assert(flash_attn_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");

// flash_attention dtype=bf16 head_dim_qk=72 head_dim_v=136 num_heads=2 offset_dtype=none mask=1 lse=0 vector=8 batch=16 queries=512 keys=2048
// flash_attn_sm90 sm_90a consumers=2 block_n=128 stages=2 q_steps=4 turns=0
// 31 lines, those above but for
  enum : int { kHeadDimQk = 72 };
  enum : int { kHeadDimV = 136 };
  enum : bool { kCausal = false };
  enum : bool { kLse = false };
  enum : int { kQSteps = 4 };
static_assert(flash_attn_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");

