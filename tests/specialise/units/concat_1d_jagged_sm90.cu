// concat_1d_jagged access_bytes=4 row_bytes=4 left_length=i64 right_length=i64 offset=none batch=8192 rows=67108864
// concat_1d_jagged_sm90 sm_90a pipes=1 consumers=15 stages=4 chunk=16
#include "jagged/concat_1d_jagged_sm90.cuh"
namespace hstu {
struct Config {
  using LeftLength = i64;
  using RightLength = i64;
  using Offset = tile::Dense;
  using Row = i32;
  enum : int { kAccessBytes = 4 };
  enum : int { kGroup = 1 };
  enum : int { kEntries = 8192 };
  enum : int { kEach = 8 };
  enum : int { kThreads = 512 };
  enum : int { kPipes = 1 };
  enum : int { kConsumers = 15 };
  enum : int { kStages = 4 };
  enum : int { kChunkBytes = 16384 };
};
static_assert(concat_1d_jagged_sm90_smem_bytes<Config> == 137080, "host and device disagree about shared memory");
}  // namespace hstu

// concat_1d_jagged access_bytes=1 row_bytes=1 left_length=i32 right_length=i32 offset=none batch=65536 rows=1073741824
// concat_1d_jagged_sm90 sm_90a pipes=8 consumers=1 stages=2 chunk=4
// 19 lines, those above but for
  using LeftLength = i32;
  using RightLength = i32;
  using Row = i64;
  enum : int { kAccessBytes = 1 };
  enum : int { kGroup = 32 };
  enum : int { kEntries = 2048 };
  enum : int { kPipes = 8 };
  enum : int { kConsumers = 1 };
  enum : int { kStages = 2 };
  enum : int { kChunkBytes = 4096 };
static_assert(concat_1d_jagged_sm90_smem_bytes<Config> == 194112, "host and device disagree about shared memory");

