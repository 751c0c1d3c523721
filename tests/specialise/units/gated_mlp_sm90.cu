// gated_mlp dtype=bf16 n=2048 k=512 activation=1 activate_gate=1 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_out=8 allow_tf32=0 m=65536
// gated_mlp_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "gated_mlp_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  static constexpr int kActivation = 1;
  static constexpr bool kActOnGate = true;
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
  static constexpr int kBoxes = 1;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(gated_mlp_sm90_smem_bytes<Config> == 213200, "host and device disagree about shared memory");
}  // namespace hstu

// gated_mlp dtype=f16 n=2048 k=512 activation=3 activate_gate=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_out=8 allow_tf32=0 m=4096
// gated_mlp_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "gated_mlp_sm90.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  static constexpr int kActivation = 2;
  static constexpr bool kActOnGate = false;
  static constexpr bool kXAlongK = false;
  static constexpr bool kWAlongK = false;
  static constexpr int kBlockM = 64;
  static constexpr int kBlockN = 128;
  static constexpr int kStages = 8;
  static constexpr bool kPingPong = true;
  static constexpr bool kResident = true;
  static constexpr int kSlices = 8;
  static constexpr int kCluster = 1;
  static constexpr int kGroup = 8;
  static constexpr int kBoxes = 1;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(gated_mlp_sm90_smem_bytes<Config> == 213200, "host and device disagree about shared memory");
}  // namespace hstu

