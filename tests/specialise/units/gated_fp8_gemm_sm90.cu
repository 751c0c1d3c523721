// gated_fp8_gemm dtype=bf16 weight_dtype=bf16 dim=512 n=512 parts=4 residual=1 vector=8 vector_w=16 m=131072
// gated_fp8_gemm_sm90 sm_90a block_k=128 group=1
#include "fp8/gated_fp8_gemm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  using Fp8 = e4m3;
  enum : int { kDim = 512 };
  enum : int { kParts = 4 };
  enum : bool { kHasResidual = true };
  enum : bool { kResident = false };
  enum : int { kCluster = 1 };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 256 };
  enum : int { kBlockK = 128 };
  enum : int { kStagesX = 2 };
  enum : int { kStagesW = 4 };
  enum : int { kBoxes = 1 };
  enum : int { kGroup = 1 };
  enum : int { kThreads = 384 };
  enum : int { kMinBlocks = 1 };
};
static_assert(gated_fp8_gemm_sm90_smem_bytes<Config> == 219376, "host and device disagree about shared memory");
}  // namespace hstu

// gated_fp8_gemm dtype=f16 weight_dtype=f32 dim=512 n=256 parts=2 residual=0 vector=8 vector_w=16 m=4096
// gated_fp8_gemm_sm90 sm_90a block_k=64 group=1
// 23 lines, those above but for
  using Element = f16;
  using Weight = float;
  enum : int { kParts = 2 };
  enum : bool { kHasResidual = false };
  enum : int { kBlockK = 64 };
  enum : int { kStagesW = 8 };
static_assert(gated_fp8_gemm_sm90_smem_bytes<Config> == 219440, "host and device disagree about shared memory");

// gated_fp8_gemm dtype=bf16 weight_dtype=f32 dim=1024 n=1024 parts=16 residual=1 vector=8 vector_w=16 m=65536
// gated_fp8_gemm_sm90 sm_90a block_k=128 group=1
// 23 lines, those above but for
  using Weight = float;
  enum : int { kDim = 1024 };
  enum : int { kParts = 16 };
static_assert(gated_fp8_gemm_sm90_smem_bytes<Config> == 223472, "host and device disagree about shared memory");

// gated_fp8_gemm dtype=f16 weight_dtype=f16 dim=384 n=768 parts=8 residual=1 vector=8 vector_w=16 m=65536
// gated_fp8_gemm_sm90 sm_90a block_k=128 group=1
// 23 lines, those above but for
  using Element = f16;
  using Weight = f16;
  enum : int { kDim = 384 };
  enum : int { kParts = 8 };
static_assert(gated_fp8_gemm_sm90_smem_bytes<Config> == 218352, "host and device disagree about shared memory");

