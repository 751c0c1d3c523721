// rms_norm dtype=f16 weight_dtype=f16 has_weight=1 fp8=e4m3 scaling=2 dim=1024 activation=0 vector=8 rows=65536
// rms_norm_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=4 weights=2
// rms_norm_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=4 weights=2
#include "norm/rms_norm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Weight = f16;
  enum : bool { kHasWeight = true };
  enum : bool { kHasBias = false };
  using Fp8 = e4m3;
  enum : int { kScaling = 2 };
  using Output = tile::NormOnly;
  enum : bool { kGroupNorm = false };
  enum : bool { kCentred = false };
  enum : int { kDim = 1024 };
  enum : int { kGroups = 1 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 64 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kRowsPerThread = 4 };
  enum : int { kWeights = 2 };
  enum : int { kMinBlocks = 1 };
};
static_assert(rms_norm_smem_bytes<Config> == 2048, "host and device disagree about shared memory");
}  // namespace hstu

// rms_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=none scaling=0 dim=512 activation=0 vector=8 rows=65536
// rms_norm_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// rms_norm_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// 23 lines, those above but for
  using Element = bf16;
  using Weight = bf16;
  enum : int { kScaling = 0 };
  enum : int { kDim = 512 };
  enum : int { kRowsPerThread = 1 };
static_assert(rms_norm_smem_bytes<Config> == 1024, "host and device disagree about shared memory");

// rms_norm dtype=f32 weight_dtype=f32 has_weight=1 fp8=none scaling=0 dim=4096 activation=1 vector=4 rows=4096
// rms_norm_sm80 sm_80 threads=128 threads_per_row=128 rows_per_thread=1 weights=0
// rms_norm_sm80 sm_90a threads=128 threads_per_row=128 rows_per_thread=1 weights=0
// 23 lines, those above but for
  using Element = float;
  using Weight = float;
  enum : int { kScaling = 0 };
  using Output = tile::SiluOfNorm;
  enum : int { kDim = 4096 };
  enum : int { kVector = 4 };
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 128 };
  enum : int { kRowsPerThread = 1 };
  enum : int { kWeights = 0 };
static_assert(rms_norm_smem_bytes<Config> == 64, "host and device disagree about shared memory");

// rms_norm dtype=f16 weight_dtype=none has_weight=0 fp8=none scaling=0 dim=20000 activation=1 vector=8 rows=1024
// rms_norm_sm80 sm_80 threads=512 threads_per_row=512 rows_per_thread=1 weights=0
// rms_norm_sm80 sm_90a threads=512 threads_per_row=512 rows_per_thread=1 weights=0
// 23 lines, those above but for
  enum : bool { kHasWeight = false };
  enum : int { kScaling = 0 };
  using Output = tile::SiluOfNorm;
  enum : int { kDim = 20000 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
  enum : int { kRowsPerThread = 1 };
  enum : int { kWeights = 0 };
static_assert(rms_norm_smem_bytes<Config> == 256, "host and device disagree about shared memory");

