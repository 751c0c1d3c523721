// split_1d_jagged access_bytes=8 row_bytes=8 left_length=i64 right_length=i64 offset=none batch=512 rows=67108864
// split_1d_jagged_sm90 sm_90a pipes=1 consumers=15 stages=4 chunk=16
#include "jagged/split_1d_jagged_sm90.cuh"
namespace hstu {
struct Config {
  using LeftLength = i64;
  using RightLength = i64;
  using Offset = tile::Dense;
  using Row = i32;
  enum : int { kAccessBytes = 8 };
  enum : int { kGroup = 1 };
  enum : int { kEntries = 512 };
  enum : int { kEach = 1 };
  enum : int { kThreads = 512 };
  enum : int { kPipes = 1 };
  enum : int { kConsumers = 15 };
  enum : int { kStages = 4 };
  enum : int { kChunkBytes = 16384 };
};
static_assert(split_1d_jagged_sm90_smem_bytes<Config> == 75640, "host and device disagree about shared memory");
}  // namespace hstu

