// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=2 scaling_b=3 bias=0 bias_dtype=none activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=8192
// fp8_gemm_sm80 sm_80 block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
#include "fp8/fp8_gemm_sm80.cuh"
namespace hstu {
struct Config {
  using A = e4m3;
  using B = e4m3;
  using Element = bf16;
  using Bias = bf16;
  enum : int { kBias = 0 };
  enum : int { kActivation = 0 };
  enum : int { kScalingA = 2 };
  enum : int { kScalingB = 3 };
  enum : int { kVectorX = 16 };
  enum : int { kVectorW = 16 };
  enum : int { kVectorZ = 8 };
  enum : bool { kGatherY = false };
  enum : bool { kSplitColumns = false };
  enum : bool { kTailK = false };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 64 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsM = 2 };
  enum : int { kWarpsN = 2 };
  enum : int { kThreads = 128 };
  enum : int { kStages = 4 };
  enum : int { kGroup = 8 };
  enum : bool { kPersistent = false };
  enum : int { kMinBlocks = 2 };
  enum : bool { kNative = false };
};
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 54272, "host and device disagree about shared memory");
}  // namespace hstu

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=8192
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=0 bias_dtype=none activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=1 split=0 m=65536
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=4096 k=1024 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=2 scaling_b=3 bias=1 bias_dtype=bf16 activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm80 sm_80 block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 1 };

// fp8_gemm dtype=f16 dtype_a=e5m2 dtype_b=e4m3 n=2048 k=2048 scaling_a=0 scaling_b=0 bias=0 bias_dtype=none activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=8192
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  using A = e5m2;
  using Element = f16;
  using Bias = f16;
  enum : int { kScalingA = 0 };
  enum : int { kScalingB = 0 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=f32 dtype_a=e4m3 dtype_b=e5m2 n=333 k=77 scaling_a=2 scaling_b=2 bias=1 bias_dtype=f32 activation=0 act_columns=0 vector_a=1 vector_b=1 vector_out=1 fast=0 split=0 m=128
// fp8_gemm_sm80 sm_80 block_m=32 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=2 group=8 min_blocks=1 native=0
// fp8_gemm_sm80 sm_90a block_m=32 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=2 group=8 min_blocks=1 native=0
// 31 lines, those above but for
  using B = e5m2;
  using Element = float;
  using Bias = float;
  enum : int { kBias = 1 };
  enum : int { kScalingB = 2 };
  enum : int { kVectorX = 1 };
  enum : int { kVectorW = 1 };
  enum : int { kVectorZ = 1 };
  enum : bool { kTailK = true };
  enum : int { kBlockM = 32 };
  enum : int { kStages = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 22528, "host and device disagree about shared memory");

// fp8_gemm dtype=f32 dtype_a=e5m2 dtype_b=e5m2 n=2048 k=2048 scaling_a=2 scaling_b=2 bias=0 bias_dtype=none activation=0 act_columns=0 vector_a=8 vector_b=4 vector_out=4 fast=0 split=0 m=8192
// fp8_gemm_sm80 sm_80 block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  using A = e5m2;
  using B = e5m2;
  using Element = float;
  using Bias = float;
  enum : int { kScalingB = 2 };
  enum : int { kVectorX = 8 };
  enum : int { kVectorW = 4 };
  enum : int { kVectorZ = 4 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 59392, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=0 split=64 m=131072
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kSplitColumns = true };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=1 split=64 m=131072
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kSplitColumns = true };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=2 bias_dtype=bf16 activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=131072
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 2 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=f16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=512 scaling_a=2 scaling_b=3 bias=2 bias_dtype=f16 activation=1 act_columns=100 vector_a=16 vector_b=16 vector_out=8 fast=0 split=64 m=131072
// fp8_gemm_sm80 sm_80 block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 1 };
  enum : bool { kSplitColumns = true };

// fp8_gemm dtype=f32 dtype_a=e4m3 dtype_b=e5m2 n=130 k=77 scaling_a=0 scaling_b=1 bias=2 bias_dtype=f32 activation=1 act_columns=65 vector_a=1 vector_b=1 vector_out=1 fast=0 split=1 m=128
// fp8_gemm_sm80 sm_80 block_m=32 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=2 group=8 min_blocks=1 native=0
// fp8_gemm_sm80 sm_90a block_m=32 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=2 group=8 min_blocks=1 native=0
// 31 lines, those above but for
  using B = e5m2;
  using Element = float;
  using Bias = float;
  enum : int { kBias = 2 };
  enum : int { kActivation = 1 };
  enum : int { kScalingA = 0 };
  enum : int { kScalingB = 1 };
  enum : int { kVectorX = 1 };
  enum : int { kVectorW = 1 };
  enum : int { kVectorZ = 1 };
  enum : bool { kSplitColumns = true };
  enum : bool { kTailK = true };
  enum : int { kBlockM = 32 };
  enum : int { kStages = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 22528, "host and device disagree about shared memory");

// fp8_gemm dtype=e4m3 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=16 fast=0 split=64 m=65536
// fp8_gemm_sm80 sm_80 block_m=64 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=64 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 32 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kSplitColumns = true };
  using Fp8 = e4m3;
  enum : int { kBlockM = 64 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 29696, "host and device disagree about shared memory");

// fp8_gemm dtype=e5m2 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=2 scaling_b=3 bias=2 bias_dtype=f32 activation=3 act_columns=100 vector_a=16 vector_b=16 vector_out=1 fast=0 split=0 m=65536
// fp8_gemm_sm80 sm_80 block_m=64 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=64 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 32 lines, those above but for
  using Element = float;
  using Bias = float;
  enum : int { kBias = 2 };
  enum : int { kActivation = 3 };
  enum : int { kVectorZ = 1 };
  using Fp8 = e5m2;
  enum : int { kBlockM = 64 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 34816, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=3 bias_dtype=bf16 activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 3 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=3 bias_dtype=bf16 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=1 split=64 m=131072
// fp8_gemm_sm80 sm_80 block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 3 };
  enum : int { kActivation = 1 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kSplitColumns = true };

// fp8_gemm dtype=f16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=3 bias_dtype=f32 activation=3 act_columns=2000 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm80 sm_80 block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  using Element = f16;
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 3 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=512 scaling_a=2 scaling_b=3 bias=3 bias_dtype=bf16 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm80 sm_80 block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 3 };
  enum : int { kActivation = 1 };

// fp8_gemm dtype=f32 dtype_a=e4m3 dtype_b=e5m2 n=130 k=77 scaling_a=0 scaling_b=1 bias=3 bias_dtype=bf16 activation=1 act_columns=65 vector_a=1 vector_b=1 vector_out=1 fast=0 split=1 m=128
// fp8_gemm_sm80 sm_80 block_m=32 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=2 group=8 min_blocks=1 native=0
// fp8_gemm_sm80 sm_90a block_m=32 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=2 group=8 min_blocks=1 native=0
// 31 lines, those above but for
  using B = e5m2;
  using Element = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 1 };
  enum : int { kScalingA = 0 };
  enum : int { kScalingB = 1 };
  enum : int { kVectorX = 1 };
  enum : int { kVectorW = 1 };
  enum : int { kVectorZ = 1 };
  enum : bool { kSplitColumns = true };
  enum : bool { kTailK = true };
  enum : int { kBlockM = 32 };
  enum : int { kStages = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 22528, "host and device disagree about shared memory");

// fp8_gemm dtype=e4m3 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=3 bias_dtype=f32 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=16 fast=0 split=0 residual_dtype=bf16 m=65536
// fp8_gemm_sm80 sm_80 block_m=64 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=64 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 32 lines, those above but for
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 1 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  using Fp8 = e4m3;
  enum : int { kBlockM = 64 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 29696, "host and device disagree about shared memory");

// fp8_gemm dtype=e5m2 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=2 scaling_b=3 bias=3 bias_dtype=bf16 activation=3 act_columns=100 vector_a=16 vector_b=16 vector_out=1 fast=0 split=0 residual_dtype=f32 m=65536
// fp8_gemm_sm80 sm_80 block_m=64 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=64 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 32 lines, those above but for
  using Element = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 3 };
  enum : int { kVectorZ = 1 };
  using Fp8 = e5m2;
  enum : int { kBlockM = 64 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 34816, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=3 act_columns=2048 vector_a=16 vector_b=16 vector_out=8 fast=1 split=0 m=65536
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kActivation = 3 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=f16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=f32 activation=3 act_columns=2000 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  using Element = f16;
  using Bias = float;
  enum : int { kBias = 1 };
  enum : int { kActivation = 3 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=4 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=1 split=64 m=131072
// fp8_gemm_sm80 sm_80 block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kActivation = 4 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kSplitColumns = true };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 58368, "host and device disagree about shared memory");

// fp8_gemm dtype=f32 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=2 bias_dtype=f32 activation=3 act_columns=512 vector_a=16 vector_b=16 vector_out=4 fast=0 split=0 m=65536
// fp8_gemm_sm80 sm_80 block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// fp8_gemm_sm80 sm_90a block_m=128 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2 native=0
// 31 lines, those above but for
  using Element = float;
  using Bias = float;
  enum : int { kBias = 2 };
  enum : int { kActivation = 3 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kVectorZ = 4 };
static_assert(fp8_gemm_sm80_smem_bytes<Config> == 59392, "host and device disagree about shared memory");

