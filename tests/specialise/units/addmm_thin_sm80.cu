// addmm dtype=bf16 n=512 k=2048 bias=2 bias_dtype=bf16 activation=3 act_columns=100 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_thin_sm80 sm_80 block_m=16 block_n=16 warps=8 ahead=2
// addmm_thin_sm80 sm_90a block_m=16 block_n=16 warps=8 ahead=2
#include "dense/addmm_thin_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  enum : int { kBias = 2 };
  enum : int { kActivation = 3 };
  enum : bool { kWAlongK = false };
  enum : int { kBlockM = 16 };
  enum : int { kBlockN = 16 };
  enum : int { kThreads = 256 };
  enum : int { kAhead = 2 };
  enum : int { kMinBlocks = 1 };
};
static_assert(addmm_thin_sm80_smem_bytes<Config> == 8192, "host and device disagree about shared memory");
}  // namespace hstu

// addmm dtype=bf16 n=512 k=512 bias=1 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_thin_sm80 sm_80 block_m=16 block_n=16 warps=8 ahead=2
// addmm_thin_sm80 sm_90a block_m=16 block_n=16 warps=8 ahead=2
// 16 lines, those above but for
  using Bias = float;
  enum : int { kBias = 1 };
  enum : int { kActivation = 1 };

// addmm dtype=f16 n=4096 k=1024 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=2 gather_y=0 allow_tf32=0 split=0 m=64
// addmm_thin_sm80 sm_80 block_m=32 block_n=32 warps=8 ahead=2
// 16 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 32 };
static_assert(addmm_thin_sm80_smem_bytes<Config> == 32768, "host and device disagree about shared memory");

// addmm dtype=bf16 n=512 k=512 bias=3 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16
// addmm_thin_sm80 sm_80 block_m=16 block_n=16 warps=8 ahead=2
// addmm_thin_sm80 sm_90a block_m=16 block_n=16 warps=8 ahead=2
// 16 lines, those above but for
  using Bias = float;
  enum : int { kBias = 3 };
  enum : int { kActivation = 1 };

// addmm dtype=f16 n=4096 k=4096 bias=3 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=64
// addmm_thin_sm80 sm_80 block_m=32 block_n=32 warps=8 ahead=2
// 16 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kBias = 3 };
  enum : int { kActivation = 0 };
  enum : bool { kWAlongK = true };
  enum : int { kBlockM = 32 };
  enum : int { kBlockN = 32 };
static_assert(addmm_thin_sm80_smem_bytes<Config> == 32768, "host and device disagree about shared memory");

