// hstu_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=64 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=4 q_steps=8
#include "attn_fwd_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i64;
  using Target = i64;
  static constexpr int kHeadDimQk = 128;
  static constexpr int kHeadDimV = 128;
  static constexpr bool kCausal = true;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = true;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = false;
  static constexpr bool kSilu = true;
  static constexpr bool kSoftmax = false;
  static constexpr bool kLse = false;
  static constexpr bool kBias = false;
  static constexpr int kConsumers = 2;
  static constexpr int kBlockN = 64;
  static constexpr int kStages = 4;
  static constexpr int kQSteps = 8;
};
static_assert(attn_fwd_sm90_smem_bytes<Config> == 181248, "host and device disagree about shared memory");
}  // namespace hstu

// hstu_attention dtype=f16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 target_dtype=none mask=1 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=2 vector=8 batch=16 total=16384 max_seq_len=4096 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=2 q_steps=6
#include "attn_fwd_sm90.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Offset = i32;
  using Target = i32;
  static constexpr int kHeadDimQk = 256;
  static constexpr int kHeadDimV = 256;
  static constexpr bool kCausal = false;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = false;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = true;
  static constexpr bool kSilu = true;
  static constexpr bool kSoftmax = false;
  static constexpr bool kLse = false;
  static constexpr bool kBias = false;
  static constexpr int kConsumers = 2;
  static constexpr int kBlockN = 64;
  static constexpr int kStages = 2;
  static constexpr int kQSteps = 6;
};
static_assert(attn_fwd_sm90_smem_bytes<Config> == 214016, "host and device disagree about shared memory");
}  // namespace hstu

// hstu_attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=1 vector=8 batch=128 total=65536 max_seq_len=1024 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=4 q_steps=4
#include "attn_fwd_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i64;
  using Target = i32;
  static constexpr int kHeadDimQk = 64;
  static constexpr int kHeadDimV = 64;
  static constexpr bool kCausal = true;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = true;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = true;
  static constexpr bool kMaxAttnLen = true;
  static constexpr bool kMinFullAttn = true;
  static constexpr bool kAttnScale = true;
  static constexpr bool kSilu = true;
  static constexpr bool kSoftmax = false;
  static constexpr bool kLse = false;
  static constexpr bool kBias = false;
  static constexpr int kConsumers = 2;
  static constexpr int kBlockN = 64;
  static constexpr int kStages = 4;
  static constexpr int kQSteps = 4;
};
static_assert(attn_fwd_sm90_smem_bytes<Config> == 99328, "host and device disagree about shared memory");
}  // namespace hstu

// hstu_attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=4 q_steps=4
#include "attn_fwd_sm90.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Offset = i32;
  using Target = i32;
  static constexpr int kHeadDimQk = 64;
  static constexpr int kHeadDimV = 64;
  static constexpr bool kCausal = true;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = true;
  static constexpr bool kTargetGroups = true;
  static constexpr bool kContextual = true;
  static constexpr bool kMaxAttnLen = true;
  static constexpr bool kMinFullAttn = true;
  static constexpr bool kAttnScale = true;
  static constexpr bool kSilu = true;
  static constexpr bool kSoftmax = false;
  static constexpr bool kLse = false;
  static constexpr bool kBias = false;
  static constexpr int kConsumers = 2;
  static constexpr int kBlockN = 64;
  static constexpr int kStages = 4;
  static constexpr int kQSteps = 4;
};
static_assert(attn_fwd_sm90_smem_bytes<Config> == 99328, "host and device disagree about shared memory");
}  // namespace hstu

// hstu_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=4 q_steps=8
#include "attn_fwd_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i64;
  using Target = i32;
  static constexpr int kHeadDimQk = 128;
  static constexpr int kHeadDimV = 128;
  static constexpr bool kCausal = false;
  static constexpr bool kLocal = true;
  static constexpr bool kHasTargets = false;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = false;
  static constexpr bool kSilu = true;
  static constexpr bool kSoftmax = false;
  static constexpr bool kLse = false;
  static constexpr bool kBias = false;
  static constexpr int kConsumers = 2;
  static constexpr int kBlockN = 64;
  static constexpr int kStages = 4;
  static constexpr int kQSteps = 8;
};
static_assert(attn_fwd_sm90_smem_bytes<Config> == 181248, "host and device disagree about shared memory");
}  // namespace hstu

// hstu_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=0 heads_per_kv=1
// attn_fwd_sm90 sm_90a consumers=2 block_n=128 stages=2 q_steps=8
#include "attn_fwd_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i64;
  using Target = i64;
  static constexpr int kHeadDimQk = 128;
  static constexpr int kHeadDimV = 128;
  static constexpr bool kCausal = true;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = true;
  static constexpr bool kTargetGroups = true;
  static constexpr bool kContextual = true;
  static constexpr bool kMaxAttnLen = true;
  static constexpr bool kMinFullAttn = true;
  static constexpr bool kAttnScale = true;
  static constexpr bool kSilu = true;
  static constexpr bool kSoftmax = true;
  static constexpr bool kLse = true;
  static constexpr bool kBias = false;
  static constexpr int kConsumers = 2;
  static constexpr int kBlockN = 128;
  static constexpr int kStages = 2;
  static constexpr int kQSteps = 8;
};
static_assert(attn_fwd_sm90_smem_bytes<Config> == 181248, "host and device disagree about shared memory");
}  // namespace hstu

// hstu_attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=1 lse=0 rab=0 heads_per_kv=1
// attn_fwd_sm90 sm_90a consumers=2 block_n=128 stages=2 q_steps=4
#include "attn_fwd_sm90.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Offset = i64;
  using Target = i32;
  static constexpr int kHeadDimQk = 64;
  static constexpr int kHeadDimV = 64;
  static constexpr bool kCausal = false;
  static constexpr bool kLocal = true;
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
  static constexpr int kConsumers = 2;
  static constexpr int kBlockN = 128;
  static constexpr int kStages = 2;
  static constexpr int kQSteps = 4;
};
static_assert(attn_fwd_sm90_smem_bytes<Config> == 99328, "host and device disagree about shared memory");
}  // namespace hstu

// hstu_attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=4
// attn_fwd_sm90 sm_90a consumers=2 block_n=64 stages=4 q_steps=4
#include "attn_fwd_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Offset = i64;
  using Target = i32;
  static constexpr int kHeadDimQk = 64;
  static constexpr int kHeadDimV = 64;
  static constexpr bool kCausal = true;
  static constexpr bool kLocal = false;
  static constexpr bool kHasTargets = true;
  static constexpr bool kTargetGroups = false;
  static constexpr bool kContextual = false;
  static constexpr bool kMaxAttnLen = false;
  static constexpr bool kMinFullAttn = false;
  static constexpr bool kAttnScale = false;
  static constexpr int kHeadsPerKv = 4;
  static constexpr bool kSilu = true;
  static constexpr bool kSoftmax = false;
  static constexpr bool kLse = false;
  static constexpr bool kBias = false;
  static constexpr int kConsumers = 2;
  static constexpr int kBlockN = 64;
  static constexpr int kStages = 4;
  static constexpr int kQSteps = 4;
};
static_assert(attn_fwd_sm90_smem_bytes<Config> == 99328, "host and device disagree about shared memory");
}  // namespace hstu

