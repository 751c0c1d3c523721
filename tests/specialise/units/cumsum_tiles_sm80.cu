// complete_cumsum dtype=i32 out_dtype=i64 count=65536
// cumsum_tiles_sm80 sm_80 threads=256 accesses=4 parts=1
// cumsum_tiles_sm80 sm_90a threads=256 accesses=4 parts=1
#include "cumsum_tiles_sm80.cuh"
namespace hstu {
struct Config {
  using Value = i32;
  using Result = i64;
  using Sum = u64;
  enum : bool { kRereads = false };
  enum : int { kThreads = 256 };
  enum : int { kAccesses = 4 };
  enum : int { kMinBlocks = 2 };
};
static_assert(cumsum_tiles_sm80_smem_bytes<Config> == 1768, "host and device disagree about shared memory");
}  // namespace hstu

// complete_cumsum dtype=f32 out_dtype=f32 count=1073741824
// cumsum_tiles_sm80 sm_80 threads=256 accesses=4 parts=8
// cumsum_tiles_sm80 sm_90a threads=256 accesses=4 parts=8
#include "cumsum_tiles_sm80.cuh"
namespace hstu {
struct Config {
  using Value = float;
  using Result = float;
  using Sum = double;
  enum : bool { kRereads = true };
  enum : int { kThreads = 256 };
  enum : int { kAccesses = 4 };
  enum : int { kMinBlocks = 3 };
};
static_assert(cumsum_tiles_sm80_smem_bytes<Config> == 1768, "host and device disagree about shared memory");
}  // namespace hstu

