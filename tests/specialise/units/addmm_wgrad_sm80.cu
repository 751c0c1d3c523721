// addmm_wgrad dtype=bf16 gradient_dtype=bf16 bias_dtype=bf16 n=2048 k=512 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=8 vector_dout=8 vector_dw=8 allow_tf32=0 m=131072
// addmm_wgrad_sm80 sm_80 block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=10 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=4 min_blocks=1
#include "dense/addmm_wgrad_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Gradient = bf16;
  using Bias = bf16;
  enum : int { kSums = 1 };
  enum : bool { kTf32 = false };
  enum : bool { kAAlongK = false };
  enum : bool { kBAlongK = false };
  enum : int { kVectorA = 8 };
  enum : int { kVectorB = 8 };
  enum : int { kVectorOut = 8 };
  enum : int { kBlockM = 256 };
  enum : int { kBlockN = 128 };
  enum : int { kBlockK = 64 };
  enum : int { kWarpsM = 4 };
  enum : int { kWarpsN = 2 };
  enum : int { kThreads = 256 };
  enum : int { kStages = 3 };
  enum : int { kGroup = 8 };
  enum : bool { kPersistent = false };
  enum : int { kMinBlocks = 1 };
};
static_assert(addmm_wgrad_sm80_smem_bytes<Config> == 147456, "host and device disagree about shared memory");
}  // namespace hstu

// addmm_wgrad dtype=bf16 gradient_dtype=f32 bias_dtype=none n=512 k=1536 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=8 vector_dout=8 vector_dw=4 allow_tf32=0 m=131072
// addmm_wgrad_sm80 sm_80 block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=4 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=5 min_blocks=1
// 26 lines, those above but for
  using Gradient = float;
  using Bias = float;
  enum : int { kSums = 0 };
  enum : int { kVectorOut = 4 };

// addmm_wgrad dtype=f16 gradient_dtype=f32 bias_dtype=f32 n=2048 k=512 transposed=1 x_along_rows=0 dout_along_rows=0 vector_x=8 vector_dout=8 vector_dw=4 allow_tf32=0 m=131072
// addmm_wgrad_sm80 sm_80 block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=10 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=4 min_blocks=1
// 26 lines, those above but for
  using Element = f16;
  using Gradient = float;
  using Bias = float;
  enum : int { kSums = 2 };
  enum : int { kVectorOut = 4 };

// addmm_wgrad dtype=bf16 gradient_dtype=bf16 bias_dtype=f32 n=4096 k=1024 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=8 vector_dout=8 vector_dw=8 allow_tf32=0 m=65536
// addmm_wgrad_sm80 sm_80 block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=3 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=1 min_blocks=1
// 26 lines, those above but for
  using Bias = float;

// addmm_wgrad dtype=f16 gradient_dtype=f16 bias_dtype=f16 n=130 k=67 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=1 vector_dout=2 vector_dw=2 allow_tf32=0 m=4096
// addmm_wgrad_sm80 sm_80 block_m=128 block_n=256 block_k=64 warps_m=2 warps_n=4 stages=3 group=8 split=16 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=128 block_n=256 block_k=64 warps_m=2 warps_n=4 stages=3 group=8 split=16 min_blocks=1
// 26 lines, those above but for
  using Element = f16;
  using Gradient = f16;
  using Bias = f16;
  enum : int { kVectorA = 1 };
  enum : int { kVectorB = 2 };
  enum : int { kVectorOut = 2 };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 256 };
  enum : int { kWarpsM = 2 };
  enum : int { kWarpsN = 4 };

// addmm_wgrad dtype=bf16 gradient_dtype=f32 bias_dtype=bf16 n=512 k=512 transposed=0 x_along_rows=1 dout_along_rows=0 vector_x=8 vector_dout=8 vector_dw=4 allow_tf32=0 m=65536
// addmm_wgrad_sm80 sm_80 block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=12 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=16 min_blocks=1
// 26 lines, those above but for
  using Gradient = float;
  enum : bool { kAAlongK = true };
  enum : int { kVectorOut = 4 };

// addmm_wgrad dtype=f16 gradient_dtype=f16 bias_dtype=none n=512 k=256 transposed=1 x_along_rows=0 dout_along_rows=1 vector_x=8 vector_dout=4 vector_dw=8 allow_tf32=0 m=65536
// addmm_wgrad_sm80 sm_80 block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=24 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=256 block_n=128 block_k=64 warps_m=4 warps_n=2 stages=3 group=8 split=32 min_blocks=1
// 26 lines, those above but for
  using Element = f16;
  using Gradient = f16;
  using Bias = float;
  enum : int { kSums = 0 };
  enum : bool { kAAlongK = true };
  enum : int { kVectorA = 4 };

// addmm_wgrad dtype=bf16 gradient_dtype=bf16 bias_dtype=f32 n=500 k=100 transposed=0 x_along_rows=1 dout_along_rows=1 vector_x=0 vector_dout=1 vector_dw=4 allow_tf32=0 m=4096
// addmm_wgrad_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 split=10 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 split=12 min_blocks=1
// 26 lines, those above but for
  using Bias = float;
  enum : bool { kAAlongK = true };
  enum : bool { kBAlongK = true };
  enum : int { kVectorA = 0 };
  enum : int { kVectorB = 1 };
  enum : int { kVectorOut = 4 };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 64 };
  enum : int { kBlockK = 32 };
static_assert(addmm_wgrad_sm80_smem_bytes<Config> == 36864, "host and device disagree about shared memory");

// addmm_wgrad dtype=bf16 gradient_dtype=f32 bias_dtype=f16 n=500 k=100 transposed=1 x_along_rows=0 dout_along_rows=1 vector_x=2 vector_dout=0 vector_dw=1 allow_tf32=0 m=4096
// addmm_wgrad_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 split=10 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 split=12 min_blocks=1
// 26 lines, those above but for
  using Gradient = float;
  using Bias = f16;
  enum : int { kSums = 2 };
  enum : bool { kAAlongK = true };
  enum : int { kVectorA = 0 };
  enum : int { kVectorB = 2 };
  enum : int { kVectorOut = 1 };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 64 };
  enum : int { kBlockK = 32 };
static_assert(addmm_wgrad_sm80_smem_bytes<Config> == 36864, "host and device disagree about shared memory");

// addmm_wgrad dtype=f32 gradient_dtype=f32 bias_dtype=f32 n=2048 k=512 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=4 vector_dout=4 vector_dw=4 allow_tf32=0 m=65536
// addmm_wgrad_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 split=3 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 split=1 min_blocks=1
// 26 lines, those above but for
  using Element = float;
  using Gradient = float;
  using Bias = float;
  enum : int { kVectorA = 4 };
  enum : int { kVectorB = 4 };
  enum : int { kVectorOut = 4 };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 64 };
  enum : int { kBlockK = 32 };
static_assert(addmm_wgrad_sm80_smem_bytes<Config> == 73728, "host and device disagree about shared memory");

// addmm_wgrad dtype=f32 gradient_dtype=f32 bias_dtype=f32 n=512 k=512 transposed=1 x_along_rows=0 dout_along_rows=1 vector_x=4 vector_dout=4 vector_dw=4 allow_tf32=1 m=65536
// addmm_wgrad_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 split=3 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 split=4 min_blocks=1
// 26 lines, those above but for
  using Element = float;
  using Gradient = float;
  using Bias = float;
  enum : int { kSums = 2 };
  enum : bool { kTf32 = true };
  enum : bool { kAAlongK = true };
  enum : int { kVectorA = 4 };
  enum : int { kVectorB = 4 };
  enum : int { kVectorOut = 4 };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 64 };
  enum : int { kBlockK = 32 };
static_assert(addmm_wgrad_sm80_smem_bytes<Config> == 73728, "host and device disagree about shared memory");

// addmm_wgrad dtype=f32 gradient_dtype=f32 bias_dtype=bf16 n=33 k=31 transposed=0 x_along_rows=1 dout_along_rows=1 vector_x=1 vector_dout=1 vector_dw=1 allow_tf32=1 m=16
// addmm_wgrad_sm80 sm_80 block_m=32 block_n=32 block_k=32 warps_m=1 warps_n=1 stages=3 group=8 split=1 min_blocks=4
// addmm_wgrad_sm80 sm_90a block_m=32 block_n=32 block_k=32 warps_m=1 warps_n=1 stages=3 group=8 split=1 min_blocks=4
// 26 lines, those above but for
  using Element = float;
  using Gradient = float;
  enum : bool { kTf32 = true };
  enum : bool { kAAlongK = true };
  enum : bool { kBAlongK = true };
  enum : int { kVectorA = 1 };
  enum : int { kVectorB = 1 };
  enum : int { kVectorOut = 1 };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 32 };
  enum : int { kBlockK = 32 };
  enum : int { kWarpsM = 1 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 32 };
  enum : int { kMinBlocks = 4 };
static_assert(addmm_wgrad_sm80_smem_bytes<Config> == 24576, "host and device disagree about shared memory");

// addmm_wgrad dtype=f32 gradient_dtype=f32 bias_dtype=none n=100 k=40 transposed=1 x_along_rows=1 dout_along_rows=0 vector_x=0 vector_dout=4 vector_dw=2 allow_tf32=0 m=1024
// addmm_wgrad_sm80 sm_80 block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 split=4 min_blocks=1
// addmm_wgrad_sm80 sm_90a block_m=128 block_n=64 block_k=32 warps_m=4 warps_n=2 stages=3 group=8 split=4 min_blocks=1
// 26 lines, those above but for
  using Element = float;
  using Gradient = float;
  using Bias = float;
  enum : int { kSums = 0 };
  enum : bool { kBAlongK = true };
  enum : int { kVectorA = 4 };
  enum : int { kVectorB = 0 };
  enum : int { kVectorOut = 2 };
  enum : int { kBlockM = 128 };
  enum : int { kBlockN = 64 };
  enum : int { kBlockK = 32 };
static_assert(addmm_wgrad_sm80_smem_bytes<Config> == 73728, "host and device disagree about shared memory");

// addmm_wgrad dtype=bf16 gradient_dtype=bf16 bias_dtype=bf16 n=64 k=64 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=8 vector_dout=8 vector_dw=8 allow_tf32=0 m=1048576
// addmm_wgrad_sm80 sm_80 block_m=64 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=3 group=8 split=64 min_blocks=2
// 26 lines, those above but for
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsM = 2 };
  enum : int { kThreads = 128 };
  enum : int { kMinBlocks = 2 };
static_assert(addmm_wgrad_sm80_smem_bytes<Config> == 49152, "host and device disagree about shared memory");

// addmm_wgrad dtype=bf16 gradient_dtype=bf16 bias_dtype=bf16 n=64 k=64 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=8 vector_dout=8 vector_dw=8 allow_tf32=0 m=1048576
// addmm_wgrad_sm80 sm_90a block_m=64 block_n=64 block_k=64 warps_m=2 warps_n=2 stages=4 group=8 split=64 min_blocks=3
// 26 lines, those above but for
  enum : int { kBlockM = 64 };
  enum : int { kBlockN = 64 };
  enum : int { kWarpsM = 2 };
  enum : int { kThreads = 128 };
  enum : int { kStages = 4 };
  enum : int { kMinBlocks = 3 };
static_assert(addmm_wgrad_sm80_smem_bytes<Config> == 65536, "host and device disagree about shared memory");

// addmm_wgrad dtype=bf16 gradient_dtype=bf16 bias_dtype=none n=32 k=16 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=8 vector_dout=8 vector_dw=8 allow_tf32=0 m=256
// addmm_wgrad_sm80 sm_80 block_m=32 block_n=32 block_k=64 warps_m=2 warps_n=1 stages=4 group=8 split=1 min_blocks=2
// addmm_wgrad_sm80 sm_90a block_m=32 block_n=32 block_k=64 warps_m=2 warps_n=1 stages=4 group=8 split=1 min_blocks=2
// 26 lines, those above but for
  using Bias = float;
  enum : int { kSums = 0 };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 32 };
  enum : int { kWarpsM = 2 };
  enum : int { kWarpsN = 1 };
  enum : int { kThreads = 64 };
  enum : int { kStages = 4 };
  enum : int { kMinBlocks = 2 };
static_assert(addmm_wgrad_sm80_smem_bytes<Config> == 32768, "host and device disagree about shared memory");

