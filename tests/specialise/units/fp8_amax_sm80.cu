// fp8_amax dtype=bf16 columns=1024 vector=8 dense=1 rows=131072
// fp8_amax_sm80 sm_80 threads=512 accesses=4
// fp8_amax_sm80 sm_90a threads=512 accesses=4
#include "fp8/fp8_amax_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  enum : int { kColumns = 1024 };
  enum : int { kVector = 8 };
  enum : bool { kDense = true };
  enum : int { kThreads = 512 };
  enum : int { kAccesses = 4 };
  enum : int { kMinBlocks = 1 };
};
static_assert(fp8_amax_sm80_smem_bytes<Config> == 64, "host and device disagree about shared memory");
}  // namespace hstu

// fp8_amax dtype=f32 columns=33 vector=1 dense=0 rows=128
// fp8_amax_sm80 sm_80 threads=512 accesses=4
// fp8_amax_sm80 sm_90a threads=512 accesses=4
// 13 lines, those above but for
  using Element = float;
  enum : int { kColumns = 33 };
  enum : int { kVector = 1 };
  enum : bool { kDense = false };

