// append_kv_cache element_bytes=2 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i32 target_dtype=i32 page_dtype=i32 page_size=32 vector=16 batch=32 total=4096
// append_kv_cache_sm80 sm_80 threads=64 accesses=1
// append_kv_cache_sm80 sm_90a threads=64 accesses=1
#include "attention/append_kv_cache_sm80.cuh"
namespace hstu {
struct Config {
  using Offset = i32;
  using Target = i32;
  using Page = i32;
  enum : bool { kHasTargets = true };
  enum : int { kPageSize = 32 };
  enum : int { kHeads = 4 };
  enum : int { kHeadBytesQk = 256 };
  enum : int { kHeadBytesV = 256 };
  enum : int { kAccessBytes = 16 };
  enum : int { kThreads = 64 };
  enum : int { kAccesses = 1 };
};
}  // namespace hstu

// append_kv_cache element_bytes=1 head_dim_qk=33 head_dim_v=3 num_heads=3 offset_dtype=none target_dtype=none page_dtype=i64 page_size=7 vector=1 batch=1 total=8
// append_kv_cache_sm80 sm_80 threads=64 accesses=1
// append_kv_cache_sm80 sm_90a threads=64 accesses=1
// 16 lines, those above but for
  using Offset = tile::Dense;
  using Page = i64;
  enum : bool { kHasTargets = false };
  enum : int { kPageSize = 7 };
  enum : int { kHeads = 3 };
  enum : int { kHeadBytesQk = 33 };
  enum : int { kHeadBytesV = 3 };
  enum : int { kAccessBytes = 1 };

