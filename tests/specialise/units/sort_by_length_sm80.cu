// sort_by_length offset_dtype=i64 out_dtype=i64 count=512
// sort_by_length_sm80 sm_80 threads=128 items=1
// sort_by_length_sm80 sm_90a threads=128 items=1
#include "jagged/sort_by_length_sm80.cuh"
namespace hstu {
struct Config {
  using Key = i64;
  using Result = i64;
  enum : int { kThreads = 128 };
  enum : int { kItems = 1 };
  enum : int { kMinBlocks = 1 };
};
static_assert(sort_by_length_sm80_smem_bytes<Config> == 1024, "host and device disagree about shared memory");
}  // namespace hstu

