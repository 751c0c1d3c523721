#include "families/attention/attn_f32.hpp"

#include "families/attention/attn_grid.hpp"

namespace hstujit::attn_f32 {
namespace {

constexpr int32_t kBlockNValues[] = {16, 32};
constexpr int32_t kMinBlocksValues[] = {1, 2, 3};
constexpr int kThreads = 128, kBlockM = 32;  // of the kernel

int smem_bytes(const Shape& s, const Config& c) {
  const int qk = (s.head_dim_qk + 3) / 4 * 4 + 4, v = (s.head_dim_v + 15) / 16 * 16 + 4, n = c[kBlockN];
  return 4 * (kBlockM * qk + n * (qk + v) + kBlockM * (n + 4)) + 512 + 32 * s.intervals;
}

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"block_n", kBlockNValues, "keys a step: fewer barriers, for shared memory"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one loads beside another's products"},
};

bool smem_fits(const Shape& s, const Config& c, const DeviceFacts& device) {
  return smem_holds(device, c[kMinBlocks], smem_bytes(s, c));
}

/// Measured on an H100, ms with 16 and 32 keys a step, 32 sequences of 512: head dim 32 0.355, 0.384; 64 more than
/// 0.71, 0.685; 128 1.32, 1.51; 256 1.68, 2.05; 32 new rows on 512, head dim 128, more than 0.61, 0.59.
Config default_config(const Shape& s, const DeviceFacts& device) {
  const bool wide = s.cached || (s.head_dim_v > 32 && s.head_dim_v <= 64);
  for (const Config& c : {Config{{wide ? 32 : 16, 2}}, Config{{16, 2}}})
    if (smem_fits(s, c, device)) return c;
  return {{16, 1}};
}

Resources resources(const Shape& s, const Config& c) {
  return {kThreads, smem_bytes(s, c), (s.head_dim_v + 15) / 16 * 4 + c[kBlockN] / 4, c[kMinBlocks]};
}

void write_knobs(ConfigText& text, const Config& c) {
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kMinBlocks", c[kMinBlocks]);
}

int set_grid(Launch& launch, const Shape& s, const Config& c, int64_t pairs, int64_t rows) {
  return attn_grid::set(launch, pairs, rows, kBlockM, kThreads, smem_bytes(s, c));
}

}  // namespace hstujit::attn_f32
