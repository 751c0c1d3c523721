// jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=512 bias=1 bias_dtype=bf16 dense_transposed=0 vector_x=8 vector_w=8 vector_z=8 batch=512 rows=524288
// jagged_bmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "jagged/jagged_bmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  using Offset = i64;
  enum : int { kBias = 1 };
  enum : bool { kXAlongK = true };
  enum : bool { kWAlongK = false };
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 8 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 8 };
  enum : int { kCluster = 1 };
  enum : int { kGroup = 8 };
  enum : int { kBoxes = 2 };
  enum : int { kThreads = 384 };
  enum : int { kMinBlocks = 1 };
};
static_assert(jagged_bmm_sm90_smem_bytes<Config> == 230736, "host and device disagree about shared memory");
}  // namespace hstu

