// group_norm dtype=bf16 weight_dtype=bf16 has_weight=1 dim=512 groups=4 vector=8 rows=524288
// group_norm_sm80 sm_80 threads=64 threads_per_row=8 rows_per_thread=1 weights=0
// group_norm_sm80 sm_90a threads=64 threads_per_row=8 rows_per_thread=1 weights=0
#include "norm/group_norm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  enum : bool { kHasWeight = true };
  enum : bool { kHasBias = true };
  using Fp8 = e4m3;
  enum : int { kScaling = 0 };
  using Output = tile::NormOnly;
  enum : bool { kGroupNorm = true };
  enum : bool { kCentred = true };
  enum : int { kDim = 128 };
  enum : int { kGroups = 4 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 64 };
  enum : int { kThreadsPerRow = 8 };
  enum : int { kRowsPerThread = 1 };
  enum : int { kWeights = 0 };
  enum : int { kMinBlocks = 1 };
};
static_assert(group_norm_smem_bytes<Config> == 0, "host and device disagree about shared memory");
}  // namespace hstu

// group_norm dtype=f16 weight_dtype=none has_weight=0 dim=99 groups=3 vector=1 rows=1024
// group_norm_sm80 sm_80 threads=64 threads_per_row=16 rows_per_thread=1 weights=0
// group_norm_sm80 sm_90a threads=64 threads_per_row=16 rows_per_thread=1 weights=0
// 23 lines, those above but for
  using Element = f16;
  using Weight = f16;
  enum : bool { kHasWeight = false };
  enum : bool { kHasBias = false };
  enum : int { kDim = 33 };
  enum : int { kGroups = 3 };
  enum : int { kVector = 1 };
  enum : int { kThreadsPerRow = 16 };

