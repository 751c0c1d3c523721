// dropout dtype=bf16 active=1 flat=1 words=1 vector=8 rows=524288 dim=512
// dropout_sm80 sm_80 threads=128 accesses=1
// dropout_sm80 sm_90a threads=128 accesses=1
#include "dropout_sm80.cuh"
namespace hstu {
struct Config {
  using Element = bf16;
  static constexpr bool kActive = true;
  static constexpr bool kFlat = true;
  static constexpr int kWords = 1;
  static constexpr int kVector = 8;
  static constexpr int kThreads = 128;
  static constexpr int kAccesses = 1;
  static constexpr int kMinBlocks = 1;
};
}  // namespace hstu

// dropout dtype=f32 active=1 flat=0 words=4 vector=4 rows=65536 dim=1024
// dropout_sm80 sm_80 threads=128 accesses=1
// dropout_sm80 sm_90a threads=128 accesses=1
#include "dropout_sm80.cuh"
namespace hstu {
struct Config {
  using Element = float;
  static constexpr bool kActive = true;
  static constexpr bool kFlat = false;
  static constexpr int kWords = 4;
  static constexpr int kVector = 4;
  static constexpr int kThreads = 128;
  static constexpr int kAccesses = 1;
  static constexpr int kMinBlocks = 1;
};
}  // namespace hstu

// dropout dtype=f16 active=1 flat=0 words=4 vector=1 rows=64 dim=64
// dropout_sm80 sm_80 threads=128 accesses=1
// dropout_sm80 sm_90a threads=128 accesses=1
#include "dropout_sm80.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  static constexpr bool kActive = true;
  static constexpr bool kFlat = false;
  static constexpr int kWords = 4;
  static constexpr int kVector = 1;
  static constexpr int kThreads = 128;
  static constexpr int kAccesses = 1;
  static constexpr int kMinBlocks = 1;
};
}  // namespace hstu

// dropout dtype=f16 active=0 flat=1 words=1 vector=8 rows=64 dim=64
// dropout_sm80 sm_80 threads=128 accesses=1
// dropout_sm80 sm_90a threads=128 accesses=1
#include "dropout_sm80.cuh"
namespace hstu {
struct Config {
  using Element = f16;
  static constexpr bool kActive = false;
  static constexpr bool kFlat = true;
  static constexpr int kWords = 1;
  static constexpr int kVector = 8;
  static constexpr int kThreads = 128;
  static constexpr int kAccesses = 1;
  static constexpr int kMinBlocks = 1;
};
}  // namespace hstu

