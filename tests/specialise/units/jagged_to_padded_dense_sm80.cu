// jagged_to_padded_dense access_bytes=16 row_bytes=1024 offset_dtype=i64 batch=512 rows=1048576
// jagged_to_padded_dense_sm80 sm_80 threads=256 accesses=4 rounds=1
// jagged_to_padded_dense_sm80 sm_90a threads=256 accesses=4 rounds=1
#include "jagged_to_padded_dense_sm80.cuh"
namespace hstu {
struct Config {
  using Offset = i64;
  static constexpr int kAccessBytes = 16;
  static constexpr int kRowAccesses = 64;
  static constexpr int kThreads = 256;
  static constexpr int kAccesses = 4;
  static constexpr int kRounds = 1;
  static constexpr int kMinBlocks = 1;
};
}  // namespace hstu

// jagged_to_padded_dense access_bytes=8 row_bytes=24 offset_dtype=i32 batch=512 rows=1024
// jagged_to_padded_dense_sm80 sm_80 threads=256 accesses=1 rounds=1
// jagged_to_padded_dense_sm80 sm_90a threads=256 accesses=1 rounds=1
#include "jagged_to_padded_dense_sm80.cuh"
namespace hstu {
struct Config {
  using Offset = i32;
  static constexpr int kAccessBytes = 8;
  static constexpr int kRowAccesses = 3;
  static constexpr int kThreads = 256;
  static constexpr int kAccesses = 1;
  static constexpr int kRounds = 1;
  static constexpr int kMinBlocks = 1;
};
}  // namespace hstu

// jagged_to_padded_dense access_bytes=2 row_bytes=66 offset_dtype=i32 batch=32 rows=1024
// jagged_to_padded_dense_sm80 sm_80 threads=256 accesses=1 rounds=1
// jagged_to_padded_dense_sm80 sm_90a threads=256 accesses=1 rounds=1
#include "jagged_to_padded_dense_sm80.cuh"
namespace hstu {
struct Config {
  using Offset = i32;
  static constexpr int kAccessBytes = 2;
  static constexpr int kRowAccesses = 33;
  static constexpr int kThreads = 256;
  static constexpr int kAccesses = 1;
  static constexpr int kRounds = 1;
  static constexpr int kMinBlocks = 1;
};
}  // namespace hstu

