// addmm_wgrad dtype=bf16 gradient_dtype=none bias_dtype=bf16 n=2048 k=0 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=0 vector_dout=8 vector_dw=0 allow_tf32=0 m=131072
// addmm_dbias_sm80 sm_80 threads=256 threads_per_row=32 rows_ahead=8 split=32
// addmm_dbias_sm80 sm_90a threads=256 threads_per_row=32 rows_ahead=8 split=64
#include "dense/addmm_dbias_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Bias = bf16;
  enum : bool { kAlongK = false };
  enum : int { kVector = 8 };
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kRowsAhead = 8 };
};
static_assert(addmm_dbias_sm80_smem_bytes<Config> == 8320, "host and device disagree about shared memory");
}  // namespace hstu

// addmm_wgrad dtype=f32 gradient_dtype=none bias_dtype=f32 n=67 k=0 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=0 vector_dout=1 vector_dw=0 allow_tf32=0 m=4096
// addmm_dbias_sm80 sm_80 threads=256 threads_per_row=32 rows_ahead=8 split=64
// addmm_dbias_sm80 sm_90a threads=256 threads_per_row=32 rows_ahead=8 split=64
// 13 lines, those above but for
  using Element = float;
  using Bias = float;
  enum : int { kVector = 1 };
static_assert(addmm_dbias_sm80_smem_bytes<Config> == 1152, "host and device disagree about shared memory");

// addmm_wgrad dtype=f16 gradient_dtype=none bias_dtype=f32 n=512 k=0 transposed=0 x_along_rows=0 dout_along_rows=1 vector_x=0 vector_dout=8 vector_dw=0 allow_tf32=0 m=65536
// addmm_dbias_sm80 sm_80 threads=256 threads_per_row=32 rows_ahead=8 split=4
// addmm_dbias_sm80 sm_90a threads=256 threads_per_row=32 rows_ahead=8 split=8
// 13 lines, those above but for
  using Element = f16;
  using Bias = float;
  enum : bool { kAlongK = true };
static_assert(addmm_dbias_sm80_smem_bytes<Config> == 128, "host and device disagree about shared memory");

// addmm_wgrad dtype=bf16 gradient_dtype=f32 bias_dtype=f16 n=100 k=0 transposed=0 x_along_rows=0 dout_along_rows=1 vector_x=8 vector_dout=0 vector_dw=4 allow_tf32=0 m=256
// addmm_dbias_sm80 sm_80 threads=256 threads_per_row=32 rows_ahead=8 split=4
// addmm_dbias_sm80 sm_90a threads=256 threads_per_row=32 rows_ahead=8 split=4
// 13 lines, those above but for
  using Bias = f16;
  enum : bool { kAlongK = true };
  enum : int { kVector = 0 };
static_assert(addmm_dbias_sm80_smem_bytes<Config> == 128, "host and device disagree about shared memory");

// addmm_wgrad dtype=f16 gradient_dtype=none bias_dtype=f16 n=20 k=0 transposed=0 x_along_rows=0 dout_along_rows=0 vector_x=0 vector_dout=4 vector_dw=0 allow_tf32=0 m=16
// addmm_dbias_sm80 sm_80 threads=256 threads_per_row=8 rows_ahead=8 split=1
// addmm_dbias_sm80 sm_90a threads=256 threads_per_row=8 rows_ahead=8 split=1
// 13 lines, those above but for
  using Element = f16;
  using Bias = f16;
  enum : int { kVector = 4 };
  enum : int { kThreadsPerRow = 8 };
static_assert(addmm_dbias_sm80_smem_bytes<Config> == 4224, "host and device disagree about shared memory");

