// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=2048 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "dense/addmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };
  enum : bool { kActivatesPart = false };
  enum : bool { kSplitColumns = false };
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
static_assert(addmm_sm90_smem_bytes<Config> == 230736, "host and device disagree about shared memory");
}  // namespace hstu

// addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16384
// addmm_sm90 sm_90a block_m=128 block_n=128 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 128 };
  enum : int { kStages = 5 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kBoxes = 4 };
static_assert(addmm_sm90_smem_bytes<Config> == 229536, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=512 bias=2 bias_dtype=bf16 activation=0 act_columns=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kXAlongK = false };
static_assert(addmm_sm90_smem_bytes<Config> == 229648, "host and device disagree about shared memory");

// addmm dtype=bf16 n=2048 k=2048 bias=1 bias_dtype=f32 activation=3 act_columns=2048 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm90 sm_90a block_m=128 block_n=192 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  using Bias = float;
  enum : int { kActivation = 3 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 192 };
  enum : int { kStages = 4 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
static_assert(addmm_sm90_smem_bytes<Config> == 198352, "host and device disagree about shared memory");

// addmm dtype=f16 n=2048 k=512 bias=1 bias_dtype=f16 activation=3 act_columns=500 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kActivation = 3 };
  enum : bool { kActivatesPart = true };

// addmm dtype=f16 n=1024 k=1536 bias=2 bias_dtype=f16 activation=4 act_columns=1000 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm90 sm_90a block_m=128 block_n=128 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 4 };
  enum : bool { kActivatesPart = true };
  enum : int { kBlockM = 128 };
  enum : int { kStages = 5 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kBoxes = 4 };
static_assert(addmm_sm90_smem_bytes<Config> == 229536, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=2048 bias=2 bias_dtype=bf16 activation=3 act_columns=100 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_sm90 sm_90a block_m=64 block_n=64 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  enum : int { kBias = 2 };
  enum : int { kActivation = 3 };
  enum : bool { kActivatesPart = true };
  enum : int { kBlockN = 64 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kBoxes = 1 };
static_assert(addmm_sm90_smem_bytes<Config> == 147664, "host and device disagree about shared memory");

// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=3 act_columns=500 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=64 z_dtype=e4m3 m=65536
// addmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 26 lines, those above but for
  enum : int { kActivation = 3 };
  enum : bool { kActivatesPart = true };
  enum : bool { kSplitColumns = true };
  using Fp8 = e4m3;

// addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=0 z_dtype=e5m2 m=65536
// addmm_sm90 sm_90a block_m=128 block_n=128 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 26 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  using Fp8 = e5m2;
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 128 };
  enum : int { kStages = 5 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kBoxes = 4 };
static_assert(addmm_sm90_smem_bytes<Config> == 229536, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=512 bias=1 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_sm90 sm_90a block_m=64 block_n=64 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  using Bias = float;
  enum : int { kBlockN = 64 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kBoxes = 1 };
static_assert(addmm_sm90_smem_bytes<Config> == 148240, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=65536 bias=0 bias_dtype=none activation=0 act_columns=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=512
// addmm_sm90 sm_90a block_m=64 block_n=64 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  enum : int { kBias = 0 };
  enum : int { kActivation = 0 };
  enum : bool { kXAlongK = false };
  enum : int { kBlockN = 64 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kBoxes = 1 };
static_assert(addmm_sm90_smem_bytes<Config> == 147600, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=1536 bias=3 bias_dtype=bf16 activation=0 act_columns=0 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm90 sm_90a block_m=128 block_n=128 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  enum : int { kBias = 3 };
  enum : int { kActivation = 0 };
  enum : int { kBlockM = 128 };
  enum : int { kStages = 5 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kBoxes = 4 };
static_assert(addmm_sm90_smem_bytes<Config> == 230688, "host and device disagree about shared memory");

// addmm dtype=f16 n=2048 k=512 bias=3 bias_dtype=f32 activation=3 act_columns=500 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=64 m=65536
// addmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  using Element = f16;
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 3 };
  enum : bool { kActivatesPart = true };
  enum : bool { kSplitColumns = true };
  enum : bool { kWAlongK = true };
static_assert(addmm_sm90_smem_bytes<Config> == 230800, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=512 bias=3 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_sm90 sm_90a block_m=64 block_n=64 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kBlockN = 64 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kBoxes = 1 };
static_assert(addmm_sm90_smem_bytes<Config> == 148304, "host and device disagree about shared memory");

// addmm dtype=f16 n=4096 k=4096 bias=3 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=64
// addmm_sm90 sm_90a block_m=64 block_n=64 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 3 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockN = 64 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kBoxes = 1 };
static_assert(addmm_sm90_smem_bytes<Config> == 148304, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=1536 bias=3 bias_dtype=bf16 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=0 z_dtype=e4m3 m=65536
// addmm_sm90 sm_90a block_m=128 block_n=128 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
// 26 lines, those above but for
  enum : int { kBias = 3 };
  using Fp8 = e4m3;
  enum : int { kBlockM = 128 };
  enum : int { kStages = 5 };
  enum : bool { kResident = false };
  enum : int { kSlices = 0 };
  enum : int { kBoxes = 4 };
static_assert(addmm_sm90_smem_bytes<Config> == 230688, "host and device disagree about shared memory");

// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=64 m=65536
// addmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
// 25 lines, those above but for
  enum : bool { kSplitColumns = true };

