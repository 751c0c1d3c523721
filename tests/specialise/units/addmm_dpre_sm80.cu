// addmm_dpre dtype=bf16 activation=1 partial=0 flat=1 vector=8 m=131072 n=2048
// addmm_dpre_sm80 sm_80 threads=128 accesses=2
// addmm_dpre_sm80 sm_90a threads=128 accesses=2
#include "dense/addmm_dpre_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  enum : int { kActivation = 1 };
  enum : bool { kPartial = false };
  enum : bool { kFlat = true };
  enum : int { kVector = 8 };
  enum : int { kThreads = 128 };
  enum : int { kAccesses = 2 };
};
}  // namespace hstu

// addmm_dpre dtype=f16 activation=3 partial=1 flat=0 vector=8 m=65536 n=512
// addmm_dpre_sm80 sm_80 threads=128 accesses=2
// addmm_dpre_sm80 sm_90a threads=128 accesses=2
// 12 lines, those above but for
  using Element = f16;
  enum : int { kActivation = 3 };
  enum : bool { kPartial = true };
  enum : bool { kFlat = false };

// addmm_dpre dtype=f32 activation=4 partial=0 flat=1 vector=4 m=4096 n=512
// addmm_dpre_sm80 sm_80 threads=128 accesses=2
// addmm_dpre_sm80 sm_90a threads=128 accesses=2
// 12 lines, those above but for
  using Element = float;
  enum : int { kActivation = 4 };
  enum : int { kVector = 4 };

// addmm_dpre dtype=bf16 activation=4 partial=1 flat=0 vector=1 m=1024 n=67
// addmm_dpre_sm80 sm_80 threads=128 accesses=2
// addmm_dpre_sm80 sm_90a threads=128 accesses=2
// 12 lines, those above but for
  enum : int { kActivation = 4 };
  enum : bool { kPartial = true };
  enum : bool { kFlat = false };
  enum : int { kVector = 1 };

// addmm_dpre dtype=f32 activation=1 partial=1 flat=0 vector=2 m=16 n=128
// addmm_dpre_sm80 sm_80 threads=128 accesses=2
// addmm_dpre_sm80 sm_90a threads=128 accesses=2
// 12 lines, those above but for
  using Element = float;
  enum : bool { kPartial = true };
  enum : bool { kFlat = false };
  enum : int { kVector = 2 };

// addmm_dpre dtype=f16 activation=1 partial=0 flat=1 vector=2 m=256 n=32
// addmm_dpre_sm80 sm_80 threads=128 accesses=2
// addmm_dpre_sm80 sm_90a threads=128 accesses=2
// 12 lines, those above but for
  using Element = f16;
  enum : int { kVector = 2 };

// addmm_dpre dtype=f32 activation=3 partial=0 flat=0 vector=4 m=4096 n=1024
// addmm_dpre_sm80 sm_80 threads=128 accesses=2
// addmm_dpre_sm80 sm_90a threads=128 accesses=2
// 12 lines, those above but for
  using Element = float;
  enum : int { kActivation = 3 };
  enum : bool { kFlat = false };
  enum : int { kVector = 4 };

