// gated_mlp dtype=bf16 n=2048 k=512 activation=1 activate_gate=1 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_out=8 allow_tf32=0 m=65536
// gated_mlp_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=1
#include "dense/gated_mlp_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  enum : bool { kTf32 = false };
  enum : int { kActivation = 1 };
  enum : bool { kActOnGate = true };
  enum : bool { kXAlongK = true };
  enum : bool { kWAlongK = true };
  enum : int { kVectorX = 8 };
  enum : int { kVectorW = 8 };
  enum : int { kVectorZ = 8 };
  enum : bool { kTailK = false };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 128 };
  enum : int { kBlockK = 32 };
  enum : int { kWarpsM = 2 };
  enum : int { kWarpsN = 2 };
  enum : int { kThreads = 128 };
  enum : int { kStages = 3 };
  enum : int { kGroup = 8 };
  enum : bool { kPersistent = false };
  enum : int { kMinBlocks = 1 };
};
static_assert(gated_mlp_sm80_smem_bytes<Config> == 54272, "host and device disagree about shared memory");
}  // namespace hstu

// gated_mlp dtype=bf16 n=2048 k=512 activation=1 activate_gate=1 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_out=8 allow_tf32=0 m=65536
// gated_mlp_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2
// 26 lines, those above but for
  enum : int { kBlockK = 64 };
  enum : int { kMinBlocks = 2 };
static_assert(gated_mlp_sm80_smem_bytes<Config> == 103424, "host and device disagree about shared memory");

// gated_mlp dtype=f16 n=2048 k=512 activation=3 activate_gate=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_out=8 allow_tf32=0 m=4096
// gated_mlp_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=1
// 26 lines, those above but for
  using Element = f16;
  enum : int { kActivation = 3 };
  enum : bool { kActOnGate = false };
  enum : bool { kXAlongK = false };
  enum : bool { kWAlongK = false };

// gated_mlp dtype=f16 n=2048 k=512 activation=3 activate_gate=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_out=8 allow_tf32=0 m=4096
// gated_mlp_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2
// 26 lines, those above but for
  using Element = f16;
  enum : int { kActivation = 3 };
  enum : bool { kActOnGate = false };
  enum : bool { kXAlongK = false };
  enum : bool { kWAlongK = false };
  enum : int { kBlockK = 64 };
  enum : int { kMinBlocks = 2 };
static_assert(gated_mlp_sm80_smem_bytes<Config> == 103424, "host and device disagree about shared memory");

// gated_mlp dtype=bf16 n=77 k=33 activation=4 activate_gate=0 x_transposed=0 weight_transposed=1 vector_x=0 vector_w=0 vector_out=1 allow_tf32=0 m=128
// gated_mlp_sm80 sm_80 block_m=32 block_n=64 block_k=32 warps_m=2 warps_n=1 stages=3 group=8 min_blocks=2
// gated_mlp_sm80 sm_90a block_m=32 block_n=64 block_k=32 warps_m=2 warps_n=1 stages=3 group=8 min_blocks=2
// 26 lines, those above but for
  enum : int { kActivation = 4 };
  enum : bool { kActOnGate = false };
  enum : int { kVectorX = 0 };
  enum : int { kVectorW = 0 };
  enum : int { kVectorZ = 1 };
  enum : bool { kTailK = true };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 64 };
  enum : int { kMinBlocks = 2 };
static_assert(gated_mlp_sm80_smem_bytes<Config> == 20992, "host and device disagree about shared memory");

// gated_mlp dtype=f32 n=512 k=256 activation=3 activate_gate=0 x_transposed=0 weight_transposed=1 vector_x=4 vector_w=4 vector_out=4 allow_tf32=0 m=4096
// gated_mlp_sm80 sm_80 block_m=64 block_n=64 block_k=32 warps_m=4 warps_n=1 stages=3 group=8 min_blocks=2
// gated_mlp_sm80 sm_90a block_m=64 block_n=64 block_k=32 warps_m=4 warps_n=1 stages=3 group=8 min_blocks=2
// 26 lines, those above but for
  using Element = float;
  enum : int { kActivation = 3 };
  enum : bool { kActOnGate = false };
  enum : int { kVectorX = 4 };
  enum : int { kVectorW = 4 };
  enum : int { kVectorZ = 4 };
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsM = 4 };
  enum : int { kWarpsN = 1 };
  enum : int { kMinBlocks = 2 };
static_assert(gated_mlp_sm80_smem_bytes<Config> == 59392, "host and device disagree about shared memory");

// gated_mlp dtype=f32 n=512 k=256 activation=1 activate_gate=1 x_transposed=0 weight_transposed=0 vector_x=4 vector_w=4 vector_out=4 allow_tf32=1 m=64
// gated_mlp_sm80 sm_80 block_m=32 block_n=64 block_k=32 warps_m=2 warps_n=1 stages=3 group=8 min_blocks=2
// gated_mlp_sm80 sm_90a block_m=32 block_n=64 block_k=32 warps_m=2 warps_n=1 stages=3 group=8 min_blocks=2
// 26 lines, those above but for
  using Element = float;
  enum : bool { kTf32 = true };
  enum : bool { kWAlongK = false };
  enum : int { kVectorX = 4 };
  enum : int { kVectorW = 4 };
  enum : int { kVectorZ = 4 };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 64 };
  enum : int { kMinBlocks = 2 };
static_assert(gated_mlp_sm80_smem_bytes<Config> == 41984, "host and device disagree about shared memory");

// gated_mlp dtype=bf16 n=1024 k=512 activation=1 activate_gate=1 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_out=16 allow_tf32=0 out_dtype=e4m3 m=65536
// gated_mlp_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=1
// 27 lines, those above but for
  using Fp8 = e4m3;

// gated_mlp dtype=bf16 n=1024 k=512 activation=1 activate_gate=1 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_out=16 allow_tf32=0 out_dtype=e4m3 m=65536
// gated_mlp_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 min_blocks=2
// 27 lines, those above but for
  using Fp8 = e4m3;
  enum : int { kBlockK = 64 };
  enum : int { kMinBlocks = 2 };
static_assert(gated_mlp_sm80_smem_bytes<Config> == 103424, "host and device disagree about shared memory");

// gated_mlp dtype=f32 n=500 k=256 activation=4 activate_gate=0 x_transposed=0 weight_transposed=0 vector_x=4 vector_w=4 vector_out=1 allow_tf32=0 out_dtype=e5m2 m=4096
// gated_mlp_sm80 sm_80 block_m=64 block_n=64 block_k=32 warps_m=4 warps_n=1 stages=3 group=8 min_blocks=2
// gated_mlp_sm80 sm_90a block_m=64 block_n=64 block_k=32 warps_m=4 warps_n=1 stages=3 group=8 min_blocks=2
// 27 lines, those above but for
  using Element = float;
  enum : int { kActivation = 4 };
  enum : bool { kActOnGate = false };
  enum : bool { kWAlongK = false };
  enum : int { kVectorX = 4 };
  enum : int { kVectorW = 4 };
  enum : int { kVectorZ = 1 };
  using Fp8 = e5m2;
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsM = 4 };
  enum : int { kWarpsN = 1 };
  enum : int { kMinBlocks = 2 };
static_assert(gated_mlp_sm80_smem_bytes<Config> == 59392, "host and device disagree about shared memory");

