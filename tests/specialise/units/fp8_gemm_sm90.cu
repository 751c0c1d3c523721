// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=2 scaling_b=3 bias_dtype=none vector_a=16 vector_b=16 vector_out=8 fast=0 m=8192
// fp8_gemm_sm90 sm_90a block_m=256 block_n=128 ping_pong=0 resident=0 cluster=1 group=8 boxes=2
#include "fp8_gemm_sm90.cuh"
namespace hstu {
struct Config {
  using A = e4m3;
  using B = e4m3;
  using Element = bf16;
  using Bias = bf16;
  static constexpr bool kHasBias = false;
  static constexpr int kScalingA = 2;
  static constexpr int kScalingB = 3;
  static constexpr bool kFast = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = true;
  static constexpr int kBlockM = 256;
  static constexpr int kBlockN = 128;
  static constexpr int kStages = 4;
  static constexpr bool kPingPong = false;
  static constexpr bool kResident = false;
  static constexpr int kSlices = 0;
  static constexpr int kCluster = 1;
  static constexpr int kGroup = 8;
  static constexpr int kBoxes = 2;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 229456, "host and device disagree about shared memory");
}  // namespace hstu

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=1 scaling_b=1 bias_dtype=bf16 vector_a=16 vector_b=16 vector_out=8 fast=0 m=8192
// fp8_gemm_sm90 sm_90a block_m=256 block_n=128 ping_pong=0 resident=0 cluster=1 group=8 boxes=2
#include "fp8_gemm_sm90.cuh"
namespace hstu {
struct Config {
  using A = e4m3;
  using B = e4m3;
  using Element = bf16;
  using Bias = bf16;
  static constexpr bool kHasBias = true;
  static constexpr int kScalingA = 1;
  static constexpr int kScalingB = 1;
  static constexpr bool kFast = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = true;
  static constexpr int kBlockM = 256;
  static constexpr int kBlockN = 128;
  static constexpr int kStages = 4;
  static constexpr bool kPingPong = false;
  static constexpr bool kResident = false;
  static constexpr int kSlices = 0;
  static constexpr int kCluster = 1;
  static constexpr int kGroup = 8;
  static constexpr int kBoxes = 2;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 231760, "host and device disagree about shared memory");
}  // namespace hstu

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias_dtype=none vector_a=16 vector_b=16 vector_out=8 fast=1 m=65536
// fp8_gemm_sm90 sm_90a block_m=64 block_n=256 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "fp8_gemm_sm90.cuh"
namespace hstu {
struct Config {
  using A = e4m3;
  using B = e4m3;
  using Element = bf16;
  using Bias = bf16;
  static constexpr bool kHasBias = false;
  static constexpr int kScalingA = 1;
  static constexpr int kScalingB = 1;
  static constexpr bool kFast = true;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = true;
  static constexpr int kBlockM = 64;
  static constexpr int kBlockN = 256;
  static constexpr int kStages = 8;
  static constexpr bool kPingPong = true;
  static constexpr bool kResident = true;
  static constexpr int kSlices = 4;
  static constexpr int kCluster = 1;
  static constexpr int kGroup = 8;
  static constexpr int kBoxes = 2;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 231728, "host and device disagree about shared memory");
}  // namespace hstu

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=4096 k=1024 scaling_a=1 scaling_b=1 bias_dtype=bf16 vector_a=16 vector_b=16 vector_out=8 fast=0 m=65536
// fp8_gemm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "fp8_gemm_sm90.cuh"
namespace hstu {
struct Config {
  using A = e4m3;
  using B = e4m3;
  using Element = bf16;
  using Bias = bf16;
  static constexpr bool kHasBias = true;
  static constexpr int kScalingA = 1;
  static constexpr int kScalingB = 1;
  static constexpr bool kFast = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = true;
  static constexpr int kBlockM = 64;
  static constexpr int kBlockN = 128;
  static constexpr int kStages = 8;
  static constexpr bool kPingPong = true;
  static constexpr bool kResident = true;
  static constexpr int kSlices = 8;
  static constexpr int kCluster = 1;
  static constexpr int kGroup = 8;
  static constexpr int kBoxes = 2;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 231888, "host and device disagree about shared memory");
}  // namespace hstu

// fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=2 scaling_b=3 bias_dtype=bf16 vector_a=16 vector_b=16 vector_out=8 fast=0 m=65536
// fp8_gemm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "fp8_gemm_sm90.cuh"
namespace hstu {
struct Config {
  using A = e4m3;
  using B = e4m3;
  using Element = bf16;
  using Bias = bf16;
  static constexpr bool kHasBias = true;
  static constexpr int kScalingA = 2;
  static constexpr int kScalingB = 3;
  static constexpr bool kFast = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = true;
  static constexpr int kBlockM = 64;
  static constexpr int kBlockN = 128;
  static constexpr int kStages = 12;
  static constexpr bool kPingPong = true;
  static constexpr bool kResident = true;
  static constexpr int kSlices = 4;
  static constexpr int kCluster = 1;
  static constexpr int kGroup = 8;
  static constexpr int kBoxes = 2;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 198000, "host and device disagree about shared memory");
}  // namespace hstu

// fp8_gemm dtype=f16 dtype_a=e5m2 dtype_b=e4m3 n=2048 k=2048 scaling_a=0 scaling_b=0 bias_dtype=none vector_a=16 vector_b=16 vector_out=8 fast=0 m=8192
// fp8_gemm_sm90 sm_90a block_m=256 block_n=128 ping_pong=0 resident=0 cluster=1 group=8 boxes=2
#include "fp8_gemm_sm90.cuh"
namespace hstu {
struct Config {
  using A = e5m2;
  using B = e4m3;
  using Element = f16;
  using Bias = f16;
  static constexpr bool kHasBias = false;
  static constexpr int kScalingA = 0;
  static constexpr int kScalingB = 0;
  static constexpr bool kFast = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = true;
  static constexpr int kBlockM = 256;
  static constexpr int kBlockN = 128;
  static constexpr int kStages = 4;
  static constexpr bool kPingPong = false;
  static constexpr bool kResident = false;
  static constexpr int kSlices = 0;
  static constexpr int kCluster = 1;
  static constexpr int kGroup = 8;
  static constexpr int kBoxes = 2;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(fp8_gemm_sm90_smem_bytes<Config> == 229456, "host and device disagree about shared memory");
}  // namespace hstu

