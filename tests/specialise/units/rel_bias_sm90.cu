// rel_bias dtype=bf16 table_dtype=f32 num_heads=1 vector=8 batch=32 positions=2048
// rel_bias_sm90 sm_90a threads=128 tiles=1
#include "attention/rel_bias_sm90.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Table = float;
  enum : int { kThreads = 128 };
  enum : int { kTiles = 1 };
  enum : int { kMinBlocks = 5 };
};
static_assert(rel_bias_sm90_smem_bytes<Config> == 39040, "host and device disagree about shared memory");
}  // namespace hstu

// rel_bias dtype=f32 table_dtype=f16 num_heads=2 vector=4 batch=8 positions=1024
// rel_bias_sm90 sm_90a threads=64 tiles=1
// 11 lines, those above but for
  using Element = float;
  using Table = f16;
  enum : int { kThreads = 64 };
  enum : int { kMinBlocks = 11 };
static_assert(rel_bias_sm90_smem_bytes<Config> == 19488, "host and device disagree about shared memory");

