// cumsum_tiles_sm80: prefix sums of long vectors, kernels/jagged/cumsum_tiles_sm80.cuh.
#include "families/families.hpp"
#include "jagged/jagged_lengths.h"
#include "operators/jagged/complete_cumsum.hpp"
#include "support/ceil_div.hpp"
#include "tile/tile_counter.h"

#include <algorithm>
#include <cstddef>

namespace hstujit {
namespace {

enum : int { kStageKb, kStages, kSummers, kStretches, kWriters, kKnobCount };

constexpr int32_t kStageKbValues[] = {8, 16, 24, 32};
constexpr int32_t kStagesValues[] = {3, 6, 9};
constexpr int32_t kSummersValues[] = {1, 2};
constexpr int32_t kStretchesValues[] = {2, 4, 8};
constexpr int32_t kWritersValues[] = {8, 16};

constexpr Knob kKnobs[kKnobCount] = {
    {"stage_kb", kStageKbValues, "of a tile: large ones are fewer sums to post and to wait for"},
    {"stages", kStagesValues, "tiles on their way, and time in which others post what lies before them"},
    {"summers", kSummersValues, "warps that add up stages: sums of 8 bytes take longer"},
    {"stretches", kStretchesValues, "of a stage, a writing warp's: small ones are written sooner, and free it"},
    {"writers", kWritersValues, "warps that write"},
};

bool covers(const Problem& p, const DeviceFacts&) { return p[cumsum::kCount] > cumsum::kMostByBlocks; }

int value_bytes(const Problem& p) { return p[cumsum::kDtype] == HSTU_DTYPE_I64 ? 8 : 4; }
bool wide_sums(const Problem& p) {
  return p[cumsum::kDtype] != HSTU_DTYPE_I32 || p[cumsum::kOutDtype] != HSTU_DTYPE_I32;
}
int sum_bytes(const Problem& p) { return wide_sums(p) ? 8 : 4; }
int stage_bytes(const Config& c) { return c[kStageKb] * 1024; }
int64_t stage_values(const Problem& p, const Config& c) { return stage_bytes(c) / value_bytes(p); }
/// Whether tiles may have several parts, because a board may have fewer entries than there are stages to fill; the
/// bucket says at most how many, up to the last one.
bool rereads(const Problem& p, const Config& c) {
  return p[cumsum::kCount] >= 1 << 30 || p[cumsum::kCount] > hstu::LaunchBoard::kTiles * stage_values(p, c);
}

/// sizeof(cumsum_tiles::Storage): stages, each with its sums, four barriers and two words; a barrier, two words, a
/// scheduler, a board, a block's own entries.
int smem_bytes(const Problem& p, const Config& c) {
  const int sums = c[kStages] * (1 + c[kStretches]) * sum_bytes(p);
  const int rest = (sums + 7) / 8 * 8 + c[kStages] * (32 + 8) + 8 + 8 + 24 + 16 + 64 * 16;
  return c[kStages] * stage_bytes(c) + (rest + 15) / 16 * 16;
}

int threads(const Config& c) { return 32 * (2 + c[kSummers] + c[kWriters]); }

bool memory_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_bytes(p, c) <= device.smem_per_block;
}
bool stages_are_shared_evenly(const Problem&, const Config& c, const DeviceFacts&) {
  const int sets = c[kWriters] / c[kStretches];
  return sets * c[kStretches] == c[kWriters] && sets % c[kSummers] == 0 && sets <= c[kStages];
}
bool parts_have_one_summer(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kSummers] == 1 || !rereads(p, c);
}

constexpr Rule kRules[] = {
    {"more stages than shared memory holds", memory_fits},
    {"writers and summers take stages round-robin, and have one each at the end", stages_are_shared_evenly},
    {"one warp adds up the parts of a tile", parts_have_one_summer},
};

/// Measured on an H200, 33,554,432 values, us, tiles of 16, 24 and 32 KB: i32 82, 73.1 and 73.3, f32 with two summers
/// –, 75.3 and 79.9 (with stretches of 4 KB 77.0), with one 94.6. 524,288 i32: 9.8 with 16 KB, 10.0 with 32.
Config default_config(const Problem& p, const DeviceFacts& device) {
  Config c{{32, 6, 1, 4, 8}};
  if (p[cumsum::kCount] < 1 << 20) {
    c = {{16, 6, 1, 4, 8}};
  } else if (p[cumsum::kDtype] == HSTU_DTYPE_F32) {
    c = {{24, 9, 2, 4, 8}};
    if (rereads(p, c)) c = {{32, 6, 2, 8, 16}};
    if (rereads(p, c)) c = {{32, 6, 1, 8, 16}};
  }
  while (!memory_fits(p, c, device)) c[kStages] -= 3;
  return c;
}

Resources resources(const Problem& p, const Config& c) {
  return {.threads = threads(c), .smem_bytes = smem_bytes(p, c), .registers = 40};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[cumsum::kDtype]);
  text.type("Value", device_type(dtype));
  text.type("Result", device_type(static_cast<hstu_dtype>(p[cumsum::kOutDtype])));
  text.type("Sum", dtype == HSTU_DTYPE_F32 ? "double" : wide_sums(p) ? "u64" : "u32");
  text.flag("kRereads", rereads(p, c));
  text.constant("kStageBytes", stage_bytes(c));
  text.constant("kStages", c[kStages]);
  text.constant("kSummers", c[kSummers]);
  text.constant("kStretches", c[kStretches]);
  text.constant("kWriters", c[kWriters]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_complete_cumsum_args*>(args);
  auto& p = launch.emplace<hstu::CumsumTilesParams>();
  p.values = a.values.data;
  p.out = a.out.data;
  p.count = a.values.shape[0];
  const int64_t stage = stage_values(problem, c), most = hstu::LaunchBoard::kTiles * stage;
  p.tile_parts = static_cast<int>(ceil_div(p.count, most));
  p.tiles = static_cast<unsigned>((p.count + stage * p.tile_parts - 1) / (stage * p.tile_parts));
  launch.grid[0] = std::min(p.tiles, static_cast<uint32_t>(device.sm_count));
  launch.block[0] = static_cast<uint32_t>(threads(c));
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, c));
}

}  // namespace

const Family kCumsumTilesSm80 = {
    .name = "cumsum_tiles_sm80",
    .room = "jagged",
    .op = Op::complete_cumsum,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "cumsum_tiles_sm80_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::CumsumTilesParams, tile_counters),
};

}  // namespace hstujit
