// jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=512 bias=1 bias_dtype=bf16 dense_transposed=0 vector_x=8 vector_w=8 vector_z=8 batch=512 rows=524288
// jagged_bmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2
#include "jagged_bmm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  using Offset = i64;
  static constexpr int kBias = 1;
  static constexpr int kActivation = 0;
  static constexpr bool kSplitColumns = false;
  static constexpr bool kTf32 = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = false;
  static constexpr int kVectorX = 8;
  static constexpr int kVectorW = 8;
  static constexpr int kVectorZ = 8;
  static constexpr bool kGatherY = false;
  static constexpr bool kTailK = false;
  static constexpr int kBlockM = 128;
  static constexpr int kBlockN = 128;
  static constexpr int kBlockK = 32;
  static constexpr int kWarpsM = 2;
  static constexpr int kWarpsN = 2;
  static constexpr int kThreads = 128;
  static constexpr int kStages = 4;
  static constexpr int kGroup = 8;
  static constexpr bool kPersistent = false;
  static constexpr int kMinBlocks = 2;
};
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 74752, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=512 bias=1 bias_dtype=bf16 dense_transposed=0 vector_x=8 vector_w=8 vector_z=8 batch=512 rows=524288
// jagged_bmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2
#include "jagged_bmm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  using Offset = i64;
  static constexpr int kBias = 1;
  static constexpr int kActivation = 0;
  static constexpr bool kSplitColumns = false;
  static constexpr bool kTf32 = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = false;
  static constexpr int kVectorX = 8;
  static constexpr int kVectorW = 8;
  static constexpr int kVectorZ = 8;
  static constexpr bool kGatherY = false;
  static constexpr bool kTailK = false;
  static constexpr int kBlockM = 128;
  static constexpr int kBlockN = 128;
  static constexpr int kBlockK = 64;
  static constexpr int kWarpsM = 2;
  static constexpr int kWarpsN = 2;
  static constexpr int kThreads = 128;
  static constexpr int kStages = 3;
  static constexpr int kGroup = 8;
  static constexpr bool kPersistent = false;
  static constexpr int kMinBlocks = 2;
};
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_dense_bmm_broadcast_add dtype=f16 offset_dtype=i32 n=20 k=33 bias=2 bias_dtype=f16 dense_transposed=1 vector_x=1 vector_w=1 vector_z=4 batch=2 rows=64
// jagged_bmm_sm80 sm_80 block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 min_blocks=4
// jagged_bmm_sm80 sm_90a block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 min_blocks=4
#include "jagged_bmm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Bias = f16;
  using Offset = i32;
  static constexpr int kBias = 2;
  static constexpr int kActivation = 0;
  static constexpr bool kSplitColumns = false;
  static constexpr bool kTf32 = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = true;
  static constexpr int kVectorX = 1;
  static constexpr int kVectorW = 1;
  static constexpr int kVectorZ = 4;
  static constexpr bool kGatherY = false;
  static constexpr bool kTailK = true;
  static constexpr int kBlockM = 16;
  static constexpr int kBlockN = 32;
  static constexpr int kBlockK = 64;
  static constexpr int kWarpsM = 1;
  static constexpr int kWarpsN = 1;
  static constexpr int kThreads = 32;
  static constexpr int kStages = 4;
  static constexpr int kGroup = 8;
  static constexpr bool kPersistent = false;
  static constexpr int kMinBlocks = 4;
};
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 25856, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=130 bias=1 bias_dtype=f32 dense_transposed=1 vector_x=2 vector_w=2 vector_z=8 batch=512 rows=524288
// jagged_bmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2
#include "jagged_bmm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = float;
  using Offset = i64;
  static constexpr int kBias = 1;
  static constexpr int kActivation = 0;
  static constexpr bool kSplitColumns = false;
  static constexpr bool kTf32 = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = true;
  static constexpr int kVectorX = 2;
  static constexpr int kVectorW = 2;
  static constexpr int kVectorZ = 8;
  static constexpr bool kGatherY = false;
  static constexpr bool kTailK = true;
  static constexpr int kBlockM = 128;
  static constexpr int kBlockN = 128;
  static constexpr int kBlockK = 32;
  static constexpr int kWarpsM = 2;
  static constexpr int kWarpsN = 2;
  static constexpr int kThreads = 128;
  static constexpr int kStages = 4;
  static constexpr int kGroup = 8;
  static constexpr bool kPersistent = false;
  static constexpr int kMinBlocks = 2;
};
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 74752, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=130 bias=1 bias_dtype=f32 dense_transposed=1 vector_x=2 vector_w=2 vector_z=8 batch=512 rows=524288
// jagged_bmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2
#include "jagged_bmm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = float;
  using Offset = i64;
  static constexpr int kBias = 1;
  static constexpr int kActivation = 0;
  static constexpr bool kSplitColumns = false;
  static constexpr bool kTf32 = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = true;
  static constexpr int kVectorX = 2;
  static constexpr int kVectorW = 2;
  static constexpr int kVectorZ = 8;
  static constexpr bool kGatherY = false;
  static constexpr bool kTailK = true;
  static constexpr int kBlockM = 128;
  static constexpr int kBlockN = 128;
  static constexpr int kBlockK = 64;
  static constexpr int kWarpsM = 2;
  static constexpr int kWarpsN = 2;
  static constexpr int kThreads = 128;
  static constexpr int kStages = 3;
  static constexpr int kGroup = 8;
  static constexpr bool kPersistent = false;
  static constexpr int kMinBlocks = 2;
};
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_dense_bmm_broadcast_add dtype=f32 offset_dtype=i64 n=200 k=130 bias=1 bias_dtype=f32 dense_transposed=0 vector_x=2 vector_w=4 vector_z=4 batch=32 rows=16384
// jagged_bmm_sm80 sm_80 block_m=64 block_n=64 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2
// jagged_bmm_sm80 sm_90a block_m=64 block_n=64 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 min_blocks=2
#include "jagged_bmm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = float;
  using Bias = float;
  using Offset = i64;
  static constexpr int kBias = 1;
  static constexpr int kActivation = 0;
  static constexpr bool kSplitColumns = false;
  static constexpr bool kTf32 = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = false;
  static constexpr int kVectorX = 2;
  static constexpr int kVectorW = 4;
  static constexpr int kVectorZ = 4;
  static constexpr bool kGatherY = false;
  static constexpr bool kTailK = true;
  static constexpr int kBlockM = 64;
  static constexpr int kBlockN = 64;
  static constexpr int kBlockK = 32;
  static constexpr int kWarpsM = 2;
  static constexpr int kWarpsN = 2;
  static constexpr int kThreads = 128;
  static constexpr int kStages = 4;
  static constexpr int kGroup = 8;
  static constexpr bool kPersistent = false;
  static constexpr int kMinBlocks = 2;
};
static_assert(jagged_bmm_sm80_smem_bytes<Config> == 75776, "host and device disagree about shared memory");
}  // namespace hstu

