// addmm dtype=bf16 n=512 k=2048 bias=2 bias_dtype=bf16 activation=3 act_columns=100 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_split_sm90 sm_90a block_m=16 block_n=64 swap=1 split=8
#include "dense/addmm_split_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 3 };
  enum : bool { kXAlongK = true };
  enum : bool { kWAlongK = false };
  enum : int { kBlockM = 16 };
  enum : int { kBlockN = 64 };
  enum : bool { kSwap = true };
  enum : int { kSplit = 8 };
  enum : int { kStages = 4 };
  enum : int { kThreads = 160 };
  enum : int { kMinBlocks = 1 };
};
static_assert(addmm_split_sm90_smem_bytes<Config> == 45128, "host and device disagree about shared memory");
}  // namespace hstu

// addmm dtype=bf16 n=512 k=512 bias=1 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_split_sm90 sm_90a block_m=16 block_n=64 swap=1 split=1
// 19 lines, those above but for
  using Bias = float;
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };
  enum : int { kSplit = 1 };
  enum : int { kStages = 8 };
static_assert(addmm_split_sm90_smem_bytes<Config> == 82056, "host and device disagree about shared memory");

// addmm dtype=f16 n=4096 k=1024 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=2 gather_y=0 allow_tf32=0 split=0 m=64
// addmm_split_sm90 sm_90a block_m=32 block_n=64 swap=1 split=1
// 19 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 32 };
  enum : int { kSplit = 1 };
  enum : int { kStages = 8 };
static_assert(addmm_split_sm90_smem_bytes<Config> == 98440, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=65536 bias=0 bias_dtype=none activation=0 act_columns=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=512
// addmm_split_sm90 sm_90a block_m=128 block_n=128 swap=0 split=8
// 19 lines, those above but for
  enum : int { kBias = 0 };
  enum : int { kActivation = 0 };
  enum : bool { kXAlongK = false };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 128 };
  enum : bool { kSwap = false };
  enum : int { kStages = 5 };
  enum : int { kThreads = 288 };
static_assert(addmm_split_sm90_smem_bytes<Config> == 229464, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=512 bias=3 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_split_sm90 sm_90a block_m=16 block_n=64 swap=1 split=1
// 19 lines, those above but for
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 1 };
  enum : int { kSplit = 1 };
  enum : int { kStages = 8 };
static_assert(addmm_split_sm90_smem_bytes<Config> == 82056, "host and device disagree about shared memory");

// addmm dtype=f16 n=4096 k=4096 bias=3 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=64
// addmm_split_sm90 sm_90a block_m=64 block_n=128 swap=0 split=4
// 19 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 3 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 128 };
  enum : bool { kSwap = false };
  enum : int { kSplit = 4 };
  enum : int { kStages = 8 };
static_assert(addmm_split_sm90_smem_bytes<Config> == 229512, "host and device disagree about shared memory");

