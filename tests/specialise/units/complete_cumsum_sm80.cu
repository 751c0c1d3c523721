// complete_cumsum dtype=i64 out_dtype=i64 count=512
// complete_cumsum_sm80 sm_80 threads=256 items=4
// complete_cumsum_sm80 sm_90a threads=256 items=4
#include "jagged/complete_cumsum_sm80.cuh"
namespace hstu {
struct Config {
  using Value = i64;
  using Result = i64;
  using Sum = i64;
  enum : int { kThreads = 256 };
  enum : int { kItems = 4 };
  enum : int { kMinBlocks = 1 };
};
static_assert(complete_cumsum_sm80_smem_bytes<Config> == 64, "host and device disagree about shared memory");
}  // namespace hstu

// complete_cumsum dtype=f32 out_dtype=f32 count=512
// complete_cumsum_sm80 sm_80 threads=256 items=4
// complete_cumsum_sm80 sm_90a threads=256 items=4
// 12 lines, those above but for
  using Value = float;
  using Result = float;
  using Sum = double;

