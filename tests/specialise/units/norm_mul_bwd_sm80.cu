// norm_mul_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=bf16 dim=512 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 parts=0 has_dattn=1 has_du=1 has_dweight=1 has_dbias=1 has_out=0 vector=8 rows=131072
// norm_mul_bwd_sm80 sm_80 threads=512 threads_per_row=64 rows_ahead=2 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=512 threads_per_row=64 rows_ahead=2 blocks_per_sm=1
#include "norm/norm_mul_bwd_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  using Gradient = bf16;
  using Copy = tile::Identity;
  using Multiplier = tile::Identity;
  using Output = tile::NormOnly;
  enum : bool { kConcatU = true };
  enum : bool { kConcatX = true };
  enum : bool { kHasWeight = true };
  enum : bool { kHasBias = true };
  enum : bool { kCentred = true };
  enum : int { kDropout = 0 };
  using Fp8 = e4m3;
  enum : int { kScaling = 0 };
  enum : bool { kGroupNorm = false };
  enum : int { kParts = 0 };
  enum : bool { kHasDattn = true };
  enum : bool { kHasDu = true };
  enum : bool { kHasDweight = true };
  enum : bool { kHasDbias = true };
  enum : bool { kHasOut = false };
  enum : int { kGroups = 1 };
  enum : bool { kHeld = true };
  enum : int { kDim = 512 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 64 };
  enum : int { kRowsAhead = 2 };
  enum : int { kBlocksPerSm = 1 };
};
static_assert(norm_mul_bwd_smem_bytes<Config> == 82432, "host and device disagree about shared memory");
}  // namespace hstu

// norm_mul_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=f32 dim=512 groups=0 activation=1 concat_u=1 concat_x=1 silu_u=1 norm=0 dropout=0 parts=4 has_dattn=1 has_du=1 has_dweight=1 has_dbias=1 has_out=1 vector=8 rows=131072
// norm_mul_bwd_sm80 sm_80 threads=512 threads_per_row=64 rows_ahead=2 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=512 threads_per_row=64 rows_ahead=2 blocks_per_sm=1
// 35 lines, those above but for
  using Gradient = float;
  using Copy = tile::Silu;
  using Multiplier = tile::Silu;
  enum : int { kParts = 4 };
  enum : bool { kHasOut = true };
static_assert(norm_mul_bwd_smem_bytes<Config> == 90624, "host and device disagree about shared memory");

// norm_mul_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=bf16 dim=512 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=1 parts=0 has_dattn=1 has_du=1 has_dweight=1 has_dbias=1 has_out=1 vector=8 rows=65536
// norm_mul_bwd_sm80 sm_80 threads=512 threads_per_row=64 rows_ahead=2 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=512 threads_per_row=64 rows_ahead=2 blocks_per_sm=1
// 35 lines, those above but for
  enum : int { kDropout = 1 };
  enum : bool { kHasOut = true };

// norm_mul_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=bf16 dim=512 groups=4 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 parts=4 has_dattn=1 has_du=1 has_dweight=1 has_dbias=1 has_out=1 vector=8 rows=65536
// norm_mul_bwd_sm80 sm_80 threads=512 threads_per_row=16 rows_ahead=2 blocks_per_sm=1
// 35 lines, those above but for
  enum : bool { kGroupNorm = true };
  enum : int { kParts = 4 };
  enum : bool { kHasOut = true };
  enum : int { kGroups = 4 };
  enum : int { kDim = 128 };
  enum : int { kThreadsPerRow = 16 };
static_assert(norm_mul_bwd_smem_bytes<Config> == 90128, "host and device disagree about shared memory");

// norm_mul_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=bf16 dim=512 groups=4 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 parts=4 has_dattn=1 has_du=1 has_dweight=1 has_dbias=1 has_out=1 vector=8 rows=65536
// norm_mul_bwd_sm80 sm_90a threads=512 threads_per_row=8 rows_ahead=2 blocks_per_sm=1
// 35 lines, those above but for
  enum : bool { kGroupNorm = true };
  enum : int { kParts = 4 };
  enum : bool { kHasOut = true };
  enum : int { kGroups = 4 };
  enum : int { kDim = 128 };
  enum : int { kThreadsPerRow = 8 };
static_assert(norm_mul_bwd_smem_bytes<Config> == 172048, "host and device disagree about shared memory");

// norm_mul_backward dtype=bf16 weight_dtype=f32 gradient_dtype=f32 dim=256 groups=4 activation=0 concat_u=0 concat_x=0 silu_u=1 norm=2 dropout=3 parts=0 has_dattn=1 has_du=1 has_dweight=1 has_dbias=1 has_out=0 vector=8 rows=4096
// norm_mul_bwd_sm80 sm_80 threads=512 threads_per_row=8 rows_ahead=2 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=512 threads_per_row=8 rows_ahead=2 blocks_per_sm=1
// 35 lines, those above but for
  using Weight = float;
  using Gradient = float;
  using Copy = tile::Silu;
  using Multiplier = tile::Silu;
  using Output = tile::SwishOfNorm;
  enum : bool { kConcatU = false };
  enum : bool { kConcatX = false };
  enum : int { kDropout = 3 };
  enum : bool { kGroupNorm = true };
  enum : int { kGroups = 4 };
  enum : int { kDim = 64 };
  enum : int { kThreadsPerRow = 8 };
static_assert(norm_mul_bwd_smem_bytes<Config> == 49168, "host and device disagree about shared memory");

// norm_mul_backward dtype=f32 weight_dtype=bf16 gradient_dtype=f32 dim=1002 groups=0 activation=2 concat_u=0 concat_x=1 silu_u=0 norm=2 dropout=2 parts=0 has_dattn=1 has_du=1 has_dweight=1 has_dbias=1 has_out=1 vector=2 rows=4096
// norm_mul_bwd_sm80 sm_80 threads=256 threads_per_row=128 rows_ahead=2 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=256 threads_per_row=128 rows_ahead=2 blocks_per_sm=1
// 35 lines, those above but for
  using Element = float;
  using Gradient = float;
  using Multiplier = tile::Sigmoid;
  using Output = tile::SwishOfNorm;
  enum : bool { kConcatU = false };
  enum : int { kDropout = 2 };
  enum : bool { kHasOut = true };
  enum : int { kDim = 1002 };
  enum : int { kVector = 2 };
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 128 };
static_assert(norm_mul_bwd_smem_bytes<Config> == 65792, "host and device disagree about shared memory");

// norm_mul_backward dtype=f16 weight_dtype=f16 gradient_dtype=f16 dim=33 groups=0 activation=0 concat_u=1 concat_x=0 silu_u=0 norm=1 dropout=4 parts=3 has_dattn=1 has_du=1 has_dweight=1 has_dbias=0 has_out=1 vector=1 rows=1024
// norm_mul_bwd_sm80 sm_80 threads=512 threads_per_row=16 rows_ahead=2 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=512 threads_per_row=16 rows_ahead=2 blocks_per_sm=1
// 35 lines, those above but for
  using Element = f16;
  using Weight = f16;
  using Gradient = f16;
  enum : bool { kConcatX = false };
  enum : bool { kHasBias = false };
  enum : bool { kCentred = false };
  enum : int { kDropout = 4 };
  enum : int { kParts = 3 };
  enum : bool { kHasDbias = false };
  enum : bool { kHasOut = true };
  enum : int { kDim = 33 };
  enum : int { kVector = 1 };
  enum : int { kThreadsPerRow = 16 };
static_assert(norm_mul_bwd_smem_bytes<Config> == 32784, "host and device disagree about shared memory");

// norm_mul_backward dtype=f16 weight_dtype=f16 gradient_dtype=none dim=128 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 parts=0 has_dattn=1 has_du=1 has_dweight=0 has_dbias=0 has_out=0 vector=8 rows=65536
// norm_mul_bwd_sm80 sm_80 threads=512 threads_per_row=8 rows_ahead=2 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=512 threads_per_row=8 rows_ahead=2 blocks_per_sm=1
// 35 lines, those above but for
  using Element = f16;
  using Weight = f16;
  using Gradient = f16;
  enum : bool { kHasDweight = false };
  enum : bool { kHasDbias = false };
  enum : int { kDim = 128 };
  enum : int { kThreadsPerRow = 8 };
static_assert(norm_mul_bwd_smem_bytes<Config> == 163856, "host and device disagree about shared memory");

// norm_mul_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=f32 dim=4096 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 parts=0 has_dattn=0 has_du=0 has_dweight=1 has_dbias=1 has_out=0 vector=8 rows=65536
// norm_mul_bwd_sm80 sm_80 threads=512 threads_per_row=512 rows_ahead=2 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=512 threads_per_row=512 rows_ahead=2 blocks_per_sm=1
// 35 lines, those above but for
  using Gradient = float;
  enum : bool { kHasDattn = false };
  enum : bool { kHasDu = false };
  enum : int { kDim = 4096 };
  enum : int { kThreadsPerRow = 512 };
static_assert(norm_mul_bwd_smem_bytes<Config> == 49664, "host and device disagree about shared memory");

// norm_mul_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=none dim=512 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 parts=64 has_dattn=0 has_du=0 has_dweight=0 has_dbias=0 has_out=1 vector=8 rows=65536
// norm_mul_bwd_sm80 sm_80 threads=512 threads_per_row=64 rows_ahead=2 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=512 threads_per_row=64 rows_ahead=2 blocks_per_sm=1
// 35 lines, those above but for
  enum : int { kParts = 64 };
  enum : bool { kHasDattn = false };
  enum : bool { kHasDu = false };
  enum : bool { kHasDweight = false };
  enum : bool { kHasDbias = false };
  enum : bool { kHasOut = true };
static_assert(norm_mul_bwd_smem_bytes<Config> == 49664, "host and device disagree about shared memory");

// norm_mul_backward dtype=bf16 weight_dtype=f32 gradient_dtype=f32 dim=20000 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=2 dropout=1 parts=8 has_dattn=1 has_du=1 has_dweight=1 has_dbias=1 has_out=1 vector=8 rows=1024
// norm_mul_bwd_sm80 sm_80 threads=256 threads_per_row=256 rows_ahead=1 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=256 threads_per_row=256 rows_ahead=1 blocks_per_sm=1
// 35 lines, those above but for
  using Weight = float;
  using Gradient = float;
  using Output = tile::SwishOfNorm;
  enum : int { kDropout = 1 };
  enum : int { kParts = 8 };
  enum : bool { kHasOut = true };
  enum : bool { kHeld = false };
  enum : int { kDim = 20000 };
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 256 };
  enum : int { kRowsAhead = 1 };
static_assert(norm_mul_bwd_smem_bytes<Config> == 2304, "host and device disagree about shared memory");

// norm_mul_backward dtype=f32 weight_dtype=f32 gradient_dtype=f32 dim=40001 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 parts=0 has_dattn=1 has_du=1 has_dweight=1 has_dbias=1 has_out=0 vector=1 rows=64
// norm_mul_bwd_sm80 sm_80 threads=256 threads_per_row=256 rows_ahead=1 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=256 threads_per_row=256 rows_ahead=1 blocks_per_sm=1
// 35 lines, those above but for
  using Element = float;
  using Weight = float;
  using Gradient = float;
  enum : bool { kHeld = false };
  enum : int { kDim = 40001 };
  enum : int { kVector = 1 };
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 256 };
  enum : int { kRowsAhead = 1 };
static_assert(norm_mul_bwd_smem_bytes<Config> == 2304, "host and device disagree about shared memory");

// norm_mul_backward dtype=f16 weight_dtype=f16 gradient_dtype=f32 dim=60000 groups=3 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=1 dropout=0 parts=0 has_dattn=1 has_du=1 has_dweight=1 has_dbias=0 has_out=1 vector=8 rows=64
// norm_mul_bwd_sm80 sm_80 threads=256 threads_per_row=256 rows_ahead=1 blocks_per_sm=1
// norm_mul_bwd_sm80 sm_90a threads=256 threads_per_row=256 rows_ahead=1 blocks_per_sm=1
// 35 lines, those above but for
  using Element = f16;
  using Weight = f16;
  using Gradient = float;
  enum : bool { kHasBias = false };
  enum : bool { kCentred = false };
  enum : bool { kGroupNorm = true };
  enum : bool { kHasDbias = false };
  enum : bool { kHasOut = true };
  enum : int { kGroups = 3 };
  enum : bool { kHeld = false };
  enum : int { kDim = 20000 };
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 256 };
  enum : int { kRowsAhead = 1 };
static_assert(norm_mul_bwd_smem_bytes<Config> == 2304, "host and device disagree about shared memory");

