// expand_1d_jagged_to_dense element_bytes=8 offset_dtype=i64 batch=512 max_len=1024
// expand_1d_jagged_sm80 sm_80 threads=128 accesses=1
// expand_1d_jagged_sm80 sm_90a threads=128 accesses=1
#include "jagged/expand_1d_jagged_sm80.cuh"
namespace hstu {
struct Config {
  using Offset = i64;
  enum : int { kElementBytes = 8 };
  enum : int { kThreads = 128 };
  enum : int { kAccesses = 1 };
  enum : int { kMinBlocks = 1 };
};
}  // namespace hstu

// expand_1d_jagged_to_dense element_bytes=1 offset_dtype=i32 batch=32 max_len=64
// expand_1d_jagged_sm80 sm_80 threads=128 accesses=1
// expand_1d_jagged_sm80 sm_90a threads=128 accesses=1
// 10 lines, those above but for
  using Offset = i32;
  enum : int { kElementBytes = 1 };

