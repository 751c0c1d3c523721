// rel_bias_sm80: the relative bias of positions and times, kernels/attention/rel_bias_sm80.cuh.
#include "families/attention/rel_bias.hpp"
#include "families/families.hpp"
#include "operators/attention/rel_bias.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <bit>

namespace hstujit {
namespace {

enum : int { kThreads, kRows, kKnobCount };

constexpr int64_t kWarp = 32, kLine = 128;

constexpr int32_t kThreadsValues[] = {128, 256, 512};
constexpr int32_t kRowsValues[] = {8, 16, 32, 64};
constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block, which share the tables of buckets"},
    {"rows", kRowsValues, "of a thread's columns: more share the columns' times and the tables"},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

/// Measured on an H200, bf16 32 x 2048 x 2048: 128 threads and 16 rows 73 us, 8 rows 77, 32 rows 79; 256 and 32 78.
Config default_config(const Problem& p, const DeviceFacts& device) {
  Config c;
  c[kThreads] = 128;
  c[kRows] = 8;
  const int64_t elements =
      int64_t{p[rel_bias::kBatch]} * p[rel_bias::kNumHeads] * p[rel_bias::kPositions] * p[rel_bias::kPositions];
  const int64_t per_row = int64_t{c[kThreads]} * p[rel_bias::kVector];  // of a block
  while (c[kRows] < 16 && elements / (per_row * c[kRows] * 2) > 8 * device.sm_count) c[kRows] *= 2;
  return c;
}

/// Of an SM: of 65536 registers 96 a thread; 64 lose more than warps gain.
int min_blocks(const Config& c) { return 640 / c[kThreads]; }

/// sizeof(rel_bias::Storage): buckets, steps, the times of a block's rows and of 128 bytes of columns a warp.
int smem_bytes(const Problem& p, const Config& c) {
  const int columns = static_cast<int>(kLine / size_of(static_cast<hstu_dtype>(p[rel_bias::kDtype])));
  return 16 * hstu::RelBiasParams::kBuckets + 8 * hstu::RelBiasParams::kSteps +
         4 * (c[kRows] * c[kThreads] / 8 + columns * (c[kThreads] / 32));
}

Resources resources(const Problem& p, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = smem_bytes(p, c), .registers = 40, .min_blocks = min_blocks(c)};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[rel_bias::kDtype])));
  text.type("Table", device_type(static_cast<hstu_dtype>(p[rel_bias::kTableDtype])));
  text.constant("kVector", p[rel_bias::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kRows", c[kRows]);
  text.constant("kMinBlocks", min_blocks(c));
}

/// The power of two from `count` on, at most `most`, which is one.
int64_t next_power(int64_t count, int64_t most) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(count, 1, most))));
}

/// Lanes that lie side by side in a row of so many pieces: for 128 bytes.
int64_t row_lanes(const Problem& p, int64_t pieces) {
  const int64_t bytes = p[rel_bias::kVector] * size_of(static_cast<hstu_dtype>(p[rel_bias::kDtype]));
  return next_power(pieces, std::min(kLine / bytes, kWarp));
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_rel_bias_args*>(args);
  const int64_t pairs = a.rab.shape[0] * a.rab.shape[1], n = a.rab.shape[3], groups = n / problem[rel_bias::kVector];
  const int64_t lanes = row_lanes(problem, groups), warps = c[kThreads] / kWarp;
  const int64_t across = next_power(ceil_div(groups, lanes), warps), strip = lanes * across;  // pieces
  const int64_t strips = ceil_div(groups, strip);
  const int64_t block_rows = c[kRows] * (c[kThreads] / strip), depth = std::min(pairs, rel_bias::kMostDepth);
  launch.grid[0] = static_cast<uint32_t>(strips * ceil_div(pairs, depth));
  launch.grid[1] = static_cast<uint32_t>(ceil_div(n, block_rows));
  launch.grid[2] = static_cast<uint32_t>(depth);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, c));
  auto& p = launch.emplace<hstu::RelBiasParams>();
  rel_bias::fill(a, p);
  p.lane_bits = static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(lanes)));
  p.warp_bits = static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(across)));
  p.strips = static_cast<unsigned>(strips);
}

}  // namespace

const Family kRelBiasSm80 = {
    .name = "rel_bias_sm80",
    .room = "attention",
    .op = Op::rel_bias,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = {},
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "rel_bias_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
