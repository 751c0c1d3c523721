// flash_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=16 offset_dtype=none mask=0 lse=1 vector=8 batch=16 queries=2048 keys=2048
// flash_attn_sm80 sm_80 rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
// flash_attn_sm80 sm_90a rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
#include "flash_attn_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i32;
  using Target = i32;
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::DenseSequences<Config>;
  static constexpr int kHeadDimQk = 128;
  static constexpr int kHeadDimV = 128;
  static constexpr bool kCausal = true;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = false;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = false;
  static constexpr bool kSilu = false;
  static constexpr bool kSoftmax = true;
  static constexpr bool kLse = true;
  static constexpr bool kBias = false;
  using Keys = tile::KeyRows<Config>;
  static constexpr bool kVectorIo = true;
  static constexpr int kRowsPerWarp = 32;
  static constexpr int kWarps = 4;
  static constexpr int kBlockN = 32;
  static constexpr int kStages = 2;
  static constexpr int kQSteps = 0;
  static constexpr int kMinBlocks = 2;
};
static_assert(attn_fwd_sm80_smem_bytes<Config> == 66048, "host and device disagree about shared memory");
}  // namespace hstu

// flash_attention dtype=f16 head_dim_qk=64 head_dim_v=80 num_heads=3 offset_dtype=i64 mask=1 lse=0 vector=1 batch=16 queries=4096 keys=512
// flash_attn_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// flash_attn_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
#include "flash_attn_sm80.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Offset = i64;
  using Target = i32;
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::JaggedSequences<Config>;
  static constexpr int kHeadDimQk = 64;
  static constexpr int kHeadDimV = 80;
  static constexpr bool kCausal = false;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = false;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = false;
  static constexpr bool kSilu = false;
  static constexpr bool kSoftmax = true;
  static constexpr bool kLse = false;
  static constexpr bool kBias = false;
  using Keys = tile::KeyRows<Config>;
  static constexpr bool kVectorIo = false;
  static constexpr int kRowsPerWarp = 32;
  static constexpr int kWarps = 4;
  static constexpr int kBlockN = 64;
  static constexpr int kStages = 2;
  static constexpr int kQSteps = 0;
  static constexpr int kMinBlocks = 2;
};
static_assert(attn_fwd_sm80_smem_bytes<Config> == 53760, "host and device disagree about shared memory");
}  // namespace hstu

// flash_attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 mask=1 lse=1 vector=8 batch=16 queries=16384 keys=2048
// flash_attn_sm80 sm_80 rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
// flash_attn_sm80 sm_90a rows_per_warp=32 warps=4 block_n=64 stages=2 q_steps=0 min_blocks=2
#include "flash_attn_sm80.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Offset = i64;
  using Target = i32;
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::JaggedSequences<Config>;
  static constexpr int kHeadDimQk = 64;
  static constexpr int kHeadDimV = 64;
  static constexpr bool kCausal = false;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = false;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = false;
  static constexpr bool kSilu = false;
  static constexpr bool kSoftmax = true;
  static constexpr bool kLse = true;
  static constexpr bool kBias = false;
  using Keys = tile::KeyRows<Config>;
  static constexpr bool kVectorIo = true;
  static constexpr int kRowsPerWarp = 32;
  static constexpr int kWarps = 4;
  static constexpr int kBlockN = 64;
  static constexpr int kStages = 2;
  static constexpr int kQSteps = 0;
  static constexpr int kMinBlocks = 2;
};
static_assert(attn_fwd_sm80_smem_bytes<Config> == 49664, "host and device disagree about shared memory");
}  // namespace hstu

// flash_attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 mask=0 lse=1 vector=8 batch=16 queries=16384 keys=2048
// flash_attn_sm80 sm_80 rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
// flash_attn_sm80 sm_90a rows_per_warp=16 warps=8 block_n=32 stages=2 q_steps=0 min_blocks=1
#include "flash_attn_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i32;
  using Target = i32;
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::JaggedSequences<Config>;
  static constexpr int kHeadDimQk = 256;
  static constexpr int kHeadDimV = 256;
  static constexpr bool kCausal = true;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = false;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = false;
  static constexpr bool kSilu = false;
  static constexpr bool kSoftmax = true;
  static constexpr bool kLse = true;
  static constexpr bool kBias = false;
  using Keys = tile::KeyRows<Config>;
  static constexpr bool kVectorIo = true;
  static constexpr int kRowsPerWarp = 16;
  static constexpr int kWarps = 8;
  static constexpr int kBlockN = 32;
  static constexpr int kStages = 2;
  static constexpr int kQSteps = 0;
  static constexpr int kMinBlocks = 1;
};
static_assert(attn_fwd_sm80_smem_bytes<Config> == 131584, "host and device disagree about shared memory");
}  // namespace hstu

// flash_attention dtype=bf16 head_dim_qk=72 head_dim_v=136 num_heads=2 offset_dtype=none mask=1 lse=0 vector=8 batch=16 queries=512 keys=2048
// flash_attn_sm80 sm_80 rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
// flash_attn_sm80 sm_90a rows_per_warp=32 warps=4 block_n=32 stages=2 q_steps=0 min_blocks=2
#include "flash_attn_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i32;
  using Target = i32;
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::DenseSequences<Config>;
  static constexpr int kHeadDimQk = 72;
  static constexpr int kHeadDimV = 136;
  static constexpr bool kCausal = false;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = false;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = false;
  static constexpr bool kSilu = false;
  static constexpr bool kSoftmax = true;
  static constexpr bool kLse = false;
  static constexpr bool kBias = false;
  using Keys = tile::KeyRows<Config>;
  static constexpr bool kVectorIo = true;
  static constexpr int kRowsPerWarp = 32;
  static constexpr int kWarps = 4;
  static constexpr int kBlockN = 32;
  static constexpr int kStages = 2;
  static constexpr int kQSteps = 0;
  static constexpr int kMinBlocks = 2;
};
static_assert(attn_fwd_sm80_smem_bytes<Config> == 49664, "host and device disagree about shared memory");
}  // namespace hstu

