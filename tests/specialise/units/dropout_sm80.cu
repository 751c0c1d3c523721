// dropout dtype=bf16 active=1 flat=1 words=1 vector=8 rows=524288 dim=512
// dropout_sm80 sm_80 threads=64 accesses=4
// dropout_sm80 sm_90a threads=64 accesses=4
#include "norm/dropout_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  enum : bool { kActive = true };
  enum : bool { kFlat = true };
  enum : int { kWords = 1 };
  enum : int { kVector = 8 };
  enum : int { kThreads = 64 };
  enum : int { kAccesses = 4 };
  enum : int { kMinBlocks = 1 };
};
}  // namespace hstu

// dropout dtype=f32 active=1 flat=0 words=4 vector=4 rows=65536 dim=1024
// dropout_sm80 sm_80 threads=128 accesses=1
// dropout_sm80 sm_90a threads=128 accesses=1
// 13 lines, those above but for
  using Element = float;
  enum : bool { kFlat = false };
  enum : int { kWords = 4 };
  enum : int { kVector = 4 };
  enum : int { kThreads = 128 };
  enum : int { kAccesses = 1 };

// dropout dtype=f16 active=1 flat=0 words=4 vector=1 rows=64 dim=64
// dropout_sm80 sm_80 threads=128 accesses=1
// dropout_sm80 sm_90a threads=128 accesses=1
// 13 lines, those above but for
  using Element = f16;
  enum : bool { kFlat = false };
  enum : int { kWords = 4 };
  enum : int { kVector = 1 };
  enum : int { kThreads = 128 };
  enum : int { kAccesses = 1 };

// dropout dtype=f16 active=0 flat=1 words=1 vector=8 rows=64 dim=64
// dropout_sm80 sm_80 threads=128 accesses=1
// dropout_sm80 sm_90a threads=128 accesses=1
// 13 lines, those above but for
  using Element = f16;
  enum : bool { kActive = false };
  enum : int { kThreads = 128 };
  enum : int { kAccesses = 1 };

