// build_sla_func offset_dtype=i64 target_dtype=i64 rows=65536
// build_sla_func_sm80 sm_80 threads=128
// build_sla_func_sm80 sm_90a threads=128
#include "attention/build_sla_func_sm80.cuh"
namespace hstu {
struct Config {
  using Offset = i64;
  using Target = i64;
  enum : bool { kHasTargets = true };
  enum : int { kThreads = 128 };
  enum : int { kMinBlocks = 1 };
};
}  // namespace hstu

// build_sla_func offset_dtype=i32 target_dtype=none rows=1024
// build_sla_func_sm80 sm_80 threads=128
// build_sla_func_sm80 sm_90a threads=128
// 10 lines, those above but for
  using Offset = i32;
  using Target = i32;
  enum : bool { kHasTargets = false };

