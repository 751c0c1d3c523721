// split_1d_jagged access_bytes=4 row_bytes=4 left_length=i64 right_length=i64 offset=none batch=512 rows=524288
// split_1d_jagged_sm80 sm_80 threads=512 accesses=1 spans=1
// split_1d_jagged_sm80 sm_90a threads=512 accesses=1 spans=1
#include "jagged/split_1d_jagged_sm80.cuh"
namespace hstu {
struct Config {
  using LeftLength = i64;
  using RightLength = i64;
  using Offset = tile::Dense;
  using Row = i32;
  enum : int { kAccessBytes = 4 };
  enum : int { kGroup = 1 };
  enum : int { kEntries = 512 };
  enum : int { kEach = 1 };
  enum : int { kThreads = 512 };
  enum : int { kAccesses = 1 };
  enum : int { kSpans = 1 };
  enum : int { kMinBlocks = 2 };
};
static_assert(split_1d_jagged_sm80_smem_bytes<Config> == 4776, "host and device disagree about shared memory");
}  // namespace hstu

// split_1d_jagged access_bytes=8 row_bytes=8 left_length=i64 right_length=i64 offset=none batch=512 rows=67108864
// split_1d_jagged_sm80 sm_80 threads=1024 accesses=2 spans=2
// split_1d_jagged_sm80 sm_90a threads=1024 accesses=2 spans=2
// 18 lines, those above but for
  enum : int { kAccessBytes = 8 };
  enum : int { kThreads = 1024 };
  enum : int { kAccesses = 2 };
  enum : int { kSpans = 2 };
  enum : int { kMinBlocks = 1 };
static_assert(split_1d_jagged_sm80_smem_bytes<Config> == 9000, "host and device disagree about shared memory");

