// softmax dtype=bf16 dim=512 log=0 zero_empty=0 vector=8 rows=524288
// softmax_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// softmax_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=0
#include "norm/softmax_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  enum : bool { kLog = false };
  enum : bool { kZeroEmpty = false };
  enum : int { kDim = 512 };
  enum : int { kGroups = 1 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 64 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kRowsPerThread = 1 };
  enum : int { kWeights = 0 };
  enum : int { kMinBlocks = 1 };
};
static_assert(softmax_smem_bytes<Config> == 0, "host and device disagree about shared memory");
}  // namespace hstu

// softmax dtype=f32 dim=781 log=1 zero_empty=1 vector=1 rows=2048
// softmax_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// softmax_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// 17 lines, those above but for
  using Element = float;
  enum : bool { kLog = true };
  enum : bool { kZeroEmpty = true };
  enum : int { kDim = 781 };
  enum : int { kVector = 1 };

// softmax dtype=bf16 dim=65536 log=0 zero_empty=1 vector=8 rows=4096
// softmax_sm80 sm_80 threads=1024 threads_per_row=1024 rows_per_thread=1 weights=0
// softmax_sm80 sm_90a threads=1024 threads_per_row=1024 rows_per_thread=1 weights=0
// 17 lines, those above but for
  enum : bool { kZeroEmpty = true };
  enum : int { kDim = 65536 };
  enum : int { kThreads = 1024 };
  enum : int { kThreadsPerRow = 1024 };
static_assert(softmax_smem_bytes<Config> == 512, "host and device disagree about shared memory");

