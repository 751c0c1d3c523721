// sort_kv_pairs key_dtype=i64 value_bytes=8 count=16384
// sort_kv_parts_sm80 sm_80 threads=512 room=1024
// sort_kv_parts_sm80 sm_90a threads=512 room=1024
#include "jagged/sort_kv_parts_sm80.cuh"
namespace hstu {
struct Config {
  using Key = i64;
  enum : int { kValueBytes = 8 };
  enum : int { kThreads = 512 };
  enum : int { kRoom = 1024 };
  enum : int { kMinBlocks = 1 };
};
static_assert(sort_kv_parts_sm80_smem_bytes<Config> == 16456, "host and device disagree about shared memory");
}  // namespace hstu

// sort_kv_pairs key_dtype=i32 value_bytes=1 count=1048576
// sort_kv_parts_sm80 sm_80 threads=1024 room=8192
// sort_kv_parts_sm80 sm_90a threads=1024 room=8192
// 11 lines, those above but for
  using Key = i32;
  enum : int { kValueBytes = 1 };
  enum : int { kThreads = 1024 };
  enum : int { kRoom = 8192 };
static_assert(sort_kv_parts_sm80_smem_bytes<Config> == 65668, "host and device disagree about shared memory");

