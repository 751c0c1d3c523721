// rms_norm_rope dtype=bf16 weight_dtype=bf16 angle_dtype=bf16 fp8=none scaling=0 dim=4096 head_dim=64 vector=8 batch=8 length=8192
// rms_norm_rope_sm80 sm_80 threads=64 threads_per_row=64 rows_per_thread=1 weights=0 packed=1
// rms_norm_rope_sm80 sm_90a threads=64 threads_per_row=64 rows_per_thread=1 weights=0 packed=1
#include "norm/rms_norm_rope_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  using Angle = bf16;
  enum : int { kHalf = 32 };
  enum : int { kPairVector = 8 };
  using Fp8 = e4m3;
  enum : int { kScaling = 0 };
  enum : bool { kPacked = true };
  enum : int { kDim = 4096 };
  enum : int { kGroups = 1 };
  enum : int { kVector = 16 };
  enum : int { kThreads = 64 };
  enum : int { kThreadsPerRow = 64 };
  enum : int { kRowsPerThread = 1 };
  enum : int { kWeights = 0 };
  enum : int { kMinBlocks = 1 };
};
static_assert(rms_norm_rope_smem_bytes<Config> == 32, "host and device disagree about shared memory");
}  // namespace hstu

// rms_norm_rope dtype=f32 weight_dtype=f32 angle_dtype=f32 fp8=none scaling=0 dim=1024 head_dim=32 vector=4 batch=8 length=512
// rms_norm_rope_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=0 packed=0
// rms_norm_rope_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=0 packed=0
// 22 lines, those above but for
  using Element = float;
  using Weight = float;
  using Angle = float;
  enum : int { kHalf = 16 };
  enum : int { kPairVector = 4 };
  enum : bool { kPacked = false };
  enum : int { kDim = 1024 };
  enum : int { kVector = 8 };
  enum : int { kThreadsPerRow = 32 };
static_assert(rms_norm_rope_smem_bytes<Config> == 0, "host and device disagree about shared memory");

// rms_norm_rope dtype=f16 weight_dtype=f32 angle_dtype=f32 fp8=none scaling=0 dim=20010 head_dim=6 vector=1 batch=1 length=16
// rms_norm_rope_sm80 sm_80 threads=512 threads_per_row=512 rows_per_thread=1 weights=0 packed=1
// rms_norm_rope_sm80 sm_90a threads=512 threads_per_row=512 rows_per_thread=1 weights=0 packed=1
// 22 lines, those above but for
  using Element = f16;
  using Weight = float;
  using Angle = float;
  enum : int { kHalf = 3 };
  enum : int { kPairVector = 1 };
  enum : int { kDim = 20010 };
  enum : int { kVector = 2 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(rms_norm_rope_smem_bytes<Config> == 256, "host and device disagree about shared memory");

// rms_norm_rope dtype=bf16 weight_dtype=bf16 angle_dtype=bf16 fp8=e4m3 scaling=1 dim=4096 head_dim=64 vector=8 batch=8 length=8192
// rms_norm_rope_sm80 sm_80 threads=128 threads_per_row=128 rows_per_thread=4 weights=0 packed=0
// rms_norm_rope_sm80 sm_90a threads=128 threads_per_row=128 rows_per_thread=4 weights=0 packed=0
// 22 lines, those above but for
  enum : int { kScaling = 1 };
  enum : bool { kPacked = false };
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 128 };
  enum : int { kRowsPerThread = 4 };
  enum : int { kMinBlocks = 7 };
static_assert(rms_norm_rope_smem_bytes<Config> == 12544, "host and device disagree about shared memory");

// rms_norm_rope dtype=bf16 weight_dtype=bf16 angle_dtype=f32 fp8=e4m3 scaling=2 dim=4096 head_dim=128 vector=8 batch=8 length=8192
// rms_norm_rope_sm80 sm_80 threads=128 threads_per_row=128 rows_per_thread=4 weights=0 packed=0
// rms_norm_rope_sm80 sm_90a threads=128 threads_per_row=128 rows_per_thread=4 weights=0 packed=0
// 22 lines, those above but for
  using Angle = float;
  enum : int { kHalf = 64 };
  enum : int { kScaling = 2 };
  enum : bool { kPacked = false };
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 128 };
  enum : int { kRowsPerThread = 4 };
static_assert(rms_norm_rope_smem_bytes<Config> == 256, "host and device disagree about shared memory");

// rms_norm_rope dtype=f32 weight_dtype=f32 angle_dtype=f32 fp8=e5m2 scaling=2 dim=2560 head_dim=256 vector=4 batch=8 length=512
// rms_norm_rope_sm80 sm_80 threads=128 threads_per_row=128 rows_per_thread=1 weights=0 packed=0
// rms_norm_rope_sm80 sm_90a threads=128 threads_per_row=128 rows_per_thread=1 weights=0 packed=0
// 22 lines, those above but for
  using Element = float;
  using Weight = float;
  using Angle = float;
  enum : int { kHalf = 128 };
  enum : int { kPairVector = 4 };
  using Fp8 = e5m2;
  enum : int { kScaling = 2 };
  enum : bool { kPacked = false };
  enum : int { kDim = 2560 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 128 };
static_assert(rms_norm_rope_smem_bytes<Config> == 64, "host and device disagree about shared memory");

// rms_norm_rope dtype=f16 weight_dtype=f16 angle_dtype=f16 fp8=e4m3 scaling=1 dim=16128 head_dim=96 vector=8 batch=1 length=512
// rms_norm_rope_sm80 sm_80 threads=512 threads_per_row=512 rows_per_thread=1 weights=0 packed=0
// rms_norm_rope_sm80 sm_90a threads=512 threads_per_row=512 rows_per_thread=1 weights=0 packed=0
// 22 lines, those above but for
  using Element = f16;
  using Weight = f16;
  using Angle = f16;
  enum : int { kHalf = 48 };
  enum : int { kScaling = 1 };
  enum : bool { kPacked = false };
  enum : int { kDim = 16128 };
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
static_assert(rms_norm_rope_smem_bytes<Config> == 256, "host and device disagree about shared memory");

