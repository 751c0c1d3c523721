// norm_addmm dtype=bf16 weight_dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=512 weight_transposed=0 vector=8 vector_w=8 split=64 m=131072
// norm_addmm_sm90 sm_90a stage_slices=4
#include "dense/norm_addmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  using Bias = bf16;
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };
  enum : bool { kActivatesPart = false };
  enum : bool { kSplitColumns = true };
  enum : int { kDim = 512 };
  enum : int { kColumns = 2048 };
  enum : bool { kWAlongK = false };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 64 };
  enum : int { kStageSlices = 4 };
  enum : int { kStages = 4 };
  enum : int { kBoxes = 1 };
  enum : int { kThreads = 384 };
  enum : int { kMinBlocks = 1 };
};
static_assert(norm_addmm_sm90_smem_bytes<Config> == 223320, "host and device disagree about shared memory");
}  // namespace hstu

// norm_addmm dtype=f16 weight_dtype=f32 n=1024 k=256 bias=1 bias_dtype=f32 activation=0 act_columns=0 weight_transposed=1 vector=8 vector_w=8 split=0 m=65536
// norm_addmm_sm90 sm_90a stage_slices=4
// 23 lines, those above but for
  using Element = f16;
  using Weight = float;
  using Bias = float;
  enum : int { kActivation = 0 };
  enum : bool { kSplitColumns = false };
  enum : int { kDim = 256 };
  enum : int { kColumns = 1024 };
  enum : bool { kWAlongK = true };
  enum : int { kStages = 5 };
static_assert(norm_addmm_sm90_smem_bytes<Config> == 219240, "host and device disagree about shared memory");

// norm_addmm dtype=bf16 weight_dtype=f32 n=40 k=64 bias=0 bias_dtype=none activation=1 act_columns=40 weight_transposed=0 vector=8 vector_w=8 split=0 m=65536
// norm_addmm_sm90 sm_90a stage_slices=1
// 23 lines, those above but for
  using Weight = float;
  enum : int { kBias = 0 };
  enum : bool { kSplitColumns = false };
  enum : int { kDim = 64 };
  enum : int { kColumns = 40 };
  enum : int { kStageSlices = 1 };
  enum : int { kStages = 25 };
static_assert(norm_addmm_sm90_smem_bytes<Config> == 230312, "host and device disagree about shared memory");

// norm_addmm dtype=bf16 weight_dtype=bf16 n=320 k=128 bias=0 bias_dtype=none activation=0 act_columns=0 weight_transposed=1 vector=8 vector_w=8 split=64 m=131072
// norm_addmm_sm90 sm_90a stage_slices=2
// 23 lines, those above but for
  enum : int { kBias = 0 };
  enum : int { kActivation = 0 };
  enum : int { kDim = 128 };
  enum : int { kColumns = 320 };
  enum : bool { kWAlongK = true };
  enum : int { kStageSlices = 2 };
  enum : int { kStages = 12 };
static_assert(norm_addmm_sm90_smem_bytes<Config> == 230104, "host and device disagree about shared memory");

