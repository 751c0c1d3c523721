// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=64 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=4 q_steps=8 blocks=1 section=0 whole=0
#include "attention/attn_fwd_sm90.cuh"
namespace hstu {
struct Config {
  using Tile = attn90::HstuTile<Config>;
  using Place = attn90::HstuPlace<Config>;
  using Element = bf16;
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
  enum : bool { kSilu = true };
  enum : bool { kSoftmax = false };
  enum : bool { kLse = false };
  enum : bool { kBias = false };
  enum : int { kConsumers = 2 };
  enum : int { kBlockN = 64 };
  enum : int { kStages = 4 };
  enum : int { kQSteps = 8 };
  enum : int { kBlocks = 1 };
};
static_assert(attn_fwd_sm90_smem_bytes<Config> == 197632, "host and device disagree about shared memory");
}  // namespace hstu

// attention dtype=f16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 target_dtype=none mask=1 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=2 vector=8 batch=16 total=16384 max_seq_len=4096 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=2 q_steps=6 blocks=1 section=0 whole=0
// 30 lines, those above but for
  using Element = f16;
  using Offset = i32;
  using Target = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kHasTargets = false };
  enum : bool { kAttnScale = true };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 6 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=1 vector=8 batch=128 total=65536 max_seq_len=1024 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=1 block_n=64 stages=3 q_steps=0 blocks=3 section=0 whole=0
// 30 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : int { kConsumers = 1 };
  enum : int { kStages = 3 };
  enum : int { kQSteps = 0 };
  enum : int { kBlocks = 3 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 66560, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=2 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=4 q_steps=8 blocks=1 section=0 whole=0
// 31 lines, those above but for
  using Tile = attn90::IntervalTile<Config>;
  using Place = attn90::IntervalPlace<Config>;
  using Target = i32;
  enum : int { kHeadDimV = 64 };
  enum : bool { kCausal = false };
  enum : int { kIntervals = 2 };
  enum : bool { kHasTargets = false };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 148480, "host and device disagree about shared memory");

// attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=1 block_n=64 stages=3 q_steps=0 blocks=3 section=0 whole=0
// 30 lines, those above but for
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
  enum : int { kConsumers = 1 };
  enum : int { kStages = 3 };
  enum : int { kQSteps = 0 };
  enum : int { kBlocks = 3 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 66560, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=4 q_steps=8 blocks=1 section=0 whole=0
// 30 lines, those above but for
  using Target = i32;
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=3 q_steps=8 blocks=1 section=0 whole=0
// 30 lines, those above but for
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : int { kStages = 3 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 164864, "host and device disagree about shared memory");

// attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=1 lse=0 rab=0 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=2 block_n=128 stages=2 q_steps=4 blocks=1 section=0 whole=0
// 30 lines, those above but for
  using Element = f16;
  using Target = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };
  enum : bool { kSilu = false };
  enum : bool { kSoftmax = true };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 4 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 99328, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=2 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=3 q_steps=8 blocks=1 section=0 whole=0
// 30 lines, those above but for
  using Target = i32;
  enum : bool { kHasTargets = false };
  enum : bool { kBias = true };
  enum : int { kStages = 3 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 214016, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=2 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=3 q_steps=8 blocks=1 section=0 whole=0
// 30 lines, those above but for
  using Target = i32;
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : bool { kBias = true };
  enum : int { kStages = 3 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 214016, "host and device disagree about shared memory");

// attention dtype=f16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=1 lse=1 rab=2 heads_per_kv=1 moments=0
// attn_fwd_sm90 sm_90a consumers=2 block_n=48 stages=2 q_steps=0 blocks=1 section=0 whole=0
// 30 lines, those above but for
  using Element = f16;
  using Target = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };
  enum : bool { kSilu = false };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : bool { kBias = true };
  enum : int { kBlockN = 48 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 0 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=131072 max_seq_len=16384 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=1
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=4 q_steps=8 blocks=1 section=0 whole=0
// 31 lines, those above but for
  using Target = i32;
  enum : bool { kMoments = true };

// attention dtype=f16 head_dim_qk=64 head_dim_v=40 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=0 heads_per_kv=2 moments=1
// attn_fwd_sm90 sm_90a consumers=2 block_n=128 stages=2 q_steps=4 blocks=1 section=0 whole=0
// 32 lines, those above but for
  using Element = f16;
  using Target = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 40 };
  enum : bool { kTargetGroups = true };
  enum : bool { kContextual = true };
  enum : bool { kMaxAttnLen = true };
  enum : bool { kMinFullAttn = true };
  enum : bool { kAttnScale = true };
  enum : int { kHeadsPerKv = 2 };
  enum : bool { kSoftmax = true };
  enum : bool { kLse = true };
  enum : bool { kMoments = true };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 4 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 99328, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=1
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=2 q_steps=4 blocks=1 section=0 whole=0
// 31 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 256 };
  enum : int { kHeadDimV = 256 };
  enum : bool { kCausal = false };
  enum : bool { kLocal = true };
  enum : bool { kHasTargets = false };
  enum : bool { kAttnScale = true };
  enum : bool { kMoments = true };
  enum : int { kStages = 2 };
  enum : int { kQSteps = 4 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 230400, "host and device disagree about shared memory");

// attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=4 moments=0
// attn_fwd_sm90 sm_90a consumers=1 block_n=64 stages=3 q_steps=0 blocks=3 section=0 whole=0
// 31 lines, those above but for
  using Target = i32;
  enum : int { kHeadDimQk = 64 };
  enum : int { kHeadDimV = 64 };
  enum : int { kHeadsPerKv = 4 };
  enum : int { kConsumers = 1 };
  enum : int { kStages = 3 };
  enum : int { kQSteps = 0 };
  enum : int { kBlocks = 3 };
static_assert(attn_fwd_sm90_smem_bytes<Config> == 66560, "host and device disagree about shared memory");

