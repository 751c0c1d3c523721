// split_1d_jagged access_bytes=4 row_bytes=4 left_length=i64 right_length=i64 offset=none batch=512 rows=524288
// split_1d_jagged_sm80 sm_80 threads=512 waves=4 accesses=1
// split_1d_jagged_sm80 sm_90a threads=512 waves=4 accesses=1
#include "split_1d_jagged_sm80.cuh"
namespace hstu {
struct Config {
  using LeftLength = i64;
  using RightLength = i64;
  using Offset = tile::Dense;
  enum : int { kAccessBytes = 4 };
  enum : int { kThreads = 512 };
  enum : int { kAccesses = 1 };
  enum : int { kMinBlocks = 2 };
};
static_assert(split_1d_jagged_sm80_smem_bytes<Config> == 6928, "host and device disagree about shared memory");
}  // namespace hstu

