// rel_bias dtype=bf16 table_dtype=f32 num_heads=1 vector=8 batch=32 positions=2048
// rel_bias_sm80 sm_80 threads=128 rows=16
// rel_bias_sm80 sm_90a threads=128 rows=16
#include "attention/rel_bias_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Table = float;
  enum : int { kVector = 8 };
  enum : int { kThreads = 128 };
  enum : int { kRows = 16 };
  enum : int { kMinBlocks = 5 };
};
static_assert(rel_bias_sm80_smem_bytes<Config> == 5552, "host and device disagree about shared memory");
}  // namespace hstu

// rel_bias dtype=f32 table_dtype=bf16 num_heads=4 vector=4 batch=8 positions=256
// rel_bias_sm80 sm_80 threads=128 rows=8
// rel_bias_sm80 sm_90a threads=128 rows=8
// 12 lines, those above but for
  using Element = float;
  using Table = bf16;
  enum : int { kVector = 4 };
  enum : int { kRows = 8 };
static_assert(rel_bias_sm80_smem_bytes<Config> == 4528, "host and device disagree about shared memory");

// rel_bias dtype=f16 table_dtype=f16 num_heads=2 vector=1 batch=8 positions=64
// rel_bias_sm80 sm_80 threads=128 rows=8
// rel_bias_sm80 sm_90a threads=128 rows=8
// 12 lines, those above but for
  using Element = f16;
  using Table = f16;
  enum : int { kVector = 1 };
  enum : int { kRows = 8 };
static_assert(rel_bias_sm80_smem_bytes<Config> == 5040, "host and device disagree about shared memory");

// rel_bias dtype=f32 table_dtype=f16 num_heads=2 vector=4 batch=8 positions=1024
// rel_bias_sm80 sm_80 threads=128 rows=16
// rel_bias_sm80 sm_90a threads=128 rows=16
// 12 lines, those above but for
  using Element = float;
  using Table = f16;
  enum : int { kVector = 4 };
static_assert(rel_bias_sm80_smem_bytes<Config> == 5040, "host and device disagree about shared memory");

