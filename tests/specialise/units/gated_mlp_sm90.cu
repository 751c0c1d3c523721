// gated_mlp dtype=bf16 n=2048 k=512 activation=1 activate_gate=1 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_out=8 allow_tf32=0 m=65536
// gated_mlp_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "dense/gated_mlp_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  enum : int { kActivation = 1 };
  enum : bool { kActOnGate = true };
  enum : bool { kXAlongK = true };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 128 };
  enum : int { kStages = 8 };
  enum : bool { kPingPong = true };
  enum : bool { kResident = true };
  enum : int { kSlices = 8 };
  enum : int { kCluster = 1 };
  enum : int { kGroup = 8 };
  enum : int { kBoxes = 1 };
  enum : int { kThreads = 384 };
  enum : int { kMinBlocks = 1 };
};
static_assert(gated_mlp_sm90_smem_bytes<Config> == 213200, "host and device disagree about shared memory");
}  // namespace hstu

// gated_mlp dtype=f16 n=2048 k=512 activation=3 activate_gate=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_out=8 allow_tf32=0 m=4096
// gated_mlp_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 22 lines, those above but for
  using Element = f16;
  enum : int { kActivation = 3 };
  enum : bool { kActOnGate = false };
  enum : bool { kXAlongK = false };
  enum : bool { kWAlongK = false };

// gated_mlp dtype=bf16 n=1024 k=512 activation=1 activate_gate=1 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_out=16 allow_tf32=0 out_dtype=e4m3 m=65536
// gated_mlp_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 23 lines, those above but for
  using Fp8 = e4m3;

