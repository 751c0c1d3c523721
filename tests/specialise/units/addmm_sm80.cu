// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=2048 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
#include "dense/addmm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };
  enum : bool { kTf32 = false };
  enum : bool { kXAlongK = true };
  enum : bool { kWAlongK = false };
  enum : int { kVectorX = 8 };
  enum : int { kVectorW = 8 };
  enum : int { kVectorZ = 8 };
  enum : bool { kGatherY = false };
  enum : bool { kTailK = false };
  enum : bool { kSplitColumns = false };
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
static_assert(addmm_sm80_smem_bytes<Config> == 74752, "host and device disagree about shared memory");
}  // namespace hstu

// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=2048 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(addmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16384
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };

// addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16384
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(addmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// addmm dtype=bf16 n=130 k=67 bias=1 bias_dtype=f32 activation=1 act_columns=65 x_transposed=0 weight_transposed=0 vector_x=1 vector_w=2 vector_z=2 gather_y=0 allow_tf32=0 split=0 m=128
// addmm_sm80 sm_80 block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// addmm_sm80 sm_90a block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// 29 lines, those above but for
  using Bias = float;
  enum : int { kVectorX = 1 };
  enum : int { kVectorW = 2 };
  enum : int { kVectorZ = 2 };
  enum : bool { kTailK = true };
  enum : int { kBlockM = 16 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsM = 1 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 32 };
  enum : int { kMinBlocks = 4 };
static_assert(addmm_sm80_smem_bytes<Config> == 25856, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=512 bias=2 bias_dtype=bf16 activation=0 act_columns=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kXAlongK = false };

// addmm dtype=bf16 n=512 k=512 bias=2 bias_dtype=bf16 activation=0 act_columns=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kXAlongK = false };
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(addmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// addmm dtype=f16 n=500 k=100 bias=2 bias_dtype=f16 activation=1 act_columns=500 x_transposed=0 weight_transposed=1 vector_x=0 vector_w=0 vector_z=4 gather_y=1 allow_tf32=0 split=0 m=4096
// addmm_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// addmm_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : bool { kWAlongK = true };
  enum : int { kVectorX = 0 };
  enum : int { kVectorW = 0 };
  enum : int { kVectorZ = 4 };
  enum : bool { kGatherY = true };
  enum : bool { kTailK = true };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsM = 4 };
  enum : int { kThreads = 256 };
  enum : int { kStages = 3 };
  enum : int { kMinBlocks = 1 };
static_assert(addmm_sm80_smem_bytes<Config> == 47104, "host and device disagree about shared memory");

// addmm dtype=f32 n=2048 k=512 bias=1 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=4 vector_w=4 vector_z=4 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// addmm_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// 29 lines, those above but for
  using Element = float;
  using Bias = float;
  enum : int { kVectorX = 4 };
  enum : int { kVectorW = 4 };
  enum : int { kVectorZ = 4 };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsM = 4 };
  enum : int { kThreads = 256 };
  enum : int { kStages = 3 };
  enum : int { kMinBlocks = 1 };
static_assert(addmm_sm80_smem_bytes<Config> == 94208, "host and device disagree about shared memory");

// addmm dtype=f32 n=33 k=31 bias=2 bias_dtype=f32 activation=0 act_columns=0 x_transposed=1 weight_transposed=1 vector_x=1 vector_w=1 vector_z=1 gather_y=1 allow_tf32=1 split=0 m=8
// addmm_sm80 sm_80 block_m=32 block_n=32 block_k=32 warps_m=1 warps_n=1 stages=2 group=8 persistent=0 min_blocks=4
// addmm_sm80 sm_90a block_m=32 block_n=32 block_k=32 warps_m=1 warps_n=1 stages=2 group=8 persistent=0 min_blocks=4
// 29 lines, those above but for
  using Element = float;
  using Bias = float;
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kTf32 = true };
  enum : bool { kXAlongK = false };
  enum : bool { kWAlongK = true };
  enum : int { kVectorX = 1 };
  enum : int { kVectorW = 1 };
  enum : int { kVectorZ = 1 };
  enum : bool { kGatherY = true };
  enum : bool { kTailK = true };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 32 };
  enum : int { kWarpsM = 1 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 32 };
  enum : int { kStages = 2 };
  enum : int { kMinBlocks = 4 };
static_assert(addmm_sm80_smem_bytes<Config> == 18944, "host and device disagree about shared memory");

// addmm dtype=bf16 n=2048 k=2048 bias=1 bias_dtype=f32 activation=3 act_columns=2048 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Bias = float;
  enum : int { kActivation = 3 };
  enum : bool { kWAlongK = true };

// addmm dtype=bf16 n=2048 k=2048 bias=1 bias_dtype=f32 activation=3 act_columns=2048 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Bias = float;
  enum : int { kActivation = 3 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(addmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// addmm dtype=f16 n=2048 k=512 bias=1 bias_dtype=f16 activation=3 act_columns=500 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kActivation = 3 };

// addmm dtype=f16 n=2048 k=512 bias=1 bias_dtype=f16 activation=3 act_columns=500 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kActivation = 3 };
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(addmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// addmm dtype=f16 n=1024 k=1536 bias=2 bias_dtype=f16 activation=4 act_columns=1000 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 4 };

// addmm dtype=f16 n=1024 k=1536 bias=2 bias_dtype=f16 activation=4 act_columns=1000 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 4 };
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(addmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// addmm dtype=f32 n=2048 k=512 bias=2 bias_dtype=f32 activation=3 act_columns=2048 x_transposed=0 weight_transposed=0 vector_x=4 vector_w=4 vector_z=4 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// addmm_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// 29 lines, those above but for
  using Element = float;
  using Bias = float;
  enum : int { kBias = 2 };
  enum : int { kActivation = 3 };
  enum : int { kVectorX = 4 };
  enum : int { kVectorW = 4 };
  enum : int { kVectorZ = 4 };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsM = 4 };
  enum : int { kThreads = 256 };
  enum : int { kStages = 3 };
  enum : int { kMinBlocks = 1 };
static_assert(addmm_sm80_smem_bytes<Config> == 94208, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=2048 bias=2 bias_dtype=bf16 activation=3 act_columns=100 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_sm80 sm_80 block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// addmm_sm80 sm_90a block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// 29 lines, those above but for
  enum : int { kBias = 2 };
  enum : int { kActivation = 3 };
  enum : int { kBlockM = 16 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsM = 1 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 32 };
  enum : int { kMinBlocks = 4 };
static_assert(addmm_sm80_smem_bytes<Config> == 25856, "host and device disagree about shared memory");

// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=3 act_columns=500 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=64 z_dtype=e4m3 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 30 lines, those above but for
  enum : int { kActivation = 3 };
  enum : bool { kSplitColumns = true };
  using Fp8 = e4m3;

// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=3 act_columns=500 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=64 z_dtype=e4m3 m=65536
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 persistent=0 min_blocks=2
// 30 lines, those above but for
  enum : int { kActivation = 3 };
  enum : bool { kSplitColumns = true };
  using Fp8 = e4m3;
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(addmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=0 z_dtype=e5m2 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 30 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  using Fp8 = e5m2;

// addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=0 z_dtype=e5m2 m=65536
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 persistent=0 min_blocks=2
// 30 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  using Fp8 = e5m2;
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(addmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// addmm dtype=f32 n=2048 k=512 bias=2 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=4 vector_w=4 vector_z=1 gather_y=0 allow_tf32=0 split=1 z_dtype=e4m3 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// addmm_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// 30 lines, those above but for
  using Element = float;
  using Bias = float;
  enum : int { kBias = 2 };
  enum : int { kVectorX = 4 };
  enum : int { kVectorW = 4 };
  enum : int { kVectorZ = 1 };
  enum : bool { kSplitColumns = true };
  using Fp8 = e4m3;
  enum : int { kBlockN = 64 };
  enum : int { kWarpsM = 4 };
  enum : int { kThreads = 256 };
  enum : int { kStages = 3 };
  enum : int { kMinBlocks = 1 };
static_assert(addmm_sm80_smem_bytes<Config> == 94208, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=512 bias=1 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_sm80 sm_80 block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// addmm_sm80 sm_90a block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// 29 lines, those above but for
  using Bias = float;
  enum : int { kBlockM = 16 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsM = 1 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 32 };
  enum : int { kMinBlocks = 4 };
static_assert(addmm_sm80_smem_bytes<Config> == 25856, "host and device disagree about shared memory");

// addmm dtype=f16 n=4096 k=1024 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=2 gather_y=0 allow_tf32=0 split=0 m=64
// addmm_sm80 sm_90a block_m=32 block_n=32 block_k=64 warps_m=2 warps_n=1 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kVectorZ = 2 };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 64 };
static_assert(addmm_sm80_smem_bytes<Config> == 35328, "host and device disagree about shared memory");

// addmm dtype=f16 n=4096 k=1024 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=2 gather_y=0 allow_tf32=0 split=0 m=64
// addmm_sm80 sm_80 block_m=32 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kVectorZ = 2 };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 64 };
  enum : int { kBlockK = 64 };
static_assert(addmm_sm80_smem_bytes<Config> == 54272, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=65536 bias=0 bias_dtype=none activation=0 act_columns=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=512
// addmm_sm80 sm_90a block_m=32 block_n=32 block_k=64 warps_m=2 warps_n=1 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  enum : int { kBias = 0 };
  enum : int { kActivation = 0 };
  enum : bool { kXAlongK = false };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 64 };
static_assert(addmm_sm80_smem_bytes<Config> == 35328, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=65536 bias=0 bias_dtype=none activation=0 act_columns=0 x_transposed=1 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=512
// addmm_sm80 sm_80 block_m=32 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  enum : int { kBias = 0 };
  enum : int { kActivation = 0 };
  enum : bool { kXAlongK = false };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 64 };
  enum : int { kBlockK = 64 };
static_assert(addmm_sm80_smem_bytes<Config> == 54272, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=1536 bias=3 bias_dtype=bf16 activation=0 act_columns=0 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  enum : int { kBias = 3 };
  enum : int { kActivation = 0 };

// addmm dtype=bf16 n=512 k=1536 bias=3 bias_dtype=bf16 activation=0 act_columns=0 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  enum : int { kBias = 3 };
  enum : int { kActivation = 0 };
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(addmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// addmm dtype=f16 n=2048 k=512 bias=3 bias_dtype=f32 activation=3 act_columns=500 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=64 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 3 };
  enum : bool { kWAlongK = true };
  enum : bool { kSplitColumns = true };

// addmm dtype=bf16 n=500 k=100 bias=3 bias_dtype=bf16 activation=1 act_columns=500 x_transposed=0 weight_transposed=1 vector_x=0 vector_w=0 vector_z=4 gather_y=1 allow_tf32=0 split=0 m=4096
// addmm_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// addmm_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// 29 lines, those above but for
  enum : int { kBias = 3 };
  enum : bool { kWAlongK = true };
  enum : int { kVectorX = 0 };
  enum : int { kVectorW = 0 };
  enum : int { kVectorZ = 4 };
  enum : bool { kGatherY = true };
  enum : bool { kTailK = true };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsM = 4 };
  enum : int { kThreads = 256 };
  enum : int { kStages = 3 };
  enum : int { kMinBlocks = 1 };
static_assert(addmm_sm80_smem_bytes<Config> == 47104, "host and device disagree about shared memory");

// addmm dtype=f32 n=2048 k=512 bias=3 bias_dtype=f32 activation=3 act_columns=2048 x_transposed=0 weight_transposed=0 vector_x=4 vector_w=4 vector_z=4 gather_y=0 allow_tf32=0 split=0 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// addmm_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 persistent=0 min_blocks=1
// 29 lines, those above but for
  using Element = float;
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 3 };
  enum : int { kVectorX = 4 };
  enum : int { kVectorW = 4 };
  enum : int { kVectorZ = 4 };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsM = 4 };
  enum : int { kThreads = 256 };
  enum : int { kStages = 3 };
  enum : int { kMinBlocks = 1 };
static_assert(addmm_sm80_smem_bytes<Config> == 94208, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=512 bias=3 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_sm80 sm_80 block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// addmm_sm80 sm_90a block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// 29 lines, those above but for
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kBlockM = 16 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsM = 1 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 32 };
  enum : int { kMinBlocks = 4 };
static_assert(addmm_sm80_smem_bytes<Config> == 25856, "host and device disagree about shared memory");

// addmm dtype=f16 n=4096 k=4096 bias=3 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=64
// addmm_sm80 sm_90a block_m=32 block_n=32 block_k=64 warps_m=2 warps_n=1 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 3 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 64 };
static_assert(addmm_sm80_smem_bytes<Config> == 35328, "host and device disagree about shared memory");

// addmm dtype=f16 n=4096 k=4096 bias=3 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=64
// addmm_sm80 sm_80 block_m=32 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 3 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 64 };
  enum : int { kBlockK = 64 };
static_assert(addmm_sm80_smem_bytes<Config> == 54272, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=1536 bias=3 bias_dtype=bf16 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=0 z_dtype=e4m3 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 30 lines, those above but for
  enum : int { kBias = 3 };
  using Fp8 = e4m3;

// addmm dtype=bf16 n=130 k=67 bias=3 bias_dtype=bf16 activation=1 act_columns=65 x_transposed=0 weight_transposed=0 vector_x=1 vector_w=2 vector_z=1 gather_y=0 allow_tf32=0 split=1 m=128
// addmm_sm80 sm_80 block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// addmm_sm80 sm_90a block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// 29 lines, those above but for
  enum : int { kBias = 3 };
  enum : int { kVectorX = 1 };
  enum : int { kVectorW = 2 };
  enum : int { kVectorZ = 1 };
  enum : bool { kTailK = true };
  enum : bool { kSplitColumns = true };
  enum : int { kBlockM = 16 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsM = 1 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 32 };
  enum : int { kMinBlocks = 4 };
static_assert(addmm_sm80_smem_bytes<Config> == 25856, "host and device disagree about shared memory");

// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=64 m=65536
// addmm_sm80 sm_80 block_m=128 block_n=128 block_k=32 warps_m=2 warps_n=2 stages=4 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  enum : bool { kSplitColumns = true };

// addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=64 m=65536
// addmm_sm80 sm_90a block_m=128 block_n=128 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 persistent=0 min_blocks=2
// 29 lines, those above but for
  enum : bool { kSplitColumns = true };
  enum : int { kBlockK = 64 };
  enum : int { kStages = 3 };
static_assert(addmm_sm80_smem_bytes<Config> == 107520, "host and device disagree about shared memory");

// addmm dtype=f16 n=130 k=67 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=0 vector_x=1 vector_w=2 vector_z=1 gather_y=0 allow_tf32=0 split=1 m=128
// addmm_sm80 sm_80 block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// addmm_sm80 sm_90a block_m=16 block_n=32 block_k=64 warps_m=1 warps_n=1 stages=4 group=8 persistent=0 min_blocks=4
// 29 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 0 };
  enum : int { kVectorX = 1 };
  enum : int { kVectorW = 2 };
  enum : int { kVectorZ = 1 };
  enum : bool { kTailK = true };
  enum : bool { kSplitColumns = true };
  enum : int { kBlockM = 16 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsM = 1 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 32 };
  enum : int { kMinBlocks = 4 };
static_assert(addmm_sm80_smem_bytes<Config> == 25856, "host and device disagree about shared memory");

