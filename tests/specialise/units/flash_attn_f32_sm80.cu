// flash_attention dtype=f32 head_dim_qk=128 head_dim_v=128 num_heads=16 offset_dtype=none mask=0 lse=1 vector=4 batch=16 queries=2048 keys=2048
// flash_attn_f32_sm80 sm_80 block_n=16 min_blocks=2
// flash_attn_f32_sm80 sm_90a block_n=16 min_blocks=2
#include "attention/flash_attn_f32_sm80.cuh"
namespace hstu {
struct Config {
  using Element = float;
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
  enum : int { kBlockN = 16 };
  enum : int { kMinBlocks = 2 };
};
static_assert(attn_f32_smem_bytes<Config> == 36864, "host and device disagree about shared memory");
}  // namespace hstu

