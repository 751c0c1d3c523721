// jagged_to_padded_dense access_bytes=16 row_bytes=1024 offset_dtype=i64 batch=512 rows=1048576
// jagged_to_padded_dense_sm80 sm_80 threads=256 accesses=4 rounds=1
// jagged_to_padded_dense_sm80 sm_90a threads=256 accesses=4 rounds=1
#include "jagged/jagged_to_padded_dense_sm80.cuh"
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
}  // namespace hstu

// jagged_to_padded_dense access_bytes=8 row_bytes=24 offset_dtype=i32 batch=512 rows=1024
// jagged_to_padded_dense_sm80 sm_80 threads=256 accesses=1 rounds=1
// jagged_to_padded_dense_sm80 sm_90a threads=256 accesses=1 rounds=1
// 12 lines, those above but for
  using Offset = i32;
  enum : int { kAccessBytes = 8 };
  enum : int { kRowAccesses = 3 };
  enum : int { kAccesses = 1 };

// jagged_to_padded_dense access_bytes=2 row_bytes=66 offset_dtype=i32 batch=32 rows=1024
// jagged_to_padded_dense_sm80 sm_80 threads=256 accesses=1 rounds=1
// jagged_to_padded_dense_sm80 sm_90a threads=256 accesses=1 rounds=1
// 12 lines, those above but for
  using Offset = i32;
  enum : int { kAccessBytes = 2 };
  enum : int { kRowAccesses = 33 };
  enum : int { kAccesses = 1 };

