// fp8_amax dtype=bf16 columns=1024 vector=8 dense=1 rows=131072
// fp8_amax_sm80 sm_80 threads=512 accesses=4
// fp8_amax_sm80 sm_90a threads=512 accesses=4
#include "fp8_amax_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  static constexpr int kColumns = 1024;
  static constexpr int kVector = 8;
  static constexpr bool kDense = true;
  static constexpr int kThreads = 512;
  static constexpr int kAccesses = 4;
  static constexpr int kMinBlocks = 1;
};
static_assert(fp8_amax_sm80_smem_bytes<Config> == 64, "host and device disagree about shared memory");
}  // namespace hstu

// fp8_amax dtype=f32 columns=33 vector=1 dense=0 rows=128
// fp8_amax_sm80 sm_80 threads=512 accesses=4
// fp8_amax_sm80 sm_90a threads=512 accesses=4
#include "fp8_amax_sm80.cuh"
namespace hstu {
struct Config {
  using Element = float;
  static constexpr int kColumns = 33;
  static constexpr int kVector = 1;
  static constexpr bool kDense = false;
  static constexpr int kThreads = 512;
  static constexpr int kAccesses = 4;
  static constexpr int kMinBlocks = 1;
};
static_assert(fp8_amax_sm80_smem_bytes<Config> == 64, "host and device disagree about shared memory");
}  // namespace hstu

