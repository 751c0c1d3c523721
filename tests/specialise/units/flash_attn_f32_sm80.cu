// flash_attention dtype=f32 head_dim_qk=128 head_dim_v=128 num_heads=16 offset_dtype=none mask=0 lse=1 vector=4 batch=16 queries=2048 keys=2048
// flash_attn_f32_sm80 sm_80 block_n=32 min_blocks=2
// flash_attn_f32_sm80 sm_90a block_n=32 min_blocks=2
#include "flash_attn_f32_sm80.cuh"
namespace hstu {
struct Config {
  using Element = float;
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
  static constexpr int kBlockN = 32;
  static constexpr int kMinBlocks = 2;
};
static_assert(attn_f32_smem_bytes<Config> == 55808, "host and device disagree about shared memory");
}  // namespace hstu

