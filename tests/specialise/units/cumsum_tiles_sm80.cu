// complete_cumsum dtype=i32 out_dtype=i64 count=65536
// cumsum_tiles_sm80 sm_80 stage_kb=16 stages=6 summers=1 stretches=4 writers=8
// cumsum_tiles_sm80 sm_90a stage_kb=16 stages=6 summers=1 stretches=4 writers=8
#include "jagged/cumsum_tiles_sm80.cuh"
namespace hstu {
struct Config {
  using Value = i32;
  using Result = i64;
  using Sum = u64;
  enum : bool { kRereads = false };
  enum : int { kStageBytes = 16384 };
  enum : int { kStages = 6 };
  enum : int { kSummers = 1 };
  enum : int { kStretches = 4 };
  enum : int { kWriters = 8 };
  enum : int { kMinBlocks = 1 };
};
static_assert(cumsum_tiles_sm80_smem_bytes<Config> == 99872, "host and device disagree about shared memory");
}  // namespace hstu

// complete_cumsum dtype=f32 out_dtype=f32 count=1073741824
// cumsum_tiles_sm80 sm_80 stage_kb=32 stages=3 summers=1 stretches=8 writers=16
// 16 lines, those above but for
  using Value = float;
  using Result = float;
  using Sum = double;
  enum : bool { kRereads = true };
  enum : int { kStageBytes = 32768 };
  enum : int { kStages = 3 };
  enum : int { kStretches = 8 };
  enum : int { kWriters = 16 };
static_assert(cumsum_tiles_sm80_smem_bytes<Config> == 99728, "host and device disagree about shared memory");

// complete_cumsum dtype=f32 out_dtype=f32 count=1073741824
// cumsum_tiles_sm80 sm_90a stage_kb=32 stages=6 summers=1 stretches=8 writers=16
// 16 lines, those above but for
  using Value = float;
  using Result = float;
  using Sum = double;
  enum : bool { kRereads = true };
  enum : int { kStageBytes = 32768 };
  enum : int { kStretches = 8 };
  enum : int { kWriters = 16 };
static_assert(cumsum_tiles_sm80_smem_bytes<Config> == 198368, "host and device disagree about shared memory");

