// jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=512 bias=1 bias_dtype=bf16 dense_transposed=0 vector_x=8 vector_w=8 vector_z=8 batch=512 rows=524288
// jagged_bmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2
#include "jagged/jagged_bmm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  using Offset = i64;
  enum : int { kBias = 1 };
  enum : int { kActivation = 0 };
  enum : bool { kSplitColumns = false };
  enum : bool { kTf32 = false };
  enum : bool { kXAlongK = true };
  enum : bool { kWAlongK = false };
  enum : int { kVectorX = 8 };
  enum : int { kVectorW = 8 };
  enum : int { kVectorZ = 8 };
  enum : bool { kGatherY = false };
  enum : bool { kTailK = false };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 128 };
  enum : int { kBlockK = 32 };
  enum : int { kWarpsM = 2 };
  enum : int { kWarpsN = 2 };
  enum : int { kThreads = 128 };
  enum : int { kStages = 4 };
  enum : int { kGroup = 8 };
  enum : bool { kPersistent = false };
  enum : int { kMinBlocks = 2 };
};
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 74752, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=512 bias=1 bias_dtype=bf16 dense_transposed=0 vector_x=8 vector_w=8 vector_z=8 batch=512 rows=524288
// jagged_bmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2
// 30 lines, those above but for
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// jagged_dense_bmm_broadcast_add dtype=f16 offset_dtype=i32 n=20 k=33 bias=2 bias_dtype=f16 dense_transposed=1 vector_x=1 vector_w=1 vector_z=4 batch=2 rows=64
// jagged_bmm_sm80 sm_80 block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 min_blocks=4
// jagged_bmm_sm80 sm_90a block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 min_blocks=4
// 30 lines, those above but for
  using Element = f16;
  using Bias = f16;
  using Offset = i32;
  enum : int { kBias = 2 };
  enum : bool { kWAlongK = true };
  enum : int { kVectorX = 1 };
  enum : int { kVectorW = 1 };
  enum : int { kVectorZ = 4 };
  enum : bool { kTailK = true };
  enum : int { kBlockM = 16 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsM = 1 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 32 };
  enum : int { kMinBlocks = 4 };
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 25856, "host and device disagree about shared memory");

// jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=130 bias=1 bias_dtype=f32 dense_transposed=1 vector_x=2 vector_w=2 vector_z=8 batch=512 rows=524288
// jagged_bmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2
// 30 lines, those above but for
  using Bias = float;
  enum : bool { kWAlongK = true };
  enum : int { kVectorX = 2 };
  enum : int { kVectorW = 2 };
  enum : bool { kTailK = true };

// jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=130 bias=1 bias_dtype=f32 dense_transposed=1 vector_x=2 vector_w=2 vector_z=8 batch=512 rows=524288
// jagged_bmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2
// 30 lines, those above but for
  using Bias = float;
  enum : bool { kWAlongK = true };
  enum : int { kVectorX = 2 };
  enum : int { kVectorW = 2 };
  enum : bool { kTailK = true };
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// jagged_dense_bmm_broadcast_add dtype=f32 offset_dtype=i64 n=200 k=130 bias=1 bias_dtype=f32 dense_transposed=0 vector_x=2 vector_w=4 vector_z=4 batch=32 rows=16384
// jagged_bmm_sm80 sm_80 block_m=64 block_n=64 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2
// jagged_bmm_sm80 sm_90a block_m=64 block_n=64 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2
// 30 lines, those above but for
  using Element = float;
  using Bias = float;
  enum : int { kVectorX = 2 };
  enum : int { kVectorW = 4 };
  enum : int { kVectorZ = 4 };
  enum : bool { kTailK = true };
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 64 };
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 75776, "host and device disagree about shared memory");

