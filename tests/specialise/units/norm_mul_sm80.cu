// norm_mul dtype=bf16 weight_dtype=bf16 fp8=none scaling=0 dim=512 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=1 norm=0 dropout=0 vector=8 rows=65536
// norm_mul_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// norm_mul_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=2
#include "norm/norm_mul_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  using Copy = tile::Silu;
  using Multiplier = tile::Identity;
  enum : bool { kConcatU = true };
  enum : bool { kConcatX = true };
  enum : bool { kHasWeight = true };
  enum : bool { kHasBias = true };
  enum : bool { kCentred = true };
  using Output = tile::NormOnly;
  enum : int { kDropout = 0 };
  using Fp8 = e4m3;
  enum : int { kScaling = 0 };
  enum : bool { kGroupNorm = false };
  enum : int { kDim = 512 };
  enum : int { kGroups = 1 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 64 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kRowsPerThread = 1 };
  enum : int { kWeights = 2 };
  enum : int { kMinBlocks = 1 };
};
static_assert(norm_mul_smem_bytes<Config> == 2048, "host and device disagree about shared memory");
}  // namespace hstu

// norm_mul dtype=f16 weight_dtype=f32 fp8=none scaling=0 dim=1024 groups=8 activation=0 concat_u=0 concat_x=0 silu_u=0 norm=0 dropout=0 vector=8 rows=16384
// norm_mul_sm80 sm_80 threads=64 threads_per_row=8 rows_per_thread=1 weights=0
// norm_mul_sm80 sm_90a threads=64 threads_per_row=8 rows_per_thread=1 weights=0
// 28 lines, those above but for
  using Element = f16;
  using Weight = float;
  using Copy = tile::Identity;
  enum : bool { kConcatU = false };
  enum : bool { kConcatX = false };
  enum : bool { kGroupNorm = true };
  enum : int { kDim = 128 };
  enum : int { kGroups = 8 };
  enum : int { kThreadsPerRow = 8 };
  enum : int { kWeights = 0 };
static_assert(norm_mul_smem_bytes<Config> == 0, "host and device disagree about shared memory");

// norm_mul dtype=f32 weight_dtype=f32 fp8=none scaling=0 dim=99 groups=0 activation=2 concat_u=0 concat_x=0 silu_u=0 norm=0 dropout=0 vector=1 rows=128
// norm_mul_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// norm_mul_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// 28 lines, those above but for
  using Element = float;
  using Weight = float;
  using Copy = tile::Identity;
  using Multiplier = tile::Sigmoid;
  enum : bool { kConcatU = false };
  enum : bool { kConcatX = false };
  enum : int { kDim = 99 };
  enum : int { kVector = 1 };
  enum : int { kWeights = 0 };
static_assert(norm_mul_smem_bytes<Config> == 0, "host and device disagree about shared memory");

// norm_mul dtype=bf16 weight_dtype=bf16 fp8=none scaling=0 dim=512 groups=0 activation=1 concat_u=1 concat_x=1 silu_u=1 norm=2 dropout=1 vector=8 rows=65536
// norm_mul_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// norm_mul_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// 28 lines, those above but for
  using Multiplier = tile::Silu;
  using Output = tile::SwishOfNorm;
  enum : int { kDropout = 1 };

// norm_mul dtype=f16 weight_dtype=f16 fp8=none scaling=0 dim=512 groups=0 activation=0 concat_u=1 concat_x=0 silu_u=0 norm=1 dropout=2 vector=8 rows=65536
// norm_mul_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// norm_mul_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// 28 lines, those above but for
  using Element = f16;
  using Weight = f16;
  using Copy = tile::Identity;
  enum : bool { kConcatX = false };
  enum : bool { kHasBias = false };
  enum : bool { kCentred = false };
  enum : int { kDropout = 2 };
static_assert(norm_mul_smem_bytes<Config> == 1024, "host and device disagree about shared memory");

// norm_mul dtype=f32 weight_dtype=f32 fp8=none scaling=0 dim=512 groups=4 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=3 vector=4 rows=4096
// norm_mul_sm80 sm_80 threads=64 threads_per_row=8 rows_per_thread=1 weights=0
// norm_mul_sm80 sm_90a threads=64 threads_per_row=8 rows_per_thread=1 weights=0
// 28 lines, those above but for
  using Element = float;
  using Weight = float;
  using Copy = tile::Identity;
  enum : int { kDropout = 3 };
  enum : bool { kGroupNorm = true };
  enum : int { kDim = 128 };
  enum : int { kGroups = 4 };
  enum : int { kVector = 4 };
  enum : int { kThreadsPerRow = 8 };
  enum : int { kWeights = 0 };
static_assert(norm_mul_smem_bytes<Config> == 0, "host and device disagree about shared memory");

// norm_mul dtype=bf16 weight_dtype=f32 fp8=none scaling=0 dim=20000 groups=0 activation=0 concat_u=0 concat_x=0 silu_u=0 norm=0 dropout=4 vector=8 rows=4096
// norm_mul_sm80 sm_80 threads=512 threads_per_row=512 rows_per_thread=1 weights=0
// norm_mul_sm80 sm_90a threads=512 threads_per_row=512 rows_per_thread=1 weights=0
// 28 lines, those above but for
  using Weight = float;
  using Copy = tile::Identity;
  enum : bool { kConcatU = false };
  enum : bool { kConcatX = false };
  enum : int { kDropout = 4 };
  enum : int { kDim = 20000 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
  enum : int { kWeights = 0 };
static_assert(norm_mul_smem_bytes<Config> == 256, "host and device disagree about shared memory");

// norm_mul dtype=bf16 weight_dtype=bf16 fp8=e4m3 scaling=1 dim=512 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=0 norm=0 dropout=0 vector=8 rows=131072
// norm_mul_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// norm_mul_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// 28 lines, those above but for
  using Copy = tile::Identity;
  enum : int { kScaling = 1 };

// norm_mul dtype=f16 weight_dtype=f32 fp8=e5m2 scaling=2 dim=512 groups=4 activation=0 concat_u=1 concat_x=1 silu_u=1 norm=0 dropout=3 vector=8 rows=65536
// norm_mul_sm80 sm_80 threads=64 threads_per_row=16 rows_per_thread=1 weights=0
// norm_mul_sm80 sm_90a threads=64 threads_per_row=16 rows_per_thread=1 weights=0
// 28 lines, those above but for
  using Element = f16;
  using Weight = float;
  using Multiplier = tile::Silu;
  enum : int { kDropout = 3 };
  using Fp8 = e5m2;
  enum : int { kScaling = 2 };
  enum : bool { kGroupNorm = true };
  enum : int { kDim = 128 };
  enum : int { kGroups = 4 };
  enum : int { kThreadsPerRow = 16 };
  enum : int { kWeights = 0 };
static_assert(norm_mul_smem_bytes<Config> == 0, "host and device disagree about shared memory");

// norm_mul dtype=f32 weight_dtype=f32 fp8=e4m3 scaling=1 dim=4096 groups=0 activation=1 concat_u=0 concat_x=1 silu_u=0 norm=1 dropout=2 vector=4 rows=1024
// norm_mul_sm80 sm_80 threads=256 threads_per_row=256 rows_per_thread=1 weights=0
// norm_mul_sm80 sm_90a threads=256 threads_per_row=256 rows_per_thread=1 weights=0
// 28 lines, those above but for
  using Element = float;
  using Weight = float;
  using Copy = tile::Identity;
  using Multiplier = tile::Silu;
  enum : bool { kConcatU = false };
  enum : bool { kHasBias = false };
  enum : bool { kCentred = false };
  enum : int { kDropout = 2 };
  enum : int { kScaling = 1 };
  enum : int { kDim = 4096 };
  enum : int { kVector = 4 };
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 256 };
  enum : int { kWeights = 0 };
static_assert(norm_mul_smem_bytes<Config> == 160, "host and device disagree about shared memory");

