// rms_norm dtype=f16 weight_dtype=f16 has_weight=1 fp8=e4m3 scaling=2 dim=1024 activation=0 vector=8 rows=65536
// rms_norm_fp8_sm80 sm_80 threads_per_row=32
// rms_norm_fp8_sm80 sm_90a threads_per_row=32
#include "norm/rms_norm_fp8_sm80.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Weight = f16;
  enum : bool { kHasWeight = true };
  enum : bool { kHasBias = false };
  using Fp8 = e4m3;
  enum : int { kScaling = 2 };
  using Output = tile::NormOnly;
  enum : bool { kCentred = false };
  enum : int { kDim = 1024 };
  enum : int { kVector = 4 };
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kHeldSpans = 8 };
  enum : int { kMinBlocks = 1 };
};
static_assert(tile::norm_spans_smem_bytes<Config> == 0, "host and device disagree about shared memory");
}  // namespace hstu

// rms_norm dtype=f32 weight_dtype=f32 has_weight=1 fp8=e4m3 scaling=1 dim=16382 activation=1 vector=2 rows=512
// rms_norm_fp8_sm80 sm_80 threads_per_row=512
// rms_norm_fp8_sm80 sm_90a threads_per_row=512
// 20 lines, those above but for
  using Element = float;
  using Weight = float;
  enum : int { kScaling = 1 };
  using Output = tile::SiluOfNorm;
  enum : int { kDim = 16382 };
  enum : int { kVector = 2 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(tile::norm_spans_smem_bytes<Config> == 256, "host and device disagree about shared memory");

// rms_norm dtype=bf16 weight_dtype=none has_weight=0 fp8=e4m3 scaling=2 dim=65536 activation=1 vector=8 rows=512
// rms_norm_fp8_sm80 sm_80 threads_per_row=512
// rms_norm_fp8_sm80 sm_90a threads_per_row=512
// 20 lines, those above but for
  using Element = bf16;
  using Weight = bf16;
  enum : bool { kHasWeight = false };
  using Output = tile::SiluOfNorm;
  enum : int { kDim = 65536 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(tile::norm_spans_smem_bytes<Config> == 256, "host and device disagree about shared memory");

// rms_norm dtype=bf16 weight_dtype=none has_weight=0 fp8=e4m3 scaling=1 dim=0 activation=0 vector=8 rows=512
// rms_norm_fp8_sm80 sm_80 threads_per_row=32
// rms_norm_fp8_sm80 sm_90a threads_per_row=32
// 20 lines, those above but for
  using Element = bf16;
  using Weight = bf16;
  enum : bool { kHasWeight = false };
  enum : int { kScaling = 1 };
  enum : int { kDim = 0 };

