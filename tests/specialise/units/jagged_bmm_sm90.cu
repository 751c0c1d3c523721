// jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=512 bias=1 bias_dtype=bf16 dense_transposed=0 vector_x=8 vector_w=8 vector_z=8 batch=512 rows=524288
// jagged_bmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "jagged_bmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  using Offset = i64;
  static constexpr int kBias = 1;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = false;
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
static_assert(jagged_bmm_sm90_smem_bytes<Config> == 230736, "host and device disagree about shared memory");
}  // namespace hstu

