// concat_2d_jagged_backward access_bytes=16 row_bytes=1024 left_offset=i64 right_offset=i64 prefix=0 replace=1 batch=512 rows=524288
// concat_2d_jagged_bwd_sm80 sm_80 threads=64 accesses=2
// concat_2d_jagged_bwd_sm80 sm_90a threads=64 accesses=2
#include "jagged/concat_2d_jagged_bwd_sm80.cuh"
namespace hstu {
struct Config {
  using LeftOffset = i64;
  using RightOffset = i64;
  enum : int { kAccessBytes = 16 };
  enum : int { kRowAccesses = 64 };
  enum : bool { kPrefix = false };
  enum : int { kThreads = 64 };
  enum : int { kAccesses = 2 };
  enum : bool { kReplace = true };
};
}  // namespace hstu

// concat_2d_jagged_backward access_bytes=4 row_bytes=516 left_offset=none right_offset=i32 prefix=1 replace=0 batch=32 rows=2048
// concat_2d_jagged_bwd_sm80 sm_80 threads=128 accesses=1
// concat_2d_jagged_bwd_sm80 sm_90a threads=128 accesses=1
// 13 lines, those above but for
  using LeftOffset = tile::Dense;
  using RightOffset = i32;
  enum : int { kAccessBytes = 4 };
  enum : int { kRowAccesses = 129 };
  enum : bool { kPrefix = true };
  enum : int { kThreads = 128 };
  enum : int { kAccesses = 1 };
  enum : bool { kReplace = false };

// concat_2d_jagged_backward access_bytes=1 row_bytes=1 left_offset=i32 right_offset=none prefix=0 replace=1 batch=32 rows=2048
// concat_2d_jagged_bwd_sm80 sm_80 threads=128 accesses=1
// concat_2d_jagged_bwd_sm80 sm_90a threads=128 accesses=1
// 13 lines, those above but for
  using LeftOffset = i32;
  using RightOffset = tile::Dense;
  enum : int { kAccessBytes = 1 };
  enum : int { kRowAccesses = 1 };
  enum : int { kThreads = 128 };
  enum : int { kAccesses = 1 };

// concat_2d_jagged_backward access_bytes=2 row_bytes=66 left_offset=i32 right_offset=i64 prefix=0 replace=0 batch=32 rows=2048
// concat_2d_jagged_bwd_sm80 sm_80 threads=128 accesses=1
// concat_2d_jagged_bwd_sm80 sm_90a threads=128 accesses=1
// 13 lines, those above but for
  using LeftOffset = i32;
  enum : int { kAccessBytes = 2 };
  enum : int { kRowAccesses = 33 };
  enum : int { kThreads = 128 };
  enum : int { kAccesses = 1 };
  enum : bool { kReplace = false };

