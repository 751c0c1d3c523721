// add_positional_embeddings dtype=bf16 table_dtype=bf16 offset_dtype=i64 target_dtype=i64 dim=512 vector=8 logarithm=0 batch=512 rows=524288
// positional_sm80 sm_80 threads=256 accesses=1 rounds=4
// positional_sm80 sm_90a threads=256 accesses=1 rounds=4
#include "position/positional_sm80.cuh"
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
  using Target = i64;
  enum : bool { kHasTargets = true };
};
static_assert(positional_sm80_smem_bytes<Config> == 64, "host and device disagree about shared memory");
}  // namespace hstu

// add_positional_embeddings dtype=f16 table_dtype=f32 offset_dtype=i32 target_dtype=none dim=20000 vector=8 logarithm=0 batch=32 rows=1024
// positional_sm80 sm_80 threads=128 accesses=1 rounds=1
// positional_sm80 sm_90a threads=128 accesses=1 rounds=1
// 17 lines, those above but for
  using Element = f16;
  using Table = float;
  using Offset = i32;
  enum : int { kDim = 20000 };
  enum : int { kThreads = 128 };
  enum : int { kRounds = 1 };
  using Target = i32;
  enum : bool { kHasTargets = false };
static_assert(positional_sm80_smem_bytes<Config> == 4, "host and device disagree about shared memory");

