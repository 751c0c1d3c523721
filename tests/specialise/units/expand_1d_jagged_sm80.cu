// expand_1d_jagged_to_dense element_bytes=8 offset_dtype=i64 batch=512 max_len=1024
// expand_1d_jagged_sm80 sm_80 threads=256
// expand_1d_jagged_sm80 sm_90a threads=256
#include "expand_1d_jagged_sm80.cuh"
namespace hstu {
struct Config {
  using Offset = i64;
  static constexpr int kElementBytes = 8;
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocks = 1;
};
}  // namespace hstu

// expand_1d_jagged_to_dense element_bytes=1 offset_dtype=i32 batch=32 max_len=64
// expand_1d_jagged_sm80 sm_80 threads=64
// expand_1d_jagged_sm80 sm_90a threads=64
#include "expand_1d_jagged_sm80.cuh"
namespace hstu {
struct Config {
  using Offset = i32;
  static constexpr int kElementBytes = 1;
  static constexpr int kThreads = 64;
  static constexpr int kMinBlocks = 1;
};
}  // namespace hstu

