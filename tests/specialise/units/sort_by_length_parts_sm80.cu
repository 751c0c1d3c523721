// sort_by_length offset_dtype=i32 out_dtype=i32 count=16384
// sort_by_length_parts_sm80 sm_80 threads=512 room=1024
// sort_by_length_parts_sm80 sm_90a threads=512 room=1024
#include "jagged/sort_by_length_parts_sm80.cuh"
namespace hstu {
struct Config {
  using Key = i32;
  using Result = i32;
  enum : int { kThreads = 512 };
  enum : int { kRoom = 1024 };
  enum : int { kMinBlocks = 1 };
};
static_assert(sort_by_length_parts_sm80_smem_bytes<Config> == 8260, "host and device disagree about shared memory");
}  // namespace hstu

