// add_timestamp_positional_embeddings dtype=bf16 table_dtype=bf16 offset_dtype=i64 target_dtype=i64 dim=512 vector=8 logarithm=0 batch=512 rows=524288
// timestamp_positional_sm80 sm_80 threads=128 accesses=2 rounds=4
// timestamp_positional_sm80 sm_90a threads=128 accesses=2 rounds=4
#include "position/timestamp_positional_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Table = bf16;
  using Offset = i64;
  enum : int { kDim = 512 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 128 };
  enum : int { kAccesses = 2 };
  enum : int { kRounds = 4 };
  enum : int { kMinBlocks = 1 };
  using Target = i64;
  enum : bool { kHasTargets = true };
  enum : bool { kLogarithm = false };
};
static_assert(timestamp_positional_sm80_smem_bytes<Config> == 128, "host and device disagree about shared memory");
}  // namespace hstu

// add_timestamp_positional_embeddings dtype=bf16 table_dtype=f32 offset_dtype=i64 target_dtype=i32 dim=512 vector=8 logarithm=1 batch=512 rows=524288
// timestamp_positional_sm80 sm_80 threads=128 accesses=2 rounds=4
// timestamp_positional_sm80 sm_90a threads=128 accesses=2 rounds=4
// 18 lines, those above but for
  using Table = float;
  using Target = i32;
  enum : bool { kLogarithm = true };

// add_timestamp_positional_embeddings dtype=f32 table_dtype=f32 offset_dtype=i32 target_dtype=none dim=3 vector=1 logarithm=1 batch=32 rows=65536
// timestamp_positional_sm80 sm_80 threads=128 accesses=1 rounds=1
// timestamp_positional_sm80 sm_90a threads=128 accesses=1 rounds=1
// 18 lines, those above but for
  using Element = float;
  using Table = float;
  using Offset = i32;
  enum : int { kDim = 3 };
  enum : int { kVector = 1 };
  enum : int { kAccesses = 1 };
  enum : int { kRounds = 1 };
  using Target = i32;
  enum : bool { kHasTargets = false };
  enum : bool { kLogarithm = true };
static_assert(timestamp_positional_sm80_smem_bytes<Config> == 336, "host and device disagree about shared memory");

