// jagged_transpose_1d access_bytes=8 row_bytes=8 left_length=i64 right_length=none offset=i64 batch=4096 rows=65536
// jagged_transpose_1d_sm80 sm_80 threads=1024 accesses=1 spans=1
// jagged_transpose_1d_sm80 sm_90a threads=1024 accesses=1 spans=1
#include "jagged/jagged_transpose_1d_sm80.cuh"
namespace hstu {
struct Config {
  using LeftLength = i64;
  using RightLength = tile::Dense;
  using Offset = i64;
  using Row = i32;
  enum : int { kAccessBytes = 8 };
  enum : int { kGroup = 1 };
  enum : int { kEntries = 4096 };
  enum : int { kEach = 4 };
  enum : int { kThreads = 1024 };
  enum : int { kAccesses = 1 };
  enum : int { kSpans = 1 };
  enum : int { kMinBlocks = 1 };
};
static_assert(jagged_transpose_1d_sm80_smem_bytes<Config> == 33576, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_transpose_1d access_bytes=4 row_bytes=4 left_length=i64 right_length=none offset=i64 batch=4096 rows=33554432
// jagged_transpose_1d_sm80 sm_80 threads=1024 accesses=2 spans=2
// jagged_transpose_1d_sm80 sm_90a threads=1024 accesses=2 spans=2
// 18 lines, those above but for
  enum : int { kAccessBytes = 4 };
  enum : int { kAccesses = 2 };
  enum : int { kSpans = 2 };

// jagged_transpose_1d access_bytes=2 row_bytes=2 left_length=i32 right_length=none offset=i64 batch=64 rows=1024
// jagged_transpose_1d_sm80 sm_80 threads=1024 accesses=1 spans=1
// jagged_transpose_1d_sm80 sm_90a threads=1024 accesses=1 spans=1
// 18 lines, those above but for
  using LeftLength = i32;
  enum : int { kAccessBytes = 2 };
  enum : int { kEntries = 64 };
  enum : int { kEach = 1 };
static_assert(jagged_transpose_1d_sm80_smem_bytes<Config> == 9000, "host and device disagree about shared memory");

