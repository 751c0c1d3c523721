// softmax dtype=bf16 dim=512 log=0 zero_empty=0 vector=8 rows=524288
// softmax_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// softmax_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=0
#include "softmax_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  static constexpr bool kLog = false;
  static constexpr bool kZeroEmpty = false;
  static constexpr int kDim = 512;
  static constexpr int kGroups = 1;
  static constexpr int kVector = 8;
  static constexpr int kThreads = 64;
  static constexpr int kThreadsPerRow = 32;
  static constexpr int kRowsPerThread = 1;
  static constexpr int kWeights = 0;
  static constexpr int kMinBlocks = 1;
};
static_assert(softmax_smem_bytes<Config> == 0, "host and device disagree about shared memory");
}  // namespace hstu

// softmax dtype=f32 dim=781 log=1 zero_empty=1 vector=1 rows=2048
// softmax_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// softmax_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=0
#include "softmax_sm80.cuh"
namespace hstu {
struct Config {
  using Element = float;
  static constexpr bool kLog = true;
  static constexpr bool kZeroEmpty = true;
  static constexpr int kDim = 781;
  static constexpr int kGroups = 1;
  static constexpr int kVector = 1;
  static constexpr int kThreads = 64;
  static constexpr int kThreadsPerRow = 32;
  static constexpr int kRowsPerThread = 1;
  static constexpr int kWeights = 0;
  static constexpr int kMinBlocks = 1;
};
static_assert(softmax_smem_bytes<Config> == 0, "host and device disagree about shared memory");
}  // namespace hstu

// softmax dtype=bf16 dim=65536 log=0 zero_empty=1 vector=8 rows=4096
// softmax_sm80 sm_80 threads=1024 threads_per_row=1024 rows_per_thread=1 weights=0
// softmax_sm80 sm_90a threads=1024 threads_per_row=1024 rows_per_thread=1 weights=0
#include "softmax_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  static constexpr bool kLog = false;
  static constexpr bool kZeroEmpty = true;
  static constexpr int kDim = 65536;
  static constexpr int kGroups = 1;
  static constexpr int kVector = 8;
  static constexpr int kThreads = 1024;
  static constexpr int kThreadsPerRow = 1024;
  static constexpr int kRowsPerThread = 1;
  static constexpr int kWeights = 0;
  static constexpr int kMinBlocks = 1;
};
static_assert(softmax_smem_bytes<Config> == 512, "host and device disagree about shared memory");
}  // namespace hstu

