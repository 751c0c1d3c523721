// jagged_remove_first_or_last_1d access_bytes=8 row_bytes=8 left_length=i64 right_length=none offset=none batch=512 rows=524288
// jagged_remove_1d_sm80 sm_80 threads=512 accesses=1 spans=1
// jagged_remove_1d_sm80 sm_90a threads=512 accesses=1 spans=1
#include "jagged/jagged_remove_1d_sm80.cuh"
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

// jagged_remove_first_or_last_1d access_bytes=2 row_bytes=2 left_length=i64 right_length=none offset=none batch=8192 rows=67108864
// jagged_remove_1d_sm80 sm_80 threads=1024 accesses=2 spans=2
// jagged_remove_1d_sm80 sm_90a threads=1024 accesses=2 spans=2
// 18 lines, those above but for
  enum : int { kAccessBytes = 2 };
  enum : int { kEntries = 8192 };
  enum : int { kEach = 8 };
  enum : int { kThreads = 1024 };
  enum : int { kAccesses = 2 };
  enum : int { kSpans = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(jagged_remove_1d_sm80_smem_bytes<Config> == 66344, "host and device disagree about shared memory");

// jagged_remove_first_or_last_1d access_bytes=1 row_bytes=1 left_length=i32 right_length=none offset=none batch=32 rows=64
// jagged_remove_1d_sm80 sm_80 threads=512 accesses=1 spans=1
// jagged_remove_1d_sm80 sm_90a threads=512 accesses=1 spans=1
// 18 lines, those above but for
  using LeftLength = i32;
  enum : int { kAccessBytes = 1 };
  enum : int { kEntries = 32 };

