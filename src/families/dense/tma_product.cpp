#include "families/dense/tma_product.hpp"

#include "support/ceil_div.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <limits>

namespace hstujit::tma_product {
namespace {

constexpr int32_t kBlockMValues[] = {64, 128, 256};
constexpr int32_t kBlockNValues[] = {64, 128, 192, 256};
constexpr int32_t kFlagValues[] = {0, 1};
constexpr int32_t kClusterValues[] = {1, 2};
constexpr int32_t kGroupValues[] = {8, 16};
constexpr int32_t kBoxesValues[] = {2, 4};

constexpr int kSmemPerBlock = 227 * 1024;  // of every device with these instructions
constexpr int kFewestStages = 3;
constexpr int kBoxBytes = 16 * 128, kWarps = 8;
constexpr int kPanel = 64;  // lines of an operand along its extent

int resident_bytes(const Facts& f, const Config& c) { return c[kResident] ? slices(f) * c[kBlockN] * 128 : 0; }
int stage_bytes(const Config& c) { return (c[kBlockM] + (c[kResident] ? 0 : c[kBlockN])) * 128; }
int tile_boxes(const Facts& f, const Config& c) { return rows(c) / 64 * c[kBlockN] / f.results / f.passes / 64; }
/// Everything but the ring's stages.
int fixed_bytes(const Facts& f, const Config& c) {
  constexpr int kPingPongBarriers = 16;
  return resident_bytes(f, c) + kWarps * boxes(f, c) * kBoxBytes + f.epilogue_bytes + kPingPongBarriers +
         (c[kResident] ? 8 * slices(f) : 0);
}
int stages_that_fit(const Facts& f, const Config& c) {
  constexpr int kBarriers = 16;  // a stage's
  return (kSmemPerBlock - fixed_bytes(f, c)) / (stage_bytes(c) + kBarriers);
}
int64_t tile_columns(const Facts& f, const Config& c) { return ceil_div(f.n, c[kBlockN] / f.results); }
int64_t tiles(const Facts& f, const Config& c) { return ceil_div(f.m, c[kBlockM]) * tile_columns(f, c); }

uint32_t grid(const Facts& f, const Config& c, const DeviceFacts& device) {
  const int64_t tile_rows = ceil_div(f.m, c[kBlockM]), columns = tile_columns(f, c);
  if (c[kResident]) return static_cast<uint32_t>(columns * std::min(tile_rows, device.sm_count / columns));
  const int64_t clusters = ceil_div(tile_rows, c[kCluster]) * columns;
  return static_cast<uint32_t>(std::min<int64_t>(clusters, device.sm_count / c[kCluster]) * c[kCluster]);
}

}  // namespace

const Knob kKnobs[kSharedKnobs] = {
    {"block_m", kBlockMValues, "rows of a tile: reuse of w, against waste on few rows"},
    {"block_n", kBlockNValues, "columns of a tile: reuse of x, and products of wgmma that long"},
    {"ping_pong", kFlagValues, "a tile each for the warpgroups, whose epilogues then run beside the other's products"},
    {"resident", kFlagValues, "columns of w stay in shared memory: less traffic, where k is short"},
    {"cluster", kClusterValues, "blocks that fetch w together"},
    {"group", kGroupValues, "tile rows walked together, so that concurrent blocks share operands in L2"},
    {"boxes", kBoxesValues, "stores in flight a warp, for stages of the ring"},
};

int rows(const Config& c) { return c[kPingPong] ? c[kBlockM] : c[kBlockM] / 2; }
int accumulators(const Config& c) { return rows(c) * c[kBlockN] / 128; }
int slices(const Facts& f) { return static_cast<int>(ceil_div(f.k * f.element_bytes, 128)); }
int boxes(const Facts& f, const Config& c) {
  return f.residual ? tile_boxes(f, c) : std::min<int>(tile_boxes(f, c), c[kBoxes]);
}
int stages(const Facts& f, const Config& c) { return std::min(stages_that_fit(f, c), f.most_stages); }
int smem_bytes(const Facts& f, const Config& c) { return fixed_bytes(f, c) + stages(f, c) * (stage_bytes(c) + 16); }

bool parts_are_whole(const Config& c) {
  return rows(c) >= 64 && rows(c) <= 128 && accumulators(c) <= 192 && c[kBlockM] <= 2 * c[kBlockN];
}
bool tile_is_used(const Facts& f, const Config& c) {
  const int64_t least = c[kPingPong] ? 64 : 128;
  return c[kBlockM] <= std::max(least, f.m) && c[kBlockN] < 2 * f.results * std::max<int64_t>(64, f.n);
}
bool residency_pays(const Facts& f, const Config& c, const DeviceFacts& device) {
  return !c[kResident] ||
         (c[kPingPong] && slices(f) <= 16 && tile_columns(f, c) <= device.sm_count && tiles(f, c) >= device.sm_count);
}
bool cluster_pays(const Facts& f, const Config& c, const DeviceFacts& device) {
  return c[kCluster] == 1 || (!c[kResident] && f.w_along_k && c[kBlockN] == 256 && tiles(f, c) >= 2 * device.sm_count);
}
bool boxes_differ(const Facts& f, const Config& c) { return c[kBoxes] == 2 || (!f.residual && tile_boxes(f, c) > 2); }
bool ring_is_deep(const Facts& f, const Config& c) { return stages_that_fit(f, c) >= kFewestStages; }
bool large_products_take_large_tiles(const Facts& f, const Config& c, const DeviceFacts& device) {
  const int64_t large = f.m / 128 * (f.n * f.results / 128);
  return large < 4 * device.sm_count || c[kBlockM] * c[kBlockN] >= 64 * 128;
}

namespace {

// In the order of the knobs. Short k, while there are tiles enough; then streamed tiles, large ones first.
constexpr Config kResidentCandidates[] = {{{64, 256, 1, 1, 1, 8, 2}}, {{64, 128, 1, 1, 1, 8, 2}}};
constexpr Config kCandidates[] = {
    {{128, 192, 1, 0, 1, 8, 2}}, {{128, 128, 1, 0, 1, 8, 2}}, {{64, 256, 1, 0, 1, 8, 4}},  {{64, 128, 1, 0, 1, 8, 2}},
    {{64, 64, 1, 0, 1, 8, 2}},   {{256, 128, 0, 0, 1, 8, 2}}, {{128, 128, 0, 0, 1, 8, 2}}, {{128, 64, 0, 0, 1, 8, 2}},
};

/// How much of the columns that tiles cover is there.
double used_columns(const Facts& f, const Config& c) {
  return static_cast<double>(f.n * f.results) / static_cast<double>(tile_columns(f, c) * c[kBlockN]);
}

}  // namespace

Config default_config(const Family& family, const Problem& p, const Facts& f, const DeviceFacts& device) {
  for (const Config& c : kResidentCandidates)
    if (legal(family, p, c, device) && tiles(f, c) >= 4 * device.sm_count && used_columns(f, c) > 0.9) return c;
  const Config* last = nullptr;
  for (const Config& c : kCandidates) {
    if (!legal(family, p, c, device)) continue;
    if (last && (*last)[kPingPong] != c[kPingPong]) break;  // the others are for families without ping-pong
    last = &c;
    // The waste of 192 shows in few tiles; of large ones both warpgroups of a block want one.
    const int64_t tenths = c[kBlockN] == 192 ? 36 : c[kPingPong] && c[kBlockM] * c[kBlockN] >= 128 * 128 ? 18 : 9;
    if (10 * tiles(f, c) >= tenths * device.sm_count && used_columns(f, c) > 0.95) return c;
  }
  if (!last) fail(HSTU_ERROR_INTERNAL, "{} has no default configuration for {}", family.name, text(p));
  return *last;
}

Resources resources(const Facts& f, const Config& c, int held_registers) {
  return {kThreads, smem_bytes(f, c), held_registers, 1, kHolders};
}

bool activates_part(int64_t active, int64_t n, int tile_columns) { return active < n && active % tile_columns != 0; }

void write_knobs(ConfigText& text, const Facts& f, const Config& c) {
  text.constant("kBlockM", c[kBlockM]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", stages(f, c));
  text.flag("kPingPong", c[kPingPong] != 0);
  text.flag("kResident", c[kResident] != 0);
  text.constant("kSlices", c[kResident] ? slices(f) : 0);
  text.constant("kCluster", c[kCluster]);
  text.constant("kGroup", c[kGroup]);
  text.constant("kBoxes", boxes(f, c));
  text.constant("kThreads", kThreads);
  text.constant("kMinBlocks", 1);
}

void shape_launch(const Facts& f, const Config& c, const DeviceFacts& device, Launch& launch) {
  launch.grid[0] = grid(f, c, device);
  launch.block[0] = kThreads;
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(f, c));
  launch.cluster = static_cast<uint32_t>(c[kCluster]);
}

namespace {

/// Of `lines` lines of contiguous elements, `stride` elements apart; a single line needs no stride, but the map does.
TensorMapSpec lines_of(const hstu_tensor& t, int64_t length, int64_t lines, int64_t stride) {
  const auto bytes = static_cast<uint64_t>(size_of(static_cast<hstu_dtype>(t.dtype)));
  TensorMapSpec spec;
  spec.base = t.data;
  spec.dtype = t.dtype;
  spec.rank = 2;
  spec.extent[0] = static_cast<uint64_t>(length);
  spec.extent[1] = static_cast<uint64_t>(lines);
  spec.stride[0] = lines > 1 ? static_cast<uint64_t>(stride) * bytes : (spec.extent[0] * bytes + 15) / 16 * 16;
  spec.box[0] = static_cast<uint32_t>(128 / bytes);
  return spec;
}

}  // namespace

void encode_operand(const hstu_tensor& t, int k, bool along_k, int tile, int shares, hstu::TensorMap& map) {
  const int inner = along_k ? k : 1 - k;
  TensorMapSpec spec = lines_of(t, t.shape[inner], t.shape[1 - inner], t.stride[1 - inner]);
  spec.box[1] = static_cast<uint32_t>((along_k ? tile : kPanel) / shares);
  encode_tensor_map(spec, map);
}

void encode_rows(const hstu_tensor& t, hstu::TensorMap& map) {
  TensorMapSpec spec = lines_of(t, t.shape[1], t.shape[0], t.stride[0]);
  spec.box[1] = 16;
  if (size_of(static_cast<hstu_dtype>(t.dtype)) == 1) spec.box[0] = 64, spec.swizzle = Swizzle::bytes64;
  encode_tensor_map(spec, map);
}

void encode_result(Parts parts, hstu::TensorMap (&z)[1], int (&)[4]) { encode_rows(*parts[0], z[0]); }
void encode_result(Parts parts, hstu::TensorMap (&z)[4], int (&z_first)[4]) {
  int count = 4;
  while (count > 1 && parts[count - 1]->shape[1] == 0) --count;
  int first = 0;
  for (int part = 0; part < 4; ++part) {
    const int columns = static_cast<int>(parts[part]->shape[1]);
    if (columns > 0) encode_rows(*parts[part], z[part]);
    z_first[part] = part < count ? first : std::numeric_limits<int>::max();
    first += columns;
  }
}

}  // namespace hstujit::tma_product
