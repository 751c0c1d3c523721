// rms_norm_rope dtype=bf16 weight_dtype=bf16 angle_dtype=bf16 fp8=e4m3 scaling=1 dim=4096 head_dim=64 vector=8 batch=8 length=8192
// rms_norm_rope_fp8_sm80 sm_80 threads_per_row=256
// rms_norm_rope_fp8_sm80 sm_90a threads_per_row=256
#include "norm/rms_norm_rope_fp8_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  using Angle = bf16;
  enum : int { kHalf = 32 };
  using Fp8 = e4m3;
  enum : int { kScaling = 1 };
  enum : bool { kCentred = false };
  enum : int { kDim = 4096 };
  enum : int { kVector = 4 };
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 256 };
  enum : int { kHeldSpans = 0 };
  enum : int { kMinBlocks = 1 };
};
static_assert(tile::norm_spans_smem_bytes<Config> == 128, "host and device disagree about shared memory");
}  // namespace hstu

// rms_norm_rope dtype=bf16 weight_dtype=bf16 angle_dtype=f32 fp8=e4m3 scaling=2 dim=4096 head_dim=128 vector=8 batch=8 length=8192
// rms_norm_rope_fp8_sm80 sm_80 threads_per_row=256
// rms_norm_rope_fp8_sm80 sm_90a threads_per_row=256
// 19 lines, those above but for
  using Angle = float;
  enum : int { kHalf = 64 };
  enum : int { kScaling = 2 };

// rms_norm_rope dtype=f32 weight_dtype=f32 angle_dtype=f32 fp8=e5m2 scaling=2 dim=2560 head_dim=256 vector=4 batch=8 length=512
// rms_norm_rope_fp8_sm80 sm_80 threads_per_row=256
// rms_norm_rope_fp8_sm80 sm_90a threads_per_row=256
// 19 lines, those above but for
  using Element = float;
  using Weight = float;
  using Angle = float;
  enum : int { kHalf = 128 };
  using Fp8 = e5m2;
  enum : int { kScaling = 2 };
  enum : int { kDim = 2560 };

// rms_norm_rope dtype=f16 weight_dtype=f16 angle_dtype=f16 fp8=e4m3 scaling=1 dim=16128 head_dim=96 vector=8 batch=1 length=512
// rms_norm_rope_fp8_sm80 sm_80 threads_per_row=512
// rms_norm_rope_fp8_sm80 sm_90a threads_per_row=512
// 19 lines, those above but for
  using Element = f16;
  using Weight = f16;
  using Angle = f16;
  enum : int { kHalf = 48 };
  enum : int { kDim = 16128 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(tile::norm_spans_smem_bytes<Config> == 256, "host and device disagree about shared memory");

// rms_norm_rope dtype=bf16 weight_dtype=f32 angle_dtype=f32 fp8=e4m3 scaling=2 dim=1152 head_dim=96 vector=8 batch=8 length=512
// rms_norm_rope_fp8_sm80 sm_80 threads_per_row=128
// rms_norm_rope_fp8_sm80 sm_90a threads_per_row=128
// 19 lines, those above but for
  using Weight = float;
  using Angle = float;
  enum : int { kHalf = 48 };
  enum : int { kScaling = 2 };
  enum : int { kDim = 1152 };
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 128 };
static_assert(tile::norm_spans_smem_bytes<Config> == 64, "host and device disagree about shared memory");

// rms_norm_rope dtype=f32 weight_dtype=f32 angle_dtype=f32 fp8=e5m2 scaling=1 dim=16382 head_dim=2 vector=1 batch=1 length=512
// rms_norm_rope_fp8_sm80 sm_80 threads_per_row=512
// rms_norm_rope_fp8_sm80 sm_90a threads_per_row=512
// 19 lines, those above but for
  using Element = float;
  using Weight = float;
  using Angle = float;
  enum : int { kHalf = 1 };
  using Fp8 = e5m2;
  enum : int { kDim = 16382 };
  enum : int { kVector = 1 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(tile::norm_spans_smem_bytes<Config> == 256, "host and device disagree about shared memory");

// rms_norm_rope dtype=f16 weight_dtype=bf16 angle_dtype=f16 fp8=e4m3 scaling=2 dim=24576 head_dim=192 vector=8 batch=1 length=512
// rms_norm_rope_fp8_sm80 sm_80 threads_per_row=512
// rms_norm_rope_fp8_sm80 sm_90a threads_per_row=512
// 19 lines, those above but for
  using Element = f16;
  using Angle = f16;
  enum : int { kHalf = 96 };
  enum : int { kScaling = 2 };
  enum : int { kDim = 24576 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(tile::norm_spans_smem_bytes<Config> == 256, "host and device disagree about shared memory");

