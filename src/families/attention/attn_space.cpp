#include "families/attention/attn_space.hpp"

#include "families/attention/attn_grid.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit::attn_space {
namespace {

constexpr int32_t kRowsPerWarpValues[] = {16, 32};
constexpr int32_t kWarpsValues[] = {4, 8};
constexpr int32_t kBlockNValues[] = {32, 48, 64, 96, 128};
constexpr int32_t kStagesValues[] = {2, 3, 4};
constexpr int32_t kQStepsValues[] = {0, 2, 4, 8, 16};
constexpr int32_t kMinBlocksValues[] = {1, 2, 3, 4};

int padded(int32_t head_dim) { return (head_dim + 15) / 16 * 16; }
int padded_qk(const Shape& s) { return padded(s.head_dim_qk); }
int padded_v(const Shape& s) { return padded(s.head_dim_v); }

/// Accumulators of O and S and the resident part of Q, per thread.
int held_registers(const Shape& s, const Config& c) {
  return c[kRowsPerWarp] / 16 * (padded_v(s) / 2 + c[kBlockN] / 2 + 4 * c[kQSteps]);
}

/// Whether no other point of the space takes fewer registers.
bool takes_least(const Config& c) {
  return c[kRowsPerWarp] == 16 && c[kWarps] == 4 && c[kBlockN] == 32 && c[kQSteps] == 0;
}

/// What __launch_bounds__ leaves a thread.
int register_budget(const Config& c) { return hstujit::register_budget(c[kMinBlocks], c[kWarps] * 32); }

/// Whether the shared memory of an SM holds the tiles of `blocks` blocks.
bool blocks_fit(const Shape& s, const Config& c, const DeviceFacts& device, int blocks) {
  return smem_holds(device, blocks, smem_bytes(s, c));
}

constexpr decltype(&smem_fits) kAllRules[] = {q_fits_its_steps, registers_suffice, registers_are_used, smem_fits,
                                              some_warps_to_switch};

}  // namespace

const std::array<Knob, kKnobCount> kKnobs = {{
    {"rows_per_warp", kRowsPerWarpValues, "32 rows halve the shared-memory reads of K and V, 16 fit head dim 256"},
    {"warps", kWarpsValues, "query rows a block: more share each K and V tile, fewer waste less on short sequences"},
    {"block_n", kBlockNValues, "keys a step: long runs of products, for registers and masked waste"},
    {"stages", kStagesValues, "K and V tiles in flight"},
    {"q_steps", kQStepsValues, "k16 steps of Q that stay in registers instead of being read again for each key block"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one block's special functions run beside another's products"},
}};

int panel_kinds(int32_t head_dim) {
  const int cols = padded(head_dim);
  return (cols >= 64) + (cols % 64 >= 32) + (cols % 32 == 16);
}

int smem_bytes(const Shape& s, const Config& c) {
  const int ring = 2 * (block_m(c) * padded_qk(s) + c[kStages] * c[kBlockN] * (padded_qk(s) + padded_v(s)));
  const int output = 2 * block_m(c) * padded_v(s);
  return std::max(ring, output) + 512 + 32 * s.intervals;  // barriers and the tile's description
}

bool q_fits_its_steps(const Shape& s, const Config& c, const DeviceFacts&) { return c[kQSteps] * 16 <= padded_qk(s); }
bool registers_suffice(const Shape& s, const Config& c, const DeviceFacts&) {
  // Fragments, pointers and masks; more where Q stays beside two row tiles or long scores (most with four warps, whose
  // threads copy twice as much of a key block, also of 96 keys), where barriers pass the stages on or the block is
  // large, where two row tiles have long scores, and for element-wise copies; and for heads whose columns take panels
  // of several widths, each with addresses of its own.
  const bool two_row_tiles = c[kRowsPerWarp] == 32, q_stays = c[kQSteps] > 0;
  const bool long_scores = c[kBlockN] == 128, longer = c[kBlockN] == 96 && c[kWarps] == 4;
  const int others = !s.vector                  ? 88
                     : q_stays && long_scores   ? (c[kWarps] == 4 ? 120 : 112)
                     : q_stays && two_row_tiles ? 80
                     : two_row_tiles && (c[kStages] > 2 || c[kMinBlocks] == 1 || long_scores) ? 64
                     : longer && !two_row_tiles                                               ? 80
                                                                                              : 56;
  const int sums = s.softmax ? (two_row_tiles || q_stays ? 16 : 8) : 0;
  const int spare = two_row_tiles ? s.spare : s.spare * 3 / 4;
  // Of which options' spare registers count the most already; with all registers that a thread can have, the compiler
  // finds places for the others of the least that can be asked for.
  const bool all_there_are = takes_least(c) && c[kMinBlocks] <= 2;
  const int panels =
      (s.spare > 0 || all_there_are ? 2 : 8) * (panel_kinds(s.head_dim_qk) + panel_kinds(s.head_dim_v) - 2);
  return held_registers(s, c) + others + sums + spare + panels <= register_budget(c);
}
bool registers_are_used(const Shape& s, const Config& c, const DeviceFacts& device) {
  constexpr int kIdle = 136;
  Config more = c;
  more[kMinBlocks] += 1;
  if (takes_least(c) && !registers_suffice(s, more, device)) return true;
  return c[kMinBlocks] * c[kWarps] >= 16 || held_registers(s, c) + s.spare + kIdle >= register_budget(c) ||
         !blocks_fit(s, c, device, more[kMinBlocks]);
}
bool smem_fits(const Shape& s, const Config& c, const DeviceFacts& device) {
  return blocks_fit(s, c, device, c[kMinBlocks]);
}
bool some_warps_to_switch(const Shape& s, const Config& c, const DeviceFacts& device) {
  return c[kMinBlocks] * c[kWarps] >= 8 || !blocks_fit(s, c, device, c[kMinBlocks] + 1);
}

/// Measured best on an H200, by registers that O takes; each falls back to what fits smaller devices.
Config default_config(const Shape& s, const DeviceFacts& device) {
  const int q_all = padded_qk(s) / 16;
  const auto steps = [&](int most) {
    return std::find_if(std::rbegin(kQStepsValues), std::rend(kQStepsValues),
                        [&](int count) { return count <= std::min(most, q_all); });
  };
  const Config candidates[] = {
      {{32, 4, 64, 2, 0, 3}},          {{32, 4, 64, 2, 0, 2}},          {{32, 4, 32, 2, 0, 2}},
      {{32, 8, 64, 2, 0, 1}},          {{32, 8, 32, 2, 0, 1}},          {{16, 8, 32, 4, *steps(16), 1}},
      {{16, 8, 32, 2, *steps(16), 1}}, {{16, 4, 32, 2, *steps(16), 2}}, {{16, 8, 32, 2, 0, 1}},
      {{16, 4, 32, 2, 0, 2}},          {{16, 4, 32, 2, 0, 4}},          {{16, 4, 32, 2, 0, 3}},
      {{16, 4, 32, 2, 0, 1}},
  };
  for (const Config& c : candidates)
    if (std::ranges::all_of(kAllRules, [&](const auto& rule) { return rule(s, c, device); })) return c;
  return candidates[std::size(candidates) - 1];
}

Resources resources(const Shape& s, const Config& c) {
  return {c[kWarps] * 32, smem_bytes(s, c), held_registers(s, c), c[kMinBlocks]};
}

void write_knobs(ConfigText& text, const Config& c) {
  text.constant("kRowsPerWarp", c[kRowsPerWarp]);
  text.constant("kWarps", c[kWarps]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", c[kStages]);
  text.constant("kQSteps", c[kQSteps]);
  text.constant("kMinBlocks", c[kMinBlocks]);
}

int section_pairs(int64_t pairs, int64_t bytes_of_all, const DeviceFacts& device) {
  int64_t sections = 1;
  while (sections < pairs && bytes_of_all > sections * (device.l2_bytes / 2)) sections *= 2;
  return static_cast<int>(ceil_div(pairs, sections));
}

int set_grid(Launch& launch, const Shape& s, const Config& c, int64_t pairs, int64_t rows) {
  return attn_grid::set(launch, pairs, rows, block_m(c), c[kWarps] * 32, smem_bytes(s, c));
}

}  // namespace hstujit::attn_space
