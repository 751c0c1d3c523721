// swish_layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=none scaling=0 dim=512 vector=8 rows=524288
// swish_layer_norm_sm80 sm_80 threads=128 threads_per_row=32 rows_per_thread=2 weights=2
// swish_layer_norm_sm80 sm_90a threads=128 threads_per_row=32 rows_per_thread=2 weights=2
#include "norm/swish_layer_norm_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Weight = bf16;
  enum : bool { kHasWeight = true };
  enum : bool { kHasBias = true };
  using Fp8 = e4m3;
  enum : int { kScaling = 0 };
  using Output = tile::SwishOfNorm;
  enum : bool { kGroupNorm = false };
  enum : bool { kCentred = true };
  enum : int { kDim = 512 };
  enum : int { kGroups = 1 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kRowsPerThread = 2 };
  enum : int { kWeights = 2 };
  enum : int { kMinBlocks = 10 };
  enum : bool { kInTurn = true };
};
static_assert(swish_layer_norm_smem_bytes<Config> == 2048, "host and device disagree about shared memory");
}  // namespace hstu

// swish_layer_norm dtype=f32 weight_dtype=none has_weight=0 fp8=none scaling=0 dim=99 vector=1 rows=1024
// swish_layer_norm_sm80 sm_80 threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// swish_layer_norm_sm80 sm_90a threads=64 threads_per_row=32 rows_per_thread=1 weights=0
// 24 lines, those above but for
  using Element = float;
  using Weight = float;
  enum : bool { kHasWeight = false };
  enum : bool { kHasBias = false };
  enum : int { kDim = 99 };
  enum : int { kVector = 1 };
  enum : int { kThreads = 64 };
  enum : int { kRowsPerThread = 1 };
  enum : int { kWeights = 0 };
  enum : int { kMinBlocks = 1 };
  enum : bool { kInTurn = false };
static_assert(swish_layer_norm_smem_bytes<Config> == 0, "host and device disagree about shared memory");

