#include "families/attention/attn90.hpp"

#include "families/attention/attn_grid.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit::attn90 {
namespace {

constexpr int kRowBytes = 128, kStepBytes = 32;  // of a panel; of a k step

int panels(int columns, int element_bytes) { return (columns * element_bytes + kRowBytes - 1) / kRowBytes; }

/// Where a warp stages its rows of O, two boxes of 64 columns in turn, or adds up its sums.
int warp_output_bytes(const Shape& s) {
  const int boxes = std::min((s.head_dim_v + 63) / 64, 2) * kWarpRows * kRowBytes;
  return std::max(boxes, s.promotes ? cols_v(s) / 2 * 128 : 0);
}

/// Of V of FP8, in two or three stages of panels of 128 keys.
int transposed_bytes(const Shape& s, const Config& c) {
  const int stages = cols_v(s) <= 128 && c[kBlockN] <= 128 ? 3 : 2;
  return s.element_bytes == 1 ? stages * panels(c[kBlockN], 1) * kRowBytes * cols_v(s) : 0;
}

}  // namespace

int cols_v(const Shape& s) { return (s.head_dim_v + 15) / 16 * 16; }
int q_steps(const Shape& s) { return (s.head_dim_qk * s.element_bytes + kStepBytes - 1) / kStepBytes; }
int32_t q_steps_up_to(int32_t most, std::span<const int32_t> values, const Shape& s) {
  return *std::find_if(values.rbegin(), values.rend(),
                       [&](int32_t count) { return count <= std::min(most, q_steps(s)); });
}

int ring_bytes(const Shape& s, const Config& c) {
  const int row_panels = panels(s.head_dim_qk, s.element_bytes) + panels(s.head_dim_v, s.element_bytes);
  const int bias_bytes = s.bias ? panels(c[kBlockN], 2) * block_m(c) * kRowBytes : 0;
  return c[kStages] * (c[kBlockN] * row_panels * kRowBytes + bias_bytes);
}

int smem_bytes(const Shape& s, const Config& c) {
  constexpr int kRoomyIntervals = 3;
  const int extra_bytes = 1024 + (s.intervals > kRoomyIntervals ? (s.intervals + 3) / 4 * 1024 : 0);
  const int q_bytes = panels(s.head_dim_qk, s.element_bytes) * block_m(c) * kRowBytes;
  return q_bytes + ring_bytes(s, c) + transposed_bytes(s, c) + c[kConsumers] * 4 * warp_output_bytes(s) + extra_bytes;
}

int held_registers(const Shape& s, const Config& c) {
  return cols_v(s) / 2 + c[kBlockN] / 2 + c[kBlockN] * s.element_bytes / 8 + 4 * c[kQSteps];
}

int consumer_registers(const Shape& s, const Config& c) {
  const int launch = 65536 / (threads(c) * s.blocks) / 8 * 8, producer = c[kConsumers] == 3 ? 56 : s.producer_registers;
  return std::min((launch * (c[kConsumers] + 1) - producer) / c[kConsumers] / 8 * 8, 232);
}

Resources resources(const Shape& s, const Config& c) {
  return {threads(c), smem_bytes(s, c), held_registers(s, c), s.blocks, c[kConsumers] * 128};
}

void write_knobs(ConfigText& text, const Shape& s, const Config& c) {
  text.constant("kConsumers", c[kConsumers]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", c[kStages]);
  text.constant("kQSteps", c[kQSteps]);
  text.constant("kBlocks", s.blocks);
}

int section_pairs(const Shape& s, int64_t pairs, int64_t keys, const DeviceFacts& device, int percent) {
  constexpr int64_t kFewest = 16;
  const int64_t cache = device.l2_bytes;
  const int64_t bytes_of_all = pairs * keys * (s.head_dim_qk + s.head_dim_v) * s.element_bytes;
  int64_t sections = 1;
  const auto too_large = [&] {
    const bool many = pairs / (2 * sections) >= kFewest;
    return bytes_of_all > sections * (percent > 0 ? cache * percent / 100 : many ? cache / 2 : cache * 2);
  };
  while (sections < pairs && too_large()) sections *= 2;
  return static_cast<int>(ceil_div(pairs, sections));
}

int set_grid(Launch& launch, const Shape& s, const Config& c, int64_t pairs, int64_t rows, const DeviceFacts& device) {
  const int row_blocks = attn_grid::set(launch, pairs, rows, block_m(c), threads(c), smem_bytes(s, c));
  launch.grid[0] = std::min(launch.grid[0], static_cast<uint32_t>(device.sm_count * s.blocks));
  return row_blocks;
}

}  // namespace hstujit::attn90
