// sort_kv_pairs key_dtype=i32 value_bytes=2 count=512
// sort_kv_pairs_sm80 sm_80 threads=128 items=1
// sort_kv_pairs_sm80 sm_90a threads=128 items=1
#include "jagged/sort_kv_pairs_sm80.cuh"
namespace hstu {
struct Config {
  using Key = i32;
  enum : int { kValueBytes = 2 };
  enum : int { kThreads = 128 };
  enum : int { kItems = 1 };
  enum : int { kMinBlocks = 1 };
};
static_assert(sort_kv_pairs_sm80_smem_bytes<Config> == 512, "host and device disagree about shared memory");
}  // namespace hstu

