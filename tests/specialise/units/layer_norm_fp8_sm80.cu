// layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=e4m3 scaling=1 dim=512 vector=8 rows=65536
// layer_norm_fp8_sm80 sm_80 threads_per_row=32
// layer_norm_fp8_sm80 sm_90a threads_per_row=32
#include "norm/layer_norm_fp8_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  enum : bool { kHasWeight = true };
  enum : bool { kHasBias = true };
  using Fp8 = e4m3;
  enum : int { kScaling = 1 };
  using Output = tile::NormOnly;
  enum : bool { kCentred = true };
  enum : int { kDim = 512 };
  enum : int { kVector = 4 };
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kHeldSpans = 8 };
  enum : int { kMinBlocks = 1 };
};
static_assert(tile::norm_spans_smem_bytes<Config> == 0, "host and device disagree about shared memory");
}  // namespace hstu

// layer_norm dtype=f32 weight_dtype=f32 has_weight=1 fp8=e5m2 scaling=2 dim=4100 vector=4 rows=1024
// layer_norm_fp8_sm80 sm_80 threads_per_row=512
// layer_norm_fp8_sm80 sm_90a threads_per_row=512
// 20 lines, those above but for
  using Element = float;
  using Weight = float;
  using Fp8 = e5m2;
  enum : int { kScaling = 2 };
  enum : int { kDim = 4100 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(tile::norm_spans_smem_bytes<Config> == 256, "host and device disagree about shared memory");

// layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=e4m3 scaling=1 dim=512 vector=8 rows=65536 moments=1
// layer_norm_fp8_sm80 sm_80 threads_per_row=32
// layer_norm_fp8_sm80 sm_90a threads_per_row=32
// 21 lines, those above but for
  enum : bool { kMoments = true };

// layer_norm dtype=bf16 weight_dtype=f32 has_weight=1 fp8=e4m3 scaling=2 dim=1001 vector=1 rows=4096
// layer_norm_fp8_sm80 sm_80 threads_per_row=32
// layer_norm_fp8_sm80 sm_90a threads_per_row=32
// 20 lines, those above but for
  using Weight = float;
  enum : int { kScaling = 2 };
  enum : int { kDim = 1001 };
  enum : int { kVector = 1 };

// layer_norm dtype=f16 weight_dtype=none has_weight=0 fp8=e5m2 scaling=1 dim=20002 vector=2 rows=512
// layer_norm_fp8_sm80 sm_80 threads_per_row=512
// layer_norm_fp8_sm80 sm_90a threads_per_row=512
// 20 lines, those above but for
  using Element = f16;
  using Weight = f16;
  enum : bool { kHasWeight = false };
  enum : bool { kHasBias = false };
  using Fp8 = e5m2;
  enum : int { kDim = 20002 };
  enum : int { kVector = 2 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(tile::norm_spans_smem_bytes<Config> == 256, "host and device disagree about shared memory");

