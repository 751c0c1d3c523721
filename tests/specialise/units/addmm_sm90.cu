// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=2048 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "addmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  static constexpr int kBias = 1;
  static constexpr int kActivation = 1;
  static constexpr bool kSplitColumns = false;
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
static_assert(addmm_sm90_smem_bytes<Config> == 230736, "host and device disagree about shared memory");
}  // namespace hstu

// addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16384
// addmm_sm90 sm_90a block_m=128 block_n=128 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
#include "addmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Bias = f16;
  static constexpr int kBias = 2;
  static constexpr int kActivation = 0;
  static constexpr bool kSplitColumns = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = true;
  static constexpr int kBlockM = 128;
  static constexpr int kBlockN = 128;
  static constexpr int kStages = 5;
  static constexpr bool kPingPong = true;
  static constexpr bool kResident = false;
  static constexpr int kSlices = 0;
  static constexpr int kCluster = 1;
  static constexpr int kGroup = 8;
  static constexpr int kBoxes = 4;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(addmm_sm90_smem_bytes<Config> == 229536, "host and device disagree about shared memory");
}  // namespace hstu

// addmm dtype=bf16 n=512 k=512 bias=2 bias_dtype=bf16 activation=0 act_columns=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "addmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  static constexpr int kBias = 2;
  static constexpr int kActivation = 0;
  static constexpr bool kSplitColumns = false;
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
  static constexpr int kBoxes = 2;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(addmm_sm90_smem_bytes<Config> == 229648, "host and device disagree about shared memory");
}  // namespace hstu

// addmm dtype=bf16 n=512 k=512 bias=1 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_sm90 sm_90a block_m=64 block_n=64 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
#include "addmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = float;
  static constexpr int kBias = 1;
  static constexpr int kActivation = 1;
  static constexpr bool kSplitColumns = false;
  static constexpr bool kXAlongK = true;
  static constexpr bool kWAlongK = false;
  static constexpr int kBlockM = 64;
  static constexpr int kBlockN = 64;
  static constexpr int kStages = 8;
  static constexpr bool kPingPong = true;
  static constexpr bool kResident = false;
  static constexpr int kSlices = 0;
  static constexpr int kCluster = 1;
  static constexpr int kGroup = 8;
  static constexpr int kBoxes = 1;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(addmm_sm90_smem_bytes<Config> == 148240, "host and device disagree about shared memory");
}  // namespace hstu

// addmm dtype=bf16 n=512 k=65536 bias=0 bias_dtype=none activation=0 act_columns=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=512
// addmm_sm90 sm_90a block_m=64 block_n=64 ping_pong=1 resident=0 cluster=1 group=8 boxes=2
#include "addmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  static constexpr int kBias = 0;
  static constexpr int kActivation = 0;
  static constexpr bool kSplitColumns = false;
  static constexpr bool kXAlongK = false;
  static constexpr bool kWAlongK = false;
  static constexpr int kBlockM = 64;
  static constexpr int kBlockN = 64;
  static constexpr int kStages = 8;
  static constexpr bool kPingPong = true;
  static constexpr bool kResident = false;
  static constexpr int kSlices = 0;
  static constexpr int kCluster = 1;
  static constexpr int kGroup = 8;
  static constexpr int kBoxes = 1;
  static constexpr int kThreads = 384;
  static constexpr int kMinBlocks = 1;
};
static_assert(addmm_sm90_smem_bytes<Config> == 147600, "host and device disagree about shared memory");
}  // namespace hstu

// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=64 m=65536
// addmm_sm90 sm_90a block_m=64 block_n=128 ping_pong=1 resident=1 cluster=1 group=8 boxes=2
#include "addmm_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  static constexpr int kBias = 1;
  static constexpr int kActivation = 1;
  static constexpr bool kSplitColumns = true;
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
static_assert(addmm_sm90_smem_bytes<Config> == 230736, "host and device disagree about shared memory");
}  // namespace hstu

