// attention_backward dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm90 sm_90a block_n=64 stages=3 apart=0 key_parts=1 own_tiles=2
#include "attention/attn_bwd_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Mask = variant::HstuMask<Config>;
  using Sequences = variant::JaggedSequences<Config>;
  using Offset = i64;
  using Target = i64;
  enum : int { kHeadDimQk = 128 };
  enum : int { kHeadDimV = 128 };
  enum : bool { kCausal = true };
  enum : bool { kLocal = false };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = false };
  enum : bool { kContextual = false };
  enum : bool { kMaxAttnLen = false };
  enum : bool { kMinFullAttn = false };
  enum : bool { kAttnScale = false };
  enum : bool { kRowScale = false };
  enum : bool { kSilu = true };
  enum : bool { kSoftmax = false };
  enum : bool { kBias = false };
  enum : bool { kHasDq = true };
  enum : bool { kHasDk = true };
  enum : bool { kHasDv = true };
  enum : bool { kDrab = false };
  enum : bool { kHasDattnScale = false };
  enum : bool { kHalf = false };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 3 };
  enum : bool { kApart = false };
  enum : int { kKeyParts = 1 };
  enum : int { kOwnTiles = 2 };
};
static_assert(attn_bwd_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");
}  // namespace hstu

// attention_backward dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm90 sm_90a block_n=64 stages=4 apart=0 key_parts=1 own_tiles=2
// 36 lines, those above but for
  using Element = f16;
  using Offset = i32;
  using Target = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kRowScale = true };
  enum : bool { kHalf = true };
  enum : int { kStages = 4 };
static_assert(attn_bwd_sm90_smem_bytes<Config> == 132096, "host and device disagree about shared memory");

// attention_backward dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm90 sm_90a block_n=32 stages=3 apart=1 key_parts=2 own_tiles=1
// 36 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };
  enum : int { kBlockN = 32 };
  enum : bool { kApart = true };
  enum : int { kKeyParts = 2 };
  enum : int { kOwnTiles = 1 };

// attention_backward dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=1 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm90 sm_90a block_n=64 stages=3 apart=0 key_parts=2 own_tiles=2
// 36 lines, those above but for
  using Target = i32;
  enum : bool { kCausal = false };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : int { kKeyParts = 2 };

// attention_backward dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=1 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm90 sm_90a block_n=64 stages=3 apart=0 key_parts=2 own_tiles=2
// 36 lines, those above but for
  enum : bool { kCausal = false };
  enum : int { kKeyParts = 2 };

// attention_backward dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=1 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=0 has_d_attn_scale=0
// attn_bwd_sm90 sm_90a block_n=32 stages=3 apart=1 key_parts=2 own_tiles=1
// 36 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kRowScale = true };
  enum : int { kBlockN = 32 };
  enum : bool { kApart = true };
  enum : int { kKeyParts = 2 };
  enum : int { kOwnTiles = 1 };

