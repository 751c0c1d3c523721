// sort_kv_pairs key_dtype=i64 value_bytes=8 count=16384
// sort_kv_pairs_sm80 sm_80 threads=128 items=1
// sort_kv_pairs_sm80 sm_90a threads=128 items=1
#include "sort_kv_pairs_sm80.cuh"
namespace hstu {
struct Config {
  using Key = i64;
  enum : int { kValueBytes = 8 };
  enum : int { kThreads = 128 };
  enum : int { kItems = 1 };
  enum : int { kMinBlocks = 1 };
};
static_assert(sort_kv_pairs_sm80_smem_bytes<Config> == 1024, "host and device disagree about shared memory");
}  // namespace hstu

// sort_kv_pairs key_dtype=i32 value_bytes=1 count=1048576
// sort_kv_pairs_sm80 sm_80 threads=128 items=4
// sort_kv_pairs_sm80 sm_90a threads=128 items=4
#include "sort_kv_pairs_sm80.cuh"
namespace hstu {
struct Config {
  using Key = i32;
  enum : int { kValueBytes = 1 };
  enum : int { kThreads = 128 };
  enum : int { kItems = 4 };
  enum : int { kMinBlocks = 1 };
};
static_assert(sort_kv_pairs_sm80_smem_bytes<Config> == 2048, "host and device disagree about shared memory");
}  // namespace hstu

