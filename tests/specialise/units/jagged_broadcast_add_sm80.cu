// jagged_dense_broadcast_add dtype=bf16 table_dtype=bf16 offset_dtype=i64 target_dtype=none dim=512 vector=8 logarithm=0 batch=512 rows=524288
// jagged_broadcast_add_sm80 sm_80 threads=256 accesses=1 rounds=4
// jagged_broadcast_add_sm80 sm_90a threads=256 accesses=1 rounds=4
#include "jagged/jagged_broadcast_add_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Table = bf16;
  using Offset = i64;
  enum : int { kDim = 512 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 256 };
  enum : int { kAccesses = 1 };
  enum : int { kRounds = 4 };
  enum : int { kMinBlocks = 1 };
};
static_assert(jagged_broadcast_add_sm80_smem_bytes<Config> == 64, "host and device disagree about shared memory");
}  // namespace hstu

// jagged_dense_broadcast_add dtype=f32 table_dtype=f16 offset_dtype=i32 target_dtype=none dim=33 vector=1 logarithm=0 batch=32 rows=1024
// jagged_broadcast_add_sm80 sm_80 threads=128 accesses=1 rounds=1
// jagged_broadcast_add_sm80 sm_90a threads=128 accesses=1 rounds=1
// 15 lines, those above but for
  using Element = float;
  using Table = f16;
  using Offset = i32;
  enum : int { kDim = 33 };
  enum : int { kVector = 1 };
  enum : int { kThreads = 128 };
  enum : int { kRounds = 1 };
static_assert(jagged_broadcast_add_sm80_smem_bytes<Config> == 12, "host and device disagree about shared memory");

