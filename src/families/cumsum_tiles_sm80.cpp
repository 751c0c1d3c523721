// cumsum_tiles_sm80: prefix sums of long vectors, kernels/cumsum_tiles_sm80.cuh.
#include "families/families.hpp"
#include "params/jagged_lengths.h"
#include "params/tile_counter.h"
#include "problem/jagged_fields.hpp"

#include <algorithm>
#include <cstddef>

namespace hstujit {
namespace {

enum : int { kThreads, kAccesses, kParts, kKnobCount };

constexpr int32_t kThreadsValues[] = {256, 512, 1024};
constexpr int32_t kAccessesValues[] = {2, 4};
constexpr int32_t kPartsValues[] = {1, 2, 4, 8};

constexpr int kPieceBytes = 16;

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "large tiles are fewer sums to wait for, small ones end together"},
    {"accesses", kAccessesValues, "of 16 bytes, a thread: bytes on their way, for registers"},
    {"parts", kPartsValues, "of a tile: more than one are read twice, then from L2, and fewer sums are waited for"},
};

bool covers(const Problem& p, const DeviceFacts&) { return p[cumsum::kCount] > cumsum::kMostByBlocks; }

/// Measured on an H200, 33,554,432 values, copy 4165 GB/s: i32 with 1, 4 and 8 parts 1180, 1550 and 1590 GB/s, f32
/// 1170, 1840 and 1940, i64 1390, 1820 and 2040.
Config default_config(const Problem& p, const DeviceFacts&) {
  return {{256, 4, p[cumsum::kCount] < 1 << 23 ? 1 : p[cumsum::kCount] < 1 << 25 ? 4 : 8}};
}

int value_bytes(const Problem& p) { return p[cumsum::kDtype] == HSTU_DTYPE_I64 ? 8 : 4; }
bool wide_sums(const Problem& p) {
  return p[cumsum::kDtype] != HSTU_DTYPE_I32 || p[cumsum::kOutDtype] != HSTU_DTYPE_I32;
}
int sum_bytes(const Problem& p) { return wide_sums(p) ? 8 : 4; }
int64_t part_values(const Problem& p, const Config& c) {
  return int64_t{c[kThreads]} * c[kAccesses] * (kPieceBytes / value_bytes(p));
}
/// Whether tiles may have several parts: because they should, or because a board may have fewer entries than there are
/// parts; the bucket says at most how many, up to the last one.
bool rereads(const Problem& p, const Config& c) {
  return c[kParts] > 1 || p[cumsum::kCount] >= 1 << 30 ||
         p[cumsum::kCount] > hstu::LaunchBoard::kTiles * part_values(p, c);
}

/// sizeof(cumsum_tiles::Storage): a sum a warp and one more, two words, a board, and entries of a block's own.
int smem_bytes(const Problem& p, const Config& c) {
  const int words = sum_bytes(p) * (c[kThreads] / 32 + 1) + 8;
  return (words + 7) / 8 * 8 + 24 + 16 * (64 + 32 + 8);
}

/// Of 65536 registers: 16 for values on their way with four accesses, and four or eight for the sums before them.
int min_blocks(const Problem& p, const Config& c) {
  const bool four = c[kAccesses] == 4;
  int threads = four && c[kParts] == 1 ? 768 : 1024;
  if (wide_sums(p)) threads = four && p[cumsum::kOutDtype] == HSTU_DTYPE_I64 ? 512 : 768;
  return std::max(threads / c[kThreads], 1);
}

bool registers_hold_sums(const Problem& p, const Config& c, const DeviceFacts&) {
  return !wide_sums(p) || c[kThreads] < 1024;
}

constexpr Rule kRules[] = {
    {"1024 threads have no registers for sums of 8 bytes", registers_hold_sums, true},
};

Resources resources(const Problem& p, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = smem_bytes(p, c), .registers = 24, .min_blocks = min_blocks(p, c)};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[cumsum::kDtype]);
  text.type("Value", device_type(dtype));
  text.type("Result", device_type(static_cast<hstu_dtype>(p[cumsum::kOutDtype])));
  text.type("Sum", dtype == HSTU_DTYPE_F32 ? "double" : wide_sums(p) ? "u64" : "u32");
  text.flag("kRereads", rereads(p, c));
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kMinBlocks", min_blocks(p, c));
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_complete_cumsum_args*>(args);
  auto& p = launch.emplace<hstu::CumsumTilesParams>();
  p.values = a.values.data;
  p.out = a.out.data;
  p.count = a.values.shape[0];
  const int64_t part = part_values(problem, c), most = hstu::LaunchBoard::kTiles * part;
  p.tile_parts = std::max(c[kParts], static_cast<int>((p.count + most - 1) / most));
  p.tiles = static_cast<unsigned>((p.count + part * p.tile_parts - 1) / (part * p.tile_parts));
  launch.grid[0] = std::min(p.tiles, static_cast<uint32_t>(device.sm_count * min_blocks(problem, c)));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, c));
}

}  // namespace

const Family kCumsumTilesSm80 = {
    .name = "cumsum_tiles_sm80",
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
