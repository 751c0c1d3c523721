// group_norm dtype=bf16 weight_dtype=bf16 has_weight=1 dim=512 groups=4 vector=8 rows=524288
// group_norm_sm80 sm_80 threads=64 threads_per_row=8 rows_per_thread=1 weights=0
// group_norm_sm80 sm_90a threads=64 threads_per_row=8 rows_per_thread=1 weights=0
#include "group_norm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  static constexpr bool kHasWeight = true;
  static constexpr bool kHasBias = true;
  using Fp8 = e4m3;
  static constexpr int kScaling = 0;
  using Output = tile::NormOnly;
  static constexpr bool kGroupNorm = true;
  static constexpr bool kCentred = true;
  static constexpr int kDim = 128;
  static constexpr int kGroups = 4;
  static constexpr int kVector = 8;
  static constexpr int kThreads = 64;
  static constexpr int kThreadsPerRow = 8;
  static constexpr int kRowsPerThread = 1;
  static constexpr int kWeights = 0;
  static constexpr int kMinBlocks = 1;
};
static_assert(group_norm_smem_bytes<Config> == 0, "host and device disagree about shared memory");
}  // namespace hstu

// group_norm dtype=f16 weight_dtype=none has_weight=0 dim=99 groups=3 vector=1 rows=1024
// group_norm_sm80 sm_80 threads=64 threads_per_row=16 rows_per_thread=1 weights=0
// group_norm_sm80 sm_90a threads=64 threads_per_row=16 rows_per_thread=1 weights=0
#include "group_norm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  using Weight = f16;
  static constexpr bool kHasWeight = false;
  static constexpr bool kHasBias = false;
  using Fp8 = e4m3;
  static constexpr int kScaling = 0;
  using Output = tile::NormOnly;
  static constexpr bool kGroupNorm = true;
  static constexpr bool kCentred = true;
  static constexpr int kDim = 33;
  static constexpr int kGroups = 3;
  static constexpr int kVector = 1;
  static constexpr int kThreads = 64;
  static constexpr int kThreadsPerRow = 16;
  static constexpr int kRowsPerThread = 1;
  static constexpr int kWeights = 0;
  static constexpr int kMinBlocks = 1;
};
static_assert(group_norm_smem_bytes<Config> == 0, "host and device disagree about shared memory");
}  // namespace hstu

