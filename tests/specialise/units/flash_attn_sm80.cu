// flash_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=16 offset_dtype=none mask=0 lse=1 vector=8 batch=16 queries=2048 keys=2048
// flash_attn_sm80 sm_80 rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
// flash_attn_sm80 sm_90a rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
#include "attention/flash_attn_sm80.cuh"
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
  using Keys = tile::KeyRows<Config>;
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

// flash_attention dtype=f16 head_dim_qk=64 head_dim_v=80 num_heads=3 offset_dtype=i64 mask=1 lse=0 vector=1 batch=16 queries=4096 keys=512
// flash_attn_sm80 sm_80 rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=3
// flash_attn_sm80 sm_90a rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=3
// 33 lines, those above but for
  using Element = f16;
  using Offset = i64;
  using Sequences = variant::JaggedSequences<Config>;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 80 };
  enum : bool { kCausal = false };
  enum : bool { kLse = false };
  enum : bool { kVectorIo = false };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kMinBlocks = 3 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 27136, "host and device disagree about shared memory");

// flash_attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 mask=1 lse=1 vector=8 batch=16 queries=16384 keys=2048
// flash_attn_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// flash_attn_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// 33 lines, those above but for
  using Element = f16;
  using Offset = i64;
  using Sequences = variant::JaggedSequences<Config>;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kCausal = false };
  enum : int { kBlockN = 64 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 49664, "host and device disagree about shared memory");

// flash_attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 mask=0 lse=1 vector=8 batch=16 queries=16384 keys=2048
// flash_attn_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// flash_attn_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// 33 lines, those above but for
  using Sequences = variant::JaggedSequences<Config>;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kWarps = 8 };
  enum : int { kMinBlocks = 1 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 131584, "host and device disagree about shared memory");

// flash_attention dtype=bf16 head_dim_qk=72 head_dim_v=136 num_heads=2 offset_dtype=none mask=1 lse=0 vector=8 batch=16 queries=512 keys=2048
// flash_attn_sm80 sm_80 rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=3
// flash_attn_sm80 sm_90a rows_per_warp=16 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=3
// 33 lines, those above but for
  enum : int { kHeadDimQk = 72 };
  enum : int { kHeadDimV = 136 };
  enum : bool { kCausal = false };
  enum : bool { kLse = false };
  enum : int { kRowsPerWarp = 16 };
  enum : int { kMinBlocks = 3 };
static_assert(attn_fwd_sm80_smem_bytes<Config> == 39424, "host and device disagree about shared memory");

