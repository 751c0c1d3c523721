// attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=131072 max_seq_len=4096 target_groups=0 intervals=0 scaling=0 vector_out=8 fast_sums=1 heads_per_kv=1
// attn_fp8_sm90 sm_90a consumers=2 block_n=128 stages=3 q_steps=4
#include "attention/attn_fp8_sm90.cuh"
namespace hstu {
struct Config {
  using Element = e4m3;
  using Output = bf16;
  using Tile = attn90::Fp8Tile<Config>;
  using Place = attn90::Fp8Place<Config>;
  using Offset = i64;
  using Target = i32;
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
  enum : bool { kSilu = true };
  enum : bool { kSoftmax = false };
  enum : bool { kLse = false };
  enum : bool { kBias = false };
  enum : int { kPromoteKeys = 0 };
  enum : int { kConsumers = 2 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
  enum : int { kQSteps = 4 };
  enum : int { kBlocks = 1 };
};
static_assert(attn_fp8_sm90_smem_bytes<Config> == 197632, "host and device disagree about shared memory");
}  // namespace hstu

// attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=4 total=65536 max_seq_len=16384 target_groups=0 intervals=0 scaling=1 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm90 sm_90a consumers=2 block_n=160 stages=2 q_steps=4
// 32 lines, those above but for
  enum : int { kPromoteKeys = 2048 };
  enum : int { kBlockN = 160 };
  enum : int { kStages = 2 };
static_assert(attn_fp8_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");

// attention_fp8 dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 scaling=2 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm90 sm_90a consumers=2 block_n=128 stages=3 q_steps=2
// 32 lines, those above but for
  using Output = f16;
  using Offset = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : int { kPromoteKeys = 2048 };
  enum : int { kQSteps = 2 };
static_assert(attn_fp8_sm90_smem_bytes<Config> == 173056, "host and device disagree about shared memory");

// attention_fp8 dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 scaling=0 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm90 sm_90a consumers=2 block_n=64 stages=2 q_steps=2
// 32 lines, those above but for
  using Offset = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 2 };

// attention_fp8 dtype=bf16 head_dim_qk=48 head_dim_v=80 num_heads=3 offset_dtype=i32 target_dtype=i64 mask=0 contextual=2 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 scaling=0 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm90 sm_90a consumers=2 block_n=128 stages=3 q_steps=2
// 32 lines, those above but for
  using Offset = i32;
  using Target = i64;
  enum : int { kHeadDimQk = 48 };
  enum : int { kHeadDimV = 80 };
  enum : bool { kHasTargets = true };
  enum : bool { kContextual = true };
  enum : bool { kAttnScale = true };
  enum : int { kPromoteKeys = 2048 };
  enum : int { kQSteps = 2 };
static_assert(attn_fp8_sm90_smem_bytes<Config> == 187392, "host and device disagree about shared memory");

// attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 scaling=3 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm90 sm_90a consumers=2 block_n=128 stages=3 q_steps=4
// 33 lines, those above but for
  enum : bool { kHasTargets = true };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kBlockScales = true };
  enum : int { kPromoteKeys = 2048 };
static_assert(attn_fp8_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");

// attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=3 scaling=2 vector_out=8 fast_sums=0 heads_per_kv=1
// attn_fp8_sm90 sm_90a consumers=2 block_n=128 stages=3 q_steps=4
// 33 lines, those above but for
  using Tile = attn90::Fp8IntervalTile<Config>;
  using Place = attn90::Fp8IntervalPlace<Config>;
  enum : int { kHeadDimV = 64 };
  enum : bool { kCausal = false };
  enum : int { kIntervals = 3 };
  enum : int { kPromoteKeys = 2048 };
static_assert(attn_fp8_sm90_smem_bytes<Config> == 173056, "host and device disagree about shared memory");

// attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 scaling=2 vector_out=8 fast_sums=0 heads_per_kv=4
// attn_fp8_sm90 sm_90a consumers=2 block_n=128 stages=3 q_steps=4
// 33 lines, those above but for
  enum : bool { kHasTargets = true };
  enum : int { kHeadsPerKv = 4 };
  enum : int { kPromoteKeys = 2048 };
static_assert(attn_fp8_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");

// attention_fp8 dtype=f16 head_dim_qk=64 head_dim_v=32 num_heads=6 offset_dtype=i32 target_dtype=none mask=1 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 scaling=3 vector_out=8 fast_sums=0 heads_per_kv=2
// attn_fp8_sm90 sm_90a consumers=2 block_n=128 stages=3 q_steps=2
// 34 lines, those above but for
  using Output = f16;
  using Offset = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 32 };
  enum : bool { kCausal = false };
  enum : int { kHeadsPerKv = 2 };
  enum : bool { kBlockScales = true };
  enum : int { kPromoteKeys = 2048 };
  enum : int { kQSteps = 2 };
static_assert(attn_fp8_sm90_smem_bytes<Config> == 144384, "host and device disagree about shared memory");

