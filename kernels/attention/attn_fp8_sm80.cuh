// Forward HSTU attention of e4m3 tensors with the instructions of sm_80, which has no products of FP8: q, k and v are
// dequantised to 16 bits on their way to shared memory (attention/sm80/fp8_key_rows.cuh), and all else is
// attn_fwd_sm80.cuh.
#pragma once
#include "attention/attn_fwd_sm80.cuh"
#include "attention/sm80/fp8_key_rows.cuh"

namespace hstu {

// Problem facts in Config beside those of attn_fwd_sm80: kVectorIn (q, k and v are aligned to 8 bytes, head dims too),
// kBlockScales; Element is out's, and that of the tiles.
template <class Config>
__global__ void __launch_bounds__(AttnFwdSm80<Config>::kThreads, Config::kMinBlocks)
    attn_fp8_sm80(const __grid_constant__ AttnFwdParams p) {
  attn_fwd_sm80_detail::run<Config>(p);
}

}  // namespace hstu
