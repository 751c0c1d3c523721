// jagged_transpose_1d access_bytes=4 row_bytes=4 left_length=i64 right_length=none offset=i64 batch=4096 rows=33554432
// jagged_transpose_1d_sm90 sm_90a pipes=1 consumers=15 stages=4 chunk=16
#include "jagged/jagged_transpose_1d_sm90.cuh"
namespace hstu {
struct Config {
  using LeftLength = i64;
  using RightLength = tile::Dense;
  using Offset = i64;
  using Row = i32;
  enum : int { kAccessBytes = 4 };
  enum : int { kGroup = 1 };
  enum : int { kEntries = 4096 };
  enum : int { kEach = 8 };
  enum : int { kThreads = 512 };
  enum : int { kPipes = 1 };
  enum : int { kConsumers = 15 };
  enum : int { kStages = 4 };
  enum : int { kChunkBytes = 16384 };
};
static_assert(jagged_transpose_1d_sm90_smem_bytes<Config> == 104312, "host and device disagree about shared memory");
}  // namespace hstu

