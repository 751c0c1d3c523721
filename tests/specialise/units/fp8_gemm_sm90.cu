// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=2 scaling_b=3 bias=0 bias_dtype=none activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=8192
// fp8_gemm_sm90 sm_90a block_m=128 block_n=256 ping_pong=0 resident=0 cluster=1 group=8 boxes=2
#include "fp8/fp8_gemm_sm90.cuh"
namespace hstu {
struct Config {
  using A = e4m3;
  using B = e4m3;
  using Element = bf16;
  using Bias = bf16;
  enum : int { kBias = 0 };
  enum : int { kActivation = 0 };
  enum : bool { kActivatesPart = false };
  enum : bool { kSplitColumns = false };
  enum : int { kScalingA = 2 };
  enum : int { kScalingB = 3 };
  enum : bool { kFast = false };
  enum : bool { kSpread = false };
  enum : bool { kXAlongK = true };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 256 };
  enum : int { kStages = 4 };
  enum : bool { kPingPong = false };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kCluster = 1 };
  enum : int { kGroup = 8 };
  enum : int { kBoxes = 2 };
  enum : int { kThreads = 384 };
  enum : int { kMinBlocks = 1 };
};
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 229456, "host and device disagree about shared memory");
}  // namespace hstu

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=8192
// fp8_gemm_sm90 sm_90a block_m=256 block_n=128 ping_pong=0 resident=0 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockM = 256 };
  enum : int { kBlockN = 128 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 231760, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=0 bias_dtype=none activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=1 split=0 m=65536
// fp8_gemm_sm90 sm_90a block_m=64 block_n=256 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kFast = true };
  enum : int { kBlockM = 64 };
  enum : int { kStages = 8 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 230640, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=4096 k=1024 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 8 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 8 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 230736, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=2 scaling_b=3 bias=1 bias_dtype=bf16 activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 12 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 197424, "host and device disagree about shared memory");

// fp8_gemm dtype=f16 dtype_a=e5m2 dtype_b=e4m3 n=2048 k=2048 scaling_a=0 scaling_b=0 bias=0 bias_dtype=none activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=8192
// fp8_gemm_sm90 sm_90a block_m=256 block_n=128 ping_pong=0 resident=0 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  using A = e5m2;
  using Element = f16;
  using Bias = f16;
  enum : int { kScalingA = 0 };
  enum : int { kScalingB = 0 };
  enum : int { kBlockM = 256 };
  enum : int { kBlockN = 128 };

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=0 split=64 m=131072
// fp8_gemm_sm90 sm_90a block_m=64 block_n=256 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };
  enum : bool { kSplitColumns = true };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kSpread = true };
  enum : int { kBlockM = 64 };
  enum : int { kStages = 8 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 231728, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=1 split=64 m=131072
// fp8_gemm_sm90 sm_90a block_m=64 block_n=256 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };
  enum : bool { kSplitColumns = true };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kFast = true };
  enum : bool { kSpread = true };
  enum : int { kBlockM = 64 };
  enum : int { kStages = 8 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 230640, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=2 bias_dtype=bf16 activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=131072
// fp8_gemm_sm90 sm_90a block_m=256 block_n=128 ping_pong=0 resident=0 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 2 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockM = 256 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
  enum : int { kBoxes = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 214272, "host and device disagree about shared memory");

// fp8_gemm dtype=f16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=512 scaling_a=2 scaling_b=3 bias=2 bias_dtype=f16 activation=1 act_columns=100 vector_a=16 vector_b=16 vector_out=8 fast=0 split=64 m=131072
// fp8_gemm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 1 };
  enum : bool { kActivatesPart = true };
  enum : bool { kSplitColumns = true };
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 12 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 196912, "host and device disagree about shared memory");

// fp8_gemm dtype=e4m3 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=16 fast=0 split=64 m=65536
// fp8_gemm_sm90 sm_90a block_m=64 block_n=256 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 32 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };
  enum : bool { kSplitColumns = true };
  using Fp8 = e4m3;
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kSpread = true };
  enum : int { kBlockM = 64 };
  enum : int { kStages = 8 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 231728, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=3 bias_dtype=bf16 activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm90 sm_90a block_m=256 block_n=128 ping_pong=0 resident=0 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 3 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockM = 256 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
  enum : int { kBoxes = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 215424, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=3 bias_dtype=bf16 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=1 split=64 m=131072
// fp8_gemm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 3 };
  enum : int { kActivation = 1 };
  enum : bool { kSplitColumns = true };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kFast = true };
  enum : bool { kSpread = true };
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 12 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 197488, "host and device disagree about shared memory");

// fp8_gemm dtype=f16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=3 bias_dtype=f32 activation=3 act_columns=2000 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm90 sm_90a block_m=64 block_n=256 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  using Element = f16;
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 3 };
  enum : bool { kActivatesPart = true };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockM = 64 };
  enum : int { kStages = 8 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 231792, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=512 scaling_a=2 scaling_b=3 bias=3 bias_dtype=bf16 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 3 };
  enum : int { kActivation = 1 };
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 12 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 197488, "host and device disagree about shared memory");

// fp8_gemm dtype=e4m3 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=3 bias_dtype=f32 activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=16 fast=0 split=0 residual_dtype=bf16 m=65536
// fp8_gemm_sm90 sm_90a block_m=256 block_n=128 ping_pong=0 resident=0 cluster=1 group=8 boxes=2
// 32 lines, those above but for
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 1 };
  using Fp8 = e4m3;
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockM = 256 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 3 };
  enum : int { kBoxes = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 215424, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=3 act_columns=2048 vector_a=16 vector_b=16 vector_out=8 fast=1 split=0 m=65536
// fp8_gemm_sm90 sm_90a block_m=256 block_n=128 ping_pong=0 resident=0 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kActivation = 3 };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kFast = true };
  enum : int { kBlockM = 256 };
  enum : int { kBlockN = 128 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 231760, "host and device disagree about shared memory");

// fp8_gemm dtype=f16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=f32 activation=3 act_columns=2000 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536
// fp8_gemm_sm90 sm_90a block_m=64 block_n=256 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  using Element = f16;
  using Bias = float;
  enum : int { kBias = 1 };
  enum : int { kActivation = 3 };
  enum : bool { kActivatesPart = true };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : int { kBlockM = 64 };
  enum : int { kStages = 8 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 231728, "host and device disagree about shared memory");

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 activation=4 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=1 split=64 m=131072
// fp8_gemm_sm90 sm_90a block_m=64 block_n=256 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 31 lines, those above but for
  enum : int { kBias = 1 };
  enum : int { kActivation = 4 };
  enum : bool { kSplitColumns = true };
  enum : int { kScalingA = 1 };
  enum : int { kScalingB = 1 };
  enum : bool { kFast = true };
  enum : bool { kSpread = true };
  enum : int { kBlockM = 64 };
  enum : int { kStages = 8 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 4 };
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 230640, "host and device disagree about shared memory");

