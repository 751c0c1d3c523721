// dequantize_fp8 dtype=bf16 fp8=e4m3 scaling=2 columns=1024 vector=16 rows=131072
// dequantize_fp8_sm80 sm_80 threads=256 accesses=2 vector=8
// dequantize_fp8_sm80 sm_90a threads=256 accesses=2 vector=8
#include "fp8/dequantize_fp8_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Fp8 = e4m3;
  enum : int { kScaling = 2 };
  enum : int { kColumns = 1024 };
  enum : int { kThreads = 256 };
  enum : int { kAccesses = 2 };
  enum : int { kVector = 8 };
  enum : int { kMinBlocks = 1 };
};
}  // namespace hstu

// dequantize_fp8 dtype=f16 fp8=e5m2 scaling=1 columns=100 vector=4 rows=128
// dequantize_fp8_sm80 sm_80 threads=256 accesses=2 vector=4
// dequantize_fp8_sm80 sm_90a threads=256 accesses=2 vector=4
// 13 lines, those above but for
  using Element = f16;
  using Fp8 = e5m2;
  enum : int { kScaling = 1 };
  enum : int { kColumns = 100 };
  enum : int { kVector = 4 };

// dequantize_fp8 dtype=f32 fp8=e4m3 scaling=3 columns=512 vector=8 rows=128
// dequantize_fp8_sm80 sm_80 threads=256 accesses=2 vector=4
// dequantize_fp8_sm80 sm_90a threads=256 accesses=2 vector=4
// 13 lines, those above but for
  using Element = float;
  enum : int { kScaling = 3 };
  enum : int { kColumns = 512 };
  enum : int { kVector = 4 };

// dequantize_fp8 dtype=f32 fp8=e4m3 scaling=0 columns=33 vector=1 rows=128
// dequantize_fp8_sm80 sm_80 threads=256 accesses=2 vector=1
// dequantize_fp8_sm80 sm_90a threads=256 accesses=2 vector=1
// 13 lines, those above but for
  using Element = float;
  enum : int { kScaling = 0 };
  enum : int { kColumns = 33 };
  enum : int { kVector = 1 };

