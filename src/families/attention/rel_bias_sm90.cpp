// rel_bias_sm90: the relative bias of positions and times through shared memory, kernels/attention/rel_bias_sm90.cuh.
#include "cuda/tensor_map.hpp"
#include "families/attention/rel_bias.hpp"
#include "families/families.hpp"
#include "operators/attention/rel_bias.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit {
namespace {

enum : int { kThreads, kTiles, kKnobCount };

constexpr int kRows = 32, kRowBytes = 256, kLineBytes = 16;  // of a tile; of an access
constexpr int64_t kLeastPositions = 1024;                    // as a bucket: from 513 on

constexpr int32_t kThreadsValues[] = {64, 128, 256};
constexpr int32_t kTilesValues[] = {1, 2};
constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block, whose warps share the tables of steps"},
    {"tiles", kTilesValues, "of a warp, one below the other: more share the columns' times and the tables"},
};

int element_bytes(const Problem& p) { return static_cast<int>(size_of(static_cast<hstu_dtype>(p[rel_bias::kDtype]))); }

/// sizeof(rel_bias::TileStorage): per warp a tile, times of rows and columns or the edges of buckets, position weights;
/// steps with their weights.
int smem_bytes(const Problem& p, const Config& c) {
  const int steps = hstu::RelBiasParams::kSteps + 2, words = kRows * c[kTiles] + kRowBytes / element_bytes(p);
  const int times = std::max<int>(words, hstu::RelBiasParams::kBuckets);
  return c[kThreads] / 32 * (kRows * kRowBytes + 4 * (times + words)) + 8 * steps;
}

/// Rows that TMA may store, of so many positions that diagonals cross few of the tiles.
bool covers(const Problem& p, const DeviceFacts&) {
  return p[rel_bias::kVector] * element_bytes(p) == kLineBytes && p[rel_bias::kPositions] >= kLeastPositions;
}

/// Measured on an H200, bf16, us: 32 x 2048 x 2048 128 threads 67.2, 64 67.6, 256 77, two tiles 71; 16 x 904 x 904 16.6
/// and 16.0, where the last of wide strips are nearly empty. As much by rel_bias_sm80 73.3 and 19.0; but 128 x 256 x
/// 256 12.8 instead of 14.2.
Config default_config(const Problem& p, const DeviceFacts&) {
  return {{p[rel_bias::kPositions] > kLeastPositions ? 128 : 64, 1}};
}

/// Of an SM: shared memory has room for 20 to 22 warps.
int min_blocks(const Config& c) { return 704 / c[kThreads]; }

Resources resources(const Problem& p, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = smem_bytes(p, c), .registers = 48, .min_blocks = min_blocks(c)};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[rel_bias::kDtype])));
  text.type("Table", device_type(static_cast<hstu_dtype>(p[rel_bias::kTableDtype])));
  text.constant("kThreads", c[kThreads]);
  text.constant("kTiles", c[kTiles]);
  text.constant("kMinBlocks", min_blocks(c));
}

/// The innermost dimension first, as the map has them.
TensorMapSpec rab_map(const hstu_tensor& rab, int64_t bytes) {
  TensorMapSpec spec;
  spec.base = rab.data;
  spec.dtype = rab.dtype;
  spec.rank = 4;
  spec.swizzle = Swizzle::none;
  for (int i = 0; i < 4; ++i) spec.extent[i] = static_cast<uint64_t>(rab.shape[3 - i]);
  for (int i = 0; i < 3; ++i)  // an extent of one needs no stride, but the map does
    spec.stride[i] = spec.extent[i + 1] > 1 ? static_cast<uint64_t>(rab.stride[2 - i] * bytes) : uint64_t{kLineBytes};
  spec.box[0] = static_cast<uint32_t>(kRowBytes / bytes), spec.box[1] = kRows, spec.box[2] = spec.box[3] = 1;
  return spec;
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_rel_bias_args*>(args);
  const int64_t pairs = a.rab.shape[0] * a.rab.shape[1], n = a.rab.shape[3], bytes = element_bytes(problem);
  const int64_t strip = kRowBytes / bytes * (c[kThreads] / 32), strips = ceil_div(n, strip);
  const int64_t block_rows = int64_t{kRows} * c[kTiles], depth = std::min(pairs, rel_bias::kMostDepth);
  launch.grid[0] = pairs == 0 ? 0 : static_cast<uint32_t>(strips * ceil_div(pairs, depth));
  if (launch.grid[0] == 0) return;
  launch.grid[1] = static_cast<uint32_t>(ceil_div(n, block_rows));
  launch.grid[2] = static_cast<uint32_t>(depth);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, c));
  auto& p = launch.emplace<hstu::RelBiasSm90Params>();
  encode_tensor_map(rab_map(a.rab, bytes), p.rab);
  rel_bias::fill(a, p.bias);
  p.bias.strips = static_cast<unsigned>(strips);
}

}  // namespace

const Family kRelBiasSm90 = {
    .name = "rel_bias_sm90",
    .room = "attention",
    .op = Op::rel_bias,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = {},
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "rel_bias_sm90_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
