// layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=none scaling=0 dim=512 vector=8 rows=65536
// layer_norm_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// layer_norm_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=2
#include "norm/layer_norm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  enum : bool { kHasWeight = true };
  enum : bool { kHasBias = true };
  using Fp8 = e4m3;
  enum : int { kScaling = 0 };
  using Output = tile::NormOnly;
  enum : bool { kGroupNorm = false };
  enum : bool { kCentred = true };
  enum : int { kDim = 512 };
  enum : int { kGroups = 1 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 64 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kRowsPerThread = 1 };
  enum : int { kWeights = 2 };
  enum : int { kMinBlocks = 1 };
};
static_assert(layer_norm_smem_bytes<Config> == 2048, "host and device disagree about shared memory");
}  // namespace hstu

// layer_norm dtype=f16 weight_dtype=f32 has_weight=1 fp8=none scaling=0 dim=8192 vector=8 rows=4096
// layer_norm_sm80 sm_80 threads=256 threads_per_row=256 rows_per_thread=1 weights=0
// layer_norm_sm80 sm_90a threads=256 threads_per_row=256 rows_per_thread=1 weights=0
// 23 lines, those above but for
  using Element = f16;
  using Weight = float;
  enum : int { kDim = 8192 };
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 256 };
  enum : int { kWeights = 0 };
static_assert(layer_norm_smem_bytes<Config> == 128, "host and device disagree about shared memory");

// layer_norm dtype=f32 weight_dtype=none has_weight=0 fp8=none scaling=0 dim=257 vector=1 rows=1024
// layer_norm_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// layer_norm_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// 23 lines, those above but for
  using Element = float;
  using Weight = float;
  enum : bool { kHasWeight = false };
  enum : bool { kHasBias = false };
  enum : int { kDim = 257 };
  enum : int { kVector = 1 };
  enum : int { kWeights = 0 };
static_assert(layer_norm_smem_bytes<Config> == 0, "host and device disagree about shared memory");

// layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=e4m3 scaling=1 dim=512 vector=8 rows=65536
// layer_norm_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// layer_norm_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// 23 lines, those above but for
  enum : int { kScaling = 1 };

// layer_norm dtype=f32 weight_dtype=f32 has_weight=1 fp8=e5m2 scaling=2 dim=4100 vector=4 rows=1024
// layer_norm_sm80 sm_80 threads=256 threads_per_row=256 rows_per_thread=1 weights=0
// layer_norm_sm80 sm_90a threads=256 threads_per_row=256 rows_per_thread=1 weights=0
// 23 lines, those above but for
  using Element = float;
  using Weight = float;
  using Fp8 = e5m2;
  enum : int { kScaling = 2 };
  enum : int { kDim = 4100 };
  enum : int { kVector = 4 };
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 256 };
  enum : int { kWeights = 0 };
static_assert(layer_norm_smem_bytes<Config> == 128, "host and device disagree about shared memory");

// layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=none scaling=0 dim=512 vector=8 rows=65536 moments=1
// layer_norm_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// layer_norm_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// 24 lines, those above but for
  enum : bool { kMoments = true };

// layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=e4m3 scaling=1 dim=512 vector=8 rows=65536 moments=1
// layer_norm_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// layer_norm_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=2
// 24 lines, those above but for
  enum : int { kScaling = 1 };
  enum : bool { kMoments = true };

