// jagged_truncate_history access_bytes=16 row_bytes=1024 left_length=i64 right_length=none offset=i64 batch=512 rows=524288
// jagged_truncate_history_sm80 sm_80 threads=256 rounds=8 accesses=2
// jagged_truncate_history_sm80 sm_90a threads=256 rounds=8 accesses=2
#include "jagged/jagged_truncate_history_sm80.cuh"
namespace hstu {
struct Config {
  using LeftLength = i64;
  using RightLength = tile::Dense;
  using Offset = i64;
  enum : int { kAccessBytes = 16 };
  enum : int { kRowAccesses = 64 };
  enum : int { kThreads = 256 };
  enum : int { kRows = 32 };
  enum : int { kAccesses = 2 };
  enum : int { kMinBlocks = 6 };
};
static_assert(jagged_truncate_history_sm80_smem_bytes<Config> == 8352, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_truncate_history access_bytes=4 row_bytes=4 left_length=none right_length=none offset=i32 batch=32 rows=1024
// jagged_truncate_history_sm80 sm_80 threads=256 rounds=1 accesses=1
// jagged_truncate_history_sm80 sm_90a threads=256 rounds=1 accesses=1
// 15 lines, those above but for
  using LeftLength = tile::Dense;
  using Offset = i32;
  enum : int { kAccessBytes = 4 };
  enum : int { kRowAccesses = 1 };
  enum : int { kRows = 256 };
  enum : int { kAccesses = 1 };

