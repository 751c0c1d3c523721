// jagged_reduce_sum dtype=bf16 out_dtype=bf16 offset_dtype=i64 dim=512 vector=8 batch=512 rows=524288
// jagged_reduce_sum_sm80 sm_80 threads=1024 unroll=8 lanes=16
// jagged_reduce_sum_sm80 sm_90a threads=1024 unroll=8 lanes=16
#include "jagged/jagged_reduce_sum_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Result = bf16;
  using Offset = i64;
  enum : int { kDim = 512 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 1024 };
  enum : int { kUnroll = 8 };
  enum : int { kLanes = 16 };
  enum : int { kMinBlocks = 1 };
};
static_assert(jagged_reduce_sum_sm80_smem_bytes<Config> == 32768, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_reduce_sum dtype=f32 out_dtype=f32 offset_dtype=i32 dim=33 vector=1 batch=32 rows=1024
// jagged_reduce_sum_sm80 sm_80 threads=128 unroll=8 lanes=64
// jagged_reduce_sum_sm80 sm_90a threads=128 unroll=8 lanes=64
// 15 lines, those above but for
  using Element = float;
  using Result = float;
  using Offset = i32;
  enum : int { kDim = 33 };
  enum : int { kVector = 1 };
  enum : int { kThreads = 128 };
  enum : int { kLanes = 64 };
static_assert(jagged_reduce_sum_sm80_smem_bytes<Config> == 512, "host and device disagree about shared memory");

// jagged_reduce_sum dtype=f16 out_dtype=f32 offset_dtype=i64 dim=20000 vector=4 batch=32 rows=1024
// jagged_reduce_sum_sm80 sm_80 threads=128 unroll=8 lanes=64
// jagged_reduce_sum_sm80 sm_90a threads=128 unroll=8 lanes=64
// 15 lines, those above but for
  using Element = f16;
  using Result = float;
  enum : int { kDim = 20000 };
  enum : int { kVector = 4 };
  enum : int { kThreads = 128 };
  enum : int { kLanes = 64 };
static_assert(jagged_reduce_sum_sm80_smem_bytes<Config> == 2048, "host and device disagree about shared memory");

