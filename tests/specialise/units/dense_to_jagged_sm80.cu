// dense_to_jagged access_bytes=16 row_bytes=1024 offset_dtype=i64 batch=512 rows=524288
// dense_to_jagged_sm80 sm_80 threads=256 accesses=4 rounds=1
// dense_to_jagged_sm80 sm_90a threads=256 accesses=4 rounds=1
#include "jagged/dense_to_jagged_sm80.cuh"
namespace hstu {
struct Config {
  using Offset = i64;
  enum : int { kAccessBytes = 16 };
  enum : int { kRowAccesses = 64 };
  enum : int { kThreads = 256 };
  enum : int { kAccesses = 4 };
  enum : int { kRounds = 1 };
  enum : int { kMinBlocks = 1 };
};
static_assert(dense_to_jagged_sm80_smem_bytes<Config> == 8, "host and device disagree about shared memory");
}  // namespace hstu

// dense_to_jagged access_bytes=1 row_bytes=1 offset_dtype=i32 batch=32 rows=1024
// dense_to_jagged_sm80 sm_80 threads=256 accesses=1 rounds=1
// dense_to_jagged_sm80 sm_90a threads=256 accesses=1 rounds=1
// 13 lines, those above but for
  using Offset = i32;
  enum : int { kAccessBytes = 1 };
  enum : int { kRowAccesses = 1 };
  enum : int { kAccesses = 1 };

