// gated_addmm dtype=bf16 weight_dtype=bf16 dim=512 n=512 parts=4 residual=1 weight_transposed=0 vector=8 vector_w=8 m=131072
// gated_addmm_sm90 sm_90a block_n=256 block_k=32 stages_x=2 boxes=1 lead=2 group=8
#include "dense/gated_addmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  enum : int { kDim = 512 };
  enum : int { kParts = 4 };
  enum : bool { kHasResidual = true };
  enum : bool { kWAlongK = false };
  enum : bool { kResident = false };
  enum : int { kCluster = 1 };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 256 };
  enum : int { kBlockK = 32 };
  enum : int { kStagesX = 2 };
  enum : int { kStagesW = 9 };
  enum : int { kBoxes = 1 };
  enum : int { kLead = 2 };
  enum : int { kGroup = 8 };
  enum : int { kThreads = 384 };
  enum : int { kMinBlocks = 1 };
};
static_assert(gated_addmm_sm90_smem_bytes<Config> == 231608, "host and device disagree about shared memory");
}  // namespace hstu

// gated_addmm dtype=f16 weight_dtype=f32 dim=512 n=256 parts=1 residual=0 weight_transposed=1 vector=8 vector_w=8 m=4096
// gated_addmm_sm90 sm_90a block_n=256 block_k=64 stages_x=2 boxes=2 lead=0 group=8
// 24 lines, those above but for
  using Element = f16;
  using Weight = float;
  enum : int { kParts = 1 };
  enum : bool { kHasResidual = false };
  enum : bool { kWAlongK = true };
  enum : int { kBlockK = 64 };
  enum : int { kStagesW = 3 };
  enum : int { kBoxes = 2 };
  enum : int { kLead = 0 };
static_assert(gated_addmm_sm90_smem_bytes<Config> == 200784, "host and device disagree about shared memory");

// gated_addmm dtype=bf16 weight_dtype=f32 dim=1024 n=1024 parts=16 residual=1 weight_transposed=0 vector=8 vector_w=8 m=65536
// gated_addmm_sm90 sm_90a block_n=256 block_k=32 stages_x=2 boxes=1 lead=2 group=8
// 24 lines, those above but for
  using Weight = float;
  enum : int { kDim = 1024 };
  enum : int { kParts = 16 };
  enum : int { kStagesW = 8 };
static_assert(gated_addmm_sm90_smem_bytes<Config> == 221352, "host and device disagree about shared memory");

// gated_addmm dtype=bf16 weight_dtype=f32 dim=1024 n=384 parts=16 residual=1 weight_transposed=0 vector=8 vector_w=8 m=65536
// gated_addmm_sm90 sm_90a block_n=128 block_k=64 stages_x=2 boxes=1 lead=0 group=8
// 24 lines, those above but for
  using Weight = float;
  enum : int { kDim = 1024 };
  enum : int { kParts = 16 };
  enum : int { kBlockM = 256 };
  enum : int { kBlockN = 128 };
  enum : int { kBlockK = 64 };
  enum : int { kStagesW = 4 };
  enum : int { kLead = 0 };
static_assert(gated_addmm_sm90_smem_bytes<Config> == 221280, "host and device disagree about shared memory");

// gated_addmm dtype=bf16 weight_dtype=bf16 dim=64 n=128 parts=2 residual=1 weight_transposed=1 vector=8 vector_w=8 m=131072
// gated_addmm_sm90 sm_90a block_n=128 block_k=64 stages_x=2 boxes=1 lead=0 group=8
// 24 lines, those above but for
  enum : int { kDim = 64 };
  enum : int { kParts = 2 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 256 };
  enum : int { kBlockN = 128 };
  enum : int { kBlockK = 64 };
  enum : int { kStagesW = 5 };
  enum : int { kLead = 0 };
static_assert(gated_addmm_sm90_smem_bytes<Config> == 229744, "host and device disagree about shared memory");

