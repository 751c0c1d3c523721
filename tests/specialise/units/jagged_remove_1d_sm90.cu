// jagged_remove_first_or_last_1d access_bytes=2 row_bytes=2 left_length=i64 right_length=none offset=none batch=8192 rows=67108864
// jagged_remove_1d_sm90 sm_90a pipes=1 consumers=15 stages=4 chunk=12
#include "jagged/jagged_remove_1d_sm90.cuh"
namespace hstu {
struct Config {
  using LeftLength = i64;
  using RightLength = tile::Dense;
  using Offset = tile::Dense;
  using Row = i32;
  enum : int { kAccessBytes = 2 };
  enum : int { kGroup = 1 };
  enum : int { kEntries = 8192 };
  enum : int { kEach = 8 };
  enum : int { kThreads = 512 };
  enum : int { kPipes = 1 };
  enum : int { kConsumers = 15 };
  enum : int { kStages = 4 };
  enum : int { kChunkBytes = 12288 };
};
static_assert(jagged_remove_1d_sm90_smem_bytes<Config> == 120696, "host and device disagree about shared memory");
}  // namespace hstu

