// replace_last_n_with_jagged access_bytes=16 row_bytes=1024 left_length=i64 right_length=i32 offset=none batch=512 rows=524288
// replace_last_n_sm80 sm_80 threads=512 rounds=4 accesses=2
// replace_last_n_sm80 sm_90a threads=512 rounds=4 accesses=2
#include "jagged/replace_last_n_sm80.cuh"
namespace hstu {
struct Config {
  using LeftLength = i64;
  using RightLength = i32;
  using Offset = tile::Dense;
  enum : int { kAccessBytes = 16 };
  enum : int { kRowAccesses = 64 };
  enum : int { kThreads = 512 };
  enum : int { kRows = 32 };
  enum : int { kAccesses = 2 };
  enum : int { kMinBlocks = 3 };
};
static_assert(replace_last_n_sm80_smem_bytes<Config> == 16672, "host and device disagree about shared memory");
}  // namespace hstu

// replace_last_n_with_jagged access_bytes=2 row_bytes=66 left_length=i32 right_length=i32 offset=none batch=32 rows=64
// replace_last_n_sm80 sm_80 threads=512 rounds=1 accesses=1
// replace_last_n_sm80 sm_90a threads=512 rounds=1 accesses=1
// 15 lines, those above but for
  using LeftLength = i32;
  enum : int { kAccessBytes = 2 };
  enum : int { kRowAccesses = 33 };
  enum : int { kRows = 15 };
  enum : int { kAccesses = 1 };

