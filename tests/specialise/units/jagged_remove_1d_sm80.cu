// jagged_remove_first_or_last_1d access_bytes=8 row_bytes=8 left_length=i64 right_length=none offset=none batch=512 rows=524288
// jagged_remove_1d_sm80 sm_80 threads=512 accesses=1 spans=1
// jagged_remove_1d_sm80 sm_90a threads=512 accesses=1 spans=1
#include "jagged_remove_1d_sm80.cuh"
namespace hstu {
struct Config {
  using LeftLength = i64;
  using RightLength = tile::Dense;
  using Offset = tile::Dense;
  using Row = i32;
  enum : int { kAccessBytes = 8 };
  enum : int { kGroup = 1 };
  enum : int { kEntries = 512 };
  enum : int { kEach = 1 };
  enum : int { kThreads = 512 };
  enum : int { kAccesses = 1 };
  enum : int { kSpans = 1 };
  enum : int { kMinBlocks = 2 };
};
static_assert(jagged_remove_1d_sm80_smem_bytes<Config> == 4776, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_remove_first_or_last_1d access_bytes=1 row_bytes=1 left_length=i32 right_length=none offset=none batch=32 rows=64
// jagged_remove_1d_sm80 sm_80 threads=512 accesses=1 spans=1
// jagged_remove_1d_sm80 sm_90a threads=512 accesses=1 spans=1
#include "jagged_remove_1d_sm80.cuh"
namespace hstu {
struct Config {
  using LeftLength = i32;
  using RightLength = tile::Dense;
  using Offset = tile::Dense;
  using Row = i32;
  enum : int { kAccessBytes = 1 };
  enum : int { kGroup = 1 };
  enum : int { kEntries = 32 };
  enum : int { kEach = 1 };
  enum : int { kThreads = 512 };
  enum : int { kAccesses = 1 };
  enum : int { kSpans = 1 };
  enum : int { kMinBlocks = 2 };
};
static_assert(jagged_remove_1d_sm80_smem_bytes<Config> == 4776, "host and device disagree about shared memory");
}  // namespace hstu

