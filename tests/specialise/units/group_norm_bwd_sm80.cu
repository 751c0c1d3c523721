// group_norm_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=bf16 has_moments=0 has_dresidual=0 has_dx=1 has_dweight=1 has_dbias=1 dim=512 groups=4 vector=8 rows=524288
// group_norm_bwd_sm80 sm_80 threads=512 threads_per_row=16 rows_ahead=2 blocks_per_sm=2
// group_norm_bwd_sm80 sm_90a threads=512 threads_per_row=16 rows_ahead=2 blocks_per_sm=2
#include "norm/group_norm_bwd_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  using Gradient = bf16;
  enum : bool { kHasWeight = true };
  enum : bool { kHasMoments = false };
  enum : bool { kHasDresidual = false };
  enum : bool { kHasDx = true };
  enum : bool { kHasDweight = true };
  enum : bool { kHasDbias = true };
  enum : int { kGroups = 4 };
  enum : int { kDim = 128 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 16 };
  enum : int { kRowsAhead = 2 };
  enum : int { kBlocksPerSm = 2 };
};
static_assert(group_norm_bwd_smem_bytes<Config> == 32784, "host and device disagree about shared memory");
}  // namespace hstu

// group_norm_backward dtype=bf16 weight_dtype=f32 gradient_dtype=f32 has_moments=1 has_dresidual=1 has_dx=1 has_dweight=1 has_dbias=1 dim=512 groups=8 vector=8 rows=65536
// group_norm_bwd_sm80 sm_80 threads=512 threads_per_row=8 rows_ahead=2 blocks_per_sm=2
// group_norm_bwd_sm80 sm_90a threads=512 threads_per_row=8 rows_ahead=2 blocks_per_sm=2
// 22 lines, those above but for
  using Weight = float;
  using Gradient = float;
  enum : bool { kHasMoments = true };
  enum : bool { kHasDresidual = true };
  enum : int { kGroups = 8 };
  enum : int { kDim = 64 };
  enum : int { kThreadsPerRow = 8 };
static_assert(group_norm_bwd_smem_bytes<Config> == 57360, "host and device disagree about shared memory");

// group_norm_backward dtype=f32 weight_dtype=bf16 gradient_dtype=bf16 has_moments=0 has_dresidual=1 has_dx=1 has_dweight=1 has_dbias=0 dim=3006 groups=3 vector=2 rows=4096
// group_norm_bwd_sm80 sm_80 threads=512 threads_per_row=128 rows_ahead=2 blocks_per_sm=1
// group_norm_bwd_sm80 sm_90a threads=512 threads_per_row=128 rows_ahead=2 blocks_per_sm=1
// 22 lines, those above but for
  using Element = float;
  enum : bool { kHasDresidual = true };
  enum : bool { kHasDbias = false };
  enum : int { kGroups = 3 };
  enum : int { kDim = 1002 };
  enum : int { kVector = 2 };
  enum : int { kThreadsPerRow = 128 };
  enum : int { kBlocksPerSm = 1 };
static_assert(group_norm_bwd_smem_bytes<Config> == 99328, "host and device disagree about shared memory");

// group_norm_backward dtype=f16 weight_dtype=none gradient_dtype=none has_moments=0 has_dresidual=0 has_dx=1 has_dweight=0 has_dbias=0 dim=99 groups=3 vector=1 rows=1024
// group_norm_bwd_sm80 sm_80 threads=512 threads_per_row=16 rows_ahead=2 blocks_per_sm=2
// group_norm_bwd_sm80 sm_90a threads=512 threads_per_row=16 rows_ahead=2 blocks_per_sm=2
// 22 lines, those above but for
  using Element = f16;
  using Weight = f16;
  using Gradient = f16;
  enum : bool { kHasWeight = false };
  enum : bool { kHasDweight = false };
  enum : bool { kHasDbias = false };
  enum : int { kGroups = 3 };
  enum : int { kDim = 33 };
  enum : int { kVector = 1 };
static_assert(group_norm_bwd_smem_bytes<Config> == 12304, "host and device disagree about shared memory");

// group_norm_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=f32 has_moments=1 has_dresidual=0 has_dx=0 has_dweight=0 has_dbias=1 dim=4096 groups=512 vector=8 rows=65536
// group_norm_bwd_sm80 sm_80 threads=512 threads_per_row=1 rows_ahead=2 blocks_per_sm=2
// group_norm_bwd_sm80 sm_90a threads=512 threads_per_row=1 rows_ahead=2 blocks_per_sm=2
// 22 lines, those above but for
  using Gradient = float;
  enum : bool { kHasMoments = true };
  enum : bool { kHasDx = false };
  enum : bool { kHasDweight = false };
  enum : int { kGroups = 512 };
  enum : int { kDim = 8 };
  enum : int { kThreadsPerRow = 1 };
static_assert(group_norm_bwd_smem_bytes<Config> == 16400, "host and device disagree about shared memory");

// group_norm_backward dtype=f16 weight_dtype=f16 gradient_dtype=f16 has_moments=1 has_dresidual=0 has_dx=0 has_dweight=1 has_dbias=1 dim=40000 groups=2 vector=8 rows=1024
// group_norm_bwd_sm80 sm_80 threads=512 threads_per_row=512 rows_ahead=1 blocks_per_sm=1
// group_norm_bwd_sm80 sm_90a threads=512 threads_per_row=512 rows_ahead=1 blocks_per_sm=1
// 22 lines, those above but for
  using Element = f16;
  using Weight = f16;
  using Gradient = f16;
  enum : bool { kHasMoments = true };
  enum : bool { kHasDx = false };
  enum : int { kGroups = 2 };
  enum : int { kDim = 20000 };
  enum : int { kThreadsPerRow = 512 };
  enum : int { kRowsAhead = 1 };
  enum : int { kBlocksPerSm = 1 };
static_assert(group_norm_bwd_smem_bytes<Config> == 3072, "host and device disagree about shared memory");

// group_norm_backward dtype=f32 weight_dtype=f32 gradient_dtype=f32 has_moments=0 has_dresidual=1 has_dx=1 has_dweight=1 has_dbias=1 dim=40001 groups=1 vector=1 rows=64
// group_norm_bwd_sm80 sm_80 threads=512 threads_per_row=512 rows_ahead=1 blocks_per_sm=1
// group_norm_bwd_sm80 sm_90a threads=512 threads_per_row=512 rows_ahead=1 blocks_per_sm=1
// 22 lines, those above but for
  using Element = float;
  using Weight = float;
  using Gradient = float;
  enum : bool { kHasDresidual = true };
  enum : int { kGroups = 1 };
  enum : int { kDim = 40001 };
  enum : int { kVector = 1 };
  enum : int { kThreadsPerRow = 512 };
  enum : int { kRowsAhead = 1 };
  enum : int { kBlocksPerSm = 1 };
static_assert(group_norm_bwd_smem_bytes<Config> == 3072, "host and device disagree about shared memory");

