// norm_mul dtype=bf16 weight_dtype=bf16 fp8=e4m3 scaling=1 dim=512 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 vector=8 rows=131072
// norm_mul_fp8_sm80 sm_80 threads_per_row=128
// norm_mul_fp8_sm80 sm_90a threads_per_row=128
#include "norm/norm_mul_fp8_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  using Copy = tile::Identity;
  using Multiplier = tile::Identity;
  enum : bool { kConcatU = true };
  enum : bool { kConcatX = true };
  enum : bool { kHasWeight = true };
  enum : bool { kHasBias = true };
  enum : bool { kCentred = true };
  using Output = tile::NormOnly;
  enum : int { kDropout = 0 };
  using Fp8 = e4m3;
  enum : int { kScaling = 1 };
  enum : bool { kGroupNorm = false };
  enum : int { kGroups = 1 };
  enum : int { kDim = 512 };
  enum : int { kVector = 4 };
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 128 };
  enum : int { kHeldSpans = 0 };
  enum : int { kMinBlocks = 1 };
};
static_assert(norm_mul_fp8_smem_bytes<Config> == 64, "host and device disagree about shared memory");
}  // namespace hstu

// norm_mul dtype=f16 weight_dtype=f32 fp8=e5m2 scaling=2 dim=512 groups=4 activation=0 concat_u=1 concat_x=1 silu_u=1 norm=0 dropout=3 vector=8 rows=65536
// norm_mul_fp8_sm80 sm_80 threads_per_row=128
// norm_mul_fp8_sm80 sm_90a threads_per_row=128
// 27 lines, those above but for
  using Element = f16;
  using Weight = float;
  using Copy = tile::Silu;
  using Multiplier = tile::Silu;
  enum : int { kDropout = 3 };
  using Fp8 = e5m2;
  enum : int { kScaling = 2 };
  enum : bool { kGroupNorm = true };
  enum : int { kGroups = 4 };
  enum : int { kDim = 128 };
static_assert(norm_mul_fp8_smem_bytes<Config> == 128, "host and device disagree about shared memory");

// norm_mul dtype=f32 weight_dtype=f32 fp8=e4m3 scaling=1 dim=4096 groups=0 activation=1 concat_u=0 concat_x=1 silu_u=0 norm=1 dropout=2 vector=4 rows=1024
// norm_mul_fp8_sm80 sm_80 threads_per_row=512
// norm_mul_fp8_sm80 sm_90a threads_per_row=512
// 27 lines, those above but for
  using Element = float;
  using Weight = float;
  using Multiplier = tile::Silu;
  enum : bool { kConcatU = false };
  enum : bool { kHasBias = false };
  enum : bool { kCentred = false };
  enum : int { kDropout = 2 };
  enum : int { kDim = 4096 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(norm_mul_fp8_smem_bytes<Config> == 256, "host and device disagree about shared memory");

// norm_mul dtype=bf16 weight_dtype=bf16 fp8=e4m3 scaling=1 dim=512 groups=4 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 vector=8 rows=65536
// norm_mul_fp8_sm80 sm_80 threads_per_row=128
// norm_mul_fp8_sm80 sm_90a threads_per_row=128
// 27 lines, those above but for
  enum : bool { kGroupNorm = true };
  enum : int { kGroups = 4 };
  enum : int { kDim = 128 };
static_assert(norm_mul_fp8_smem_bytes<Config> == 128, "host and device disagree about shared memory");

// norm_mul dtype=bf16 weight_dtype=f32 fp8=e4m3 scaling=2 dim=99 groups=0 activation=2 concat_u=1 concat_x=1 silu_u=1 norm=2 dropout=1 vector=1 rows=1024
// norm_mul_fp8_sm80 sm_80 threads_per_row=32
// norm_mul_fp8_sm80 sm_90a threads_per_row=32
// 27 lines, those above but for
  using Weight = float;
  using Copy = tile::Silu;
  using Multiplier = tile::Sigmoid;
  using Output = tile::SwishOfNorm;
  enum : int { kDropout = 1 };
  enum : int { kScaling = 2 };
  enum : int { kDim = 99 };
  enum : int { kVector = 1 };
  enum : int { kThreadsPerRow = 32 };
static_assert(norm_mul_fp8_smem_bytes<Config> == 0, "host and device disagree about shared memory");

// norm_mul dtype=f16 weight_dtype=f16 fp8=e5m2 scaling=1 dim=20000 groups=0 activation=0 concat_u=1 concat_x=0 silu_u=0 norm=1 dropout=4 vector=8 rows=512
// norm_mul_fp8_sm80 sm_80 threads_per_row=512
// norm_mul_fp8_sm80 sm_90a threads_per_row=512
// 27 lines, those above but for
  using Element = f16;
  using Weight = f16;
  enum : bool { kConcatX = false };
  enum : bool { kHasBias = false };
  enum : bool { kCentred = false };
  enum : int { kDropout = 4 };
  using Fp8 = e5m2;
  enum : int { kDim = 20000 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(norm_mul_fp8_smem_bytes<Config> == 256, "host and device disagree about shared memory");

// norm_mul dtype=bf16 weight_dtype=bf16 fp8=e4m3 scaling=1 dim=0 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 vector=8 rows=512
// norm_mul_fp8_sm80 sm_80 threads_per_row=32
// norm_mul_fp8_sm80 sm_90a threads_per_row=32
// 27 lines, those above but for
  enum : int { kDim = 0 };
  enum : int { kThreadsPerRow = 32 };
static_assert(norm_mul_fp8_smem_bytes<Config> == 0, "host and device disagree about shared memory");

