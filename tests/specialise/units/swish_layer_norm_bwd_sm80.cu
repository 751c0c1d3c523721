// swish_layer_norm_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=bf16 has_moments=0 has_dresidual=0 has_dx=1 has_dweight=1 has_dbias=1 activation=0 dim=512 vector=8 rows=524288
// swish_layer_norm_bwd_sm80 sm_80 threads=128 threads_per_row=32 rows_ahead=1 blocks_per_sm=3
// swish_layer_norm_bwd_sm80 sm_90a threads=128 threads_per_row=32 rows_ahead=1 blocks_per_sm=3
#include "norm/swish_layer_norm_bwd_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  using Gradient = bf16;
  using Output = tile::SwishOfNorm;
  enum : bool { kCentred = true };
  enum : bool { kHasWeight = true };
  enum : bool { kHasBias = true };
  enum : bool { kHasMoments = false };
  enum : bool { kHasDresidual = false };
  enum : bool { kHasDx = true };
  enum : bool { kHasDweight = true };
  enum : bool { kHasDbias = true };
  enum : int { kDim = 512 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kRowsAhead = 1 };
  enum : int { kBlocksPerSm = 3 };
};
static_assert(swish_layer_norm_bwd_smem_bytes<Config> == 16912, "host and device disagree about shared memory");
}  // namespace hstu

// swish_layer_norm_backward dtype=bf16 weight_dtype=f32 gradient_dtype=f32 has_moments=1 has_dresidual=1 has_dx=1 has_dweight=1 has_dbias=1 activation=0 dim=128 vector=8 rows=65536
// swish_layer_norm_bwd_sm80 sm_80 threads=128 threads_per_row=8 rows_ahead=1 blocks_per_sm=2
// swish_layer_norm_bwd_sm80 sm_90a threads=128 threads_per_row=8 rows_ahead=1 blocks_per_sm=2
// 24 lines, those above but for
  using Weight = float;
  using Gradient = float;
  enum : bool { kHasMoments = true };
  enum : bool { kHasDresidual = true };
  enum : int { kDim = 128 };
  enum : int { kThreadsPerRow = 8 };
  enum : int { kBlocksPerSm = 2 };

// swish_layer_norm_backward dtype=f32 weight_dtype=bf16 gradient_dtype=bf16 has_moments=0 has_dresidual=1 has_dx=1 has_dweight=1 has_dbias=0 activation=0 dim=1002 vector=2 rows=4096
// swish_layer_norm_bwd_sm80 sm_80 threads=128 threads_per_row=64 rows_ahead=1 blocks_per_sm=3
// swish_layer_norm_bwd_sm80 sm_90a threads=128 threads_per_row=64 rows_ahead=1 blocks_per_sm=3
// 24 lines, those above but for
  using Element = float;
  enum : bool { kHasDresidual = true };
  enum : bool { kHasDbias = false };
  enum : int { kDim = 1002 };
  enum : int { kVector = 2 };
  enum : int { kThreadsPerRow = 64 };
static_assert(swish_layer_norm_bwd_smem_bytes<Config> == 24704, "host and device disagree about shared memory");

// swish_layer_norm_backward dtype=f16 weight_dtype=none gradient_dtype=none has_moments=0 has_dresidual=0 has_dx=1 has_dweight=0 has_dbias=0 activation=0 dim=33 vector=1 rows=1024
// swish_layer_norm_bwd_sm80 sm_80 threads=128 threads_per_row=16 rows_ahead=1 blocks_per_sm=3
// swish_layer_norm_bwd_sm80 sm_90a threads=128 threads_per_row=16 rows_ahead=1 blocks_per_sm=3
// 24 lines, those above but for
  using Element = f16;
  using Weight = f16;
  using Gradient = f16;
  enum : bool { kHasWeight = false };
  enum : bool { kHasBias = false };
  enum : bool { kHasDweight = false };
  enum : bool { kHasDbias = false };
  enum : int { kDim = 33 };
  enum : int { kVector = 1 };
  enum : int { kThreadsPerRow = 16 };
static_assert(swish_layer_norm_bwd_smem_bytes<Config> == 1552, "host and device disagree about shared memory");

// swish_layer_norm_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=f32 has_moments=0 has_dresidual=0 has_dx=0 has_dweight=0 has_dbias=1 activation=0 dim=4096 vector=8 rows=65536
// swish_layer_norm_bwd_sm80 sm_80 threads=256 threads_per_row=256 rows_ahead=1 blocks_per_sm=2
// swish_layer_norm_bwd_sm80 sm_90a threads=256 threads_per_row=256 rows_ahead=1 blocks_per_sm=2
// 24 lines, those above but for
  using Gradient = float;
  enum : bool { kHasDx = false };
  enum : bool { kHasDweight = false };
  enum : int { kDim = 4096 };
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 256 };
  enum : int { kBlocksPerSm = 2 };
static_assert(swish_layer_norm_bwd_smem_bytes<Config> == 16896, "host and device disagree about shared memory");

// swish_layer_norm_backward dtype=f16 weight_dtype=f16 gradient_dtype=f16 has_moments=1 has_dresidual=0 has_dx=0 has_dweight=1 has_dbias=1 activation=0 dim=20000 vector=8 rows=1024
// swish_layer_norm_bwd_sm80 sm_80 threads=512 threads_per_row=512 rows_ahead=1 blocks_per_sm=1
// swish_layer_norm_bwd_sm80 sm_90a threads=512 threads_per_row=512 rows_ahead=1 blocks_per_sm=1
// 24 lines, those above but for
  using Element = f16;
  using Weight = f16;
  using Gradient = f16;
  enum : bool { kHasMoments = true };
  enum : bool { kHasDx = false };
  enum : int { kDim = 20000 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
  enum : int { kBlocksPerSm = 1 };
static_assert(swish_layer_norm_bwd_smem_bytes<Config> == 2560, "host and device disagree about shared memory");

// swish_layer_norm_backward dtype=f32 weight_dtype=f32 gradient_dtype=f32 has_moments=0 has_dresidual=1 has_dx=1 has_dweight=1 has_dbias=1 activation=0 dim=40001 vector=1 rows=64
// swish_layer_norm_bwd_sm80 sm_80 threads=512 threads_per_row=512 rows_ahead=1 blocks_per_sm=1
// swish_layer_norm_bwd_sm80 sm_90a threads=512 threads_per_row=512 rows_ahead=1 blocks_per_sm=1
// 24 lines, those above but for
  using Element = float;
  using Weight = float;
  using Gradient = float;
  enum : bool { kHasDresidual = true };
  enum : int { kDim = 40001 };
  enum : int { kVector = 1 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
  enum : int { kBlocksPerSm = 1 };
static_assert(swish_layer_norm_bwd_smem_bytes<Config> == 2560, "host and device disagree about shared memory");

