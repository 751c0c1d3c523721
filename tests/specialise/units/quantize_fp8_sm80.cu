// quantize_fp8 dtype=bf16 fp8=e4m3 scaling=2 columns=1024 vector=16 static=0 power_of_two=0 rows=131072
// quantize_fp8_sm80 sm_80 threads=256 team=8 accesses=1 vector=16
// quantize_fp8_sm80 sm_90a threads=256 team=8 accesses=1 vector=16
#include "fp8/quantize_fp8_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  using Fp8 = e4m3;
  enum : int { kScaling = 2 };
  enum : int { kColumns = 1024 };
  enum : bool { kStatic = false };
  enum : bool { kPowerOfTwo = false };
  enum : int { kThreads = 256 };
  enum : int { kTeam = 8 };
  enum : int { kAccesses = 1 };
  enum : int { kVector = 16 };
  enum : int { kMinBlocks = 1 };
};
static_assert(quantize_fp8_sm80_smem_bytes<Config> == 0, "host and device disagree about shared memory");
}  // namespace hstu

// quantize_fp8 dtype=bf16 fp8=e5m2 scaling=1 columns=512 vector=16 static=0 power_of_two=1 rows=65536
// quantize_fp8_sm80 sm_80 threads=256 team=32 accesses=1 vector=16
// quantize_fp8_sm80 sm_90a threads=256 team=32 accesses=1 vector=16
// 17 lines, those above but for
  using Fp8 = e5m2;
  enum : int { kScaling = 1 };
  enum : int { kColumns = 512 };
  enum : bool { kPowerOfTwo = true };
  enum : int { kTeam = 32 };

// quantize_fp8 dtype=f32 fp8=e4m3 scaling=1 columns=70001 vector=1 static=0 power_of_two=0 rows=64
// quantize_fp8_sm80 sm_80 threads=1024 team=1024 accesses=1 vector=1
// quantize_fp8_sm80 sm_90a threads=1024 team=1024 accesses=1 vector=1
// 17 lines, those above but for
  using Element = float;
  enum : int { kScaling = 1 };
  enum : int { kColumns = 70001 };
  enum : int { kThreads = 1024 };
  enum : int { kTeam = 1024 };
  enum : int { kVector = 1 };
static_assert(quantize_fp8_sm80_smem_bytes<Config> == 128, "host and device disagree about shared memory");

// quantize_fp8 dtype=f16 fp8=e4m3 scaling=1 columns=0 vector=16 static=0 power_of_two=0 rows=64
// quantize_fp8_sm80 sm_80 threads=256 team=1 accesses=1 vector=16
// quantize_fp8_sm80 sm_90a threads=256 team=1 accesses=1 vector=16
// 17 lines, those above but for
  using Element = f16;
  enum : int { kScaling = 1 };
  enum : int { kColumns = 0 };
  enum : int { kTeam = 1 };

// quantize_fp8 dtype=f16 fp8=e4m3 scaling=3 columns=130 vector=2 static=0 power_of_two=0 rows=4096
// quantize_fp8_sm80 sm_80 threads=256 team=256 accesses=1 vector=2
// quantize_fp8_sm80 sm_90a threads=256 team=256 accesses=1 vector=2
// 17 lines, those above but for
  using Element = f16;
  enum : int { kScaling = 3 };
  enum : int { kColumns = 130 };
  enum : int { kTeam = 256 };
  enum : int { kVector = 2 };
static_assert(quantize_fp8_sm80_smem_bytes<Config> == 32, "host and device disagree about shared memory");

// quantize_fp8 dtype=f32 fp8=e4m3 scaling=3 columns=512 vector=8 static=0 power_of_two=0 rows=4096
// quantize_fp8_sm80 sm_80 threads=512 team=512 accesses=1 vector=8
// quantize_fp8_sm80 sm_90a threads=512 team=512 accesses=1 vector=8
// 17 lines, those above but for
  using Element = float;
  enum : int { kScaling = 3 };
  enum : int { kColumns = 512 };
  enum : int { kThreads = 512 };
  enum : int { kTeam = 512 };
  enum : int { kVector = 8 };
static_assert(quantize_fp8_sm80_smem_bytes<Config> == 64, "host and device disagree about shared memory");

// quantize_fp8 dtype=bf16 fp8=e4m3 scaling=2 columns=333 vector=1 static=0 power_of_two=0 rows=128
// quantize_fp8_sm80 sm_80 threads=256 team=16 accesses=1 vector=1
// quantize_fp8_sm80 sm_90a threads=256 team=16 accesses=1 vector=1
// 17 lines, those above but for
  enum : int { kColumns = 333 };
  enum : int { kTeam = 16 };
  enum : int { kVector = 1 };

// quantize_fp8 dtype=bf16 fp8=e4m3 scaling=0 columns=1024 vector=16 static=0 power_of_two=0 rows=65536
// quantize_fp8_sm80 sm_80 threads=256 team=1 accesses=2 vector=8
// quantize_fp8_sm80 sm_90a threads=256 team=1 accesses=2 vector=8
// 17 lines, those above but for
  enum : int { kScaling = 0 };
  enum : int { kTeam = 1 };
  enum : int { kAccesses = 2 };
  enum : int { kVector = 8 };

// quantize_fp8 dtype=f32 fp8=e5m2 scaling=0 columns=7 vector=1 static=1 power_of_two=0 rows=64
// quantize_fp8_sm80 sm_80 threads=256 team=1 accesses=2 vector=1
// quantize_fp8_sm80 sm_90a threads=256 team=1 accesses=2 vector=1
// 17 lines, those above but for
  using Element = float;
  using Fp8 = e5m2;
  enum : int { kScaling = 0 };
  enum : int { kColumns = 7 };
  enum : bool { kStatic = true };
  enum : int { kTeam = 1 };
  enum : int { kAccesses = 2 };
  enum : int { kVector = 1 };

