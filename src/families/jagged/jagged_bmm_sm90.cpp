// jagged_bmm_sm90: products of sequences with matrices of their own on wgmma and TMA,
// kernels/jagged/jagged_bmm_sm90.cuh. Its tiles are those of addmm_sm90.
#include "jagged/jagged_bmm_sm90.h"

#include "families/dense/tma_product.hpp"
#include "families/families.hpp"
#include "families/jagged/jagged_map.hpp"
#include "operators/checks.hpp"
#include "operators/jagged/jagged_dense_bmm_broadcast_add.hpp"
#include "tile/addmm_terms.h"

#include <algorithm>

namespace hstujit {
namespace {

using tma_product::Facts;

Facts facts(const Problem& p, const Config& c) {
  Facts f;
  f.m = p[jagged_bmm::kRows];
  f.n = p[jagged_bmm::kN];
  f.k = p[jagged_bmm::kK];
  f.w_along_k = p[jagged_bmm::kDenseTransposed] != 0;
  f.residual = p[jagged_bmm::kBias] == hstu::kResidual;
  if (p[jagged_bmm::kBias] == hstu::kRowBias) f.epilogue_bytes = 2 * 4 * (c[tma_product::kBlockN] + 16);
  if (f.residual) f.epilogue_bytes = 8 * 8;  // a barrier a warp
  // The next sequence's slice is fetched with a stage that is free only behind the last product with this one's.
  if (c[tma_product::kResident]) f.most_stages = tma_product::slices(f);
  return f;
}

/// Rows of a sequence on average, which decide how tall tiles may be.
int64_t mean_rows(const Problem& p) { return p[jagged_bmm::kRows] / std::max(p[jagged_bmm::kBatch], 1); }

bool blocks_are_alone(const Problem&, const Config& c, const DeviceFacts&) { return c[tma_product::kCluster] == 1; }
bool sequences_fill_tiles(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[tma_product::kBlockM] <= std::max<int64_t>(64, 2 * mean_rows(p));
}
bool ring_outlasts_latency(const Problem& p, const Config& c, const DeviceFacts&) {
  return !c[tma_product::kResident] || tma_product::slices(facts(p, c)) >= 4;
}
bool sums_leave_room(const Problem&, const Config& c, const DeviceFacts&) {
  return !c[tma_product::kPingPong] || tma_product::accumulators(c) <= 128;
}

constexpr auto kRules = tma_product::rules<facts>(std::array<Rule, 4>{{
    {"tile rows that follow one another are mostly of different sequences: nothing to fetch together",
     blocks_are_alone},
    {"tiles twice as tall as sequences are on average are mostly empty", sequences_fill_tiles},
    {"beside resident slices the ring has no more stages than these: 4 at least", ring_outlasts_latency},
    {"192 sums of a ping-pong tile and its place among the sequences spill", sums_leave_room},
}});

/// What TMA takes: 16-byte aligned lines and addresses. sm_80's family takes the rest.
bool covers(const Problem& p, const DeviceFacts& device) {
  return device.target == "sm_90a" && p[jagged_bmm::kDtype] != HSTU_DTYPE_F32 && p[jagged_bmm::kVectorX] == 8 &&
         p[jagged_bmm::kVectorW] == 8 && p[jagged_bmm::kVectorZ] == 8 && p[jagged_bmm::kN] > 0 &&
         p[jagged_bmm::kK] > 0 && p[jagged_bmm::kRows] < tma_product::kMostRows;
}

Config default_config(const Problem& p, const DeviceFacts& device) {
  return tma_product::default_config(kJaggedBmmSm90, p, facts(p, {}), device);
}

Resources resources(const Problem& p, const Config& c) {
  return tma_product::resources(facts(p, c), c, tma_product::accumulators(c));
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[jagged_bmm::kDtype]);
  const auto bias = static_cast<hstu_dtype>(p[jagged_bmm::kBiasDtype]);
  text.type("Element", device_type(dtype));
  text.type("Bias", device_type(bias == HSTU_DTYPE_NONE ? dtype : bias));
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[jagged_bmm::kOffsetDtype])));
  text.constant("kBias", p[jagged_bmm::kBias]);
  text.flag("kXAlongK", true);
  text.flag("kWAlongK", p[jagged_bmm::kDenseTransposed] != 0);
  tma_product::write_knobs(text, facts(p, c), c);
}

/// Matrices as planes; a single one, for one sequence or shared by all, has no stride that the map could use.
TensorMapSpec dense_map(const hstu_tensor& dense, bool along_k, int tile) {
  const int inner = along_k ? 1 : 2, outer = 3 - inner;
  const auto bytes = static_cast<uint64_t>(checks::element_bytes(dense.dtype));
  TensorMapSpec spec;
  spec.base = dense.data;
  spec.dtype = dense.dtype;
  spec.rank = 3;
  spec.extent[0] = static_cast<uint64_t>(dense.shape[inner]);
  spec.extent[1] = static_cast<uint64_t>(dense.shape[outer]);
  spec.extent[2] = dense.stride[0] == 0 ? 1 : static_cast<uint64_t>(dense.shape[0]);
  const uint64_t line = (spec.extent[0] * bytes + 15) / 16 * 16;
  spec.stride[0] = spec.extent[1] > 1 ? static_cast<uint64_t>(dense.stride[outer]) * bytes : line;
  spec.stride[1] = spec.extent[2] > 1 ? static_cast<uint64_t>(dense.stride[0]) * bytes : spec.stride[0];
  spec.box[0] = static_cast<uint32_t>(128 / bytes);
  spec.box[1] = static_cast<uint32_t>(along_k ? tile : 64);
  spec.box[2] = 1;
  return spec;
}

/// Blocks of a walk over tile_rows x columns tiles.
int64_t grid(const Config& c, int64_t tile_rows, int64_t columns, const DeviceFacts& device) {
  if (c[tma_product::kResident]) return columns * std::min<int64_t>(tile_rows, device.sm_count / columns);
  return std::min<int64_t>(tile_rows * columns, device.sm_count);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_dense_bmm_broadcast_add_args*>(args);
  const int64_t batch = a.seq_offsets.shape[0] - 1, rows = a.jagged.shape[0], n = a.out.shape[1];
  const int64_t tiles_m = rows / c[tma_product::kBlockM] + batch;
  const Facts f = facts(p, c);
  launch.block[0] = tma_product::kThreads;
  launch.smem_bytes = static_cast<uint32_t>(tma_product::smem_bytes(f, c));
  launch.grid[0] = 0;
  if (batch == 0 || rows == 0) return;
  launch.grid[0] =
      static_cast<uint32_t>(grid(c, tiles_m, (n + c[tma_product::kBlockN] - 1) / c[tma_product::kBlockN], device));
  auto& k = launch.emplace<hstu::JaggedBmmTmaParams>();
  encode_tensor_map(jagged_map(a.jagged, c[tma_product::kBlockM]), k.x);
  encode_tensor_map(dense_map(a.dense, f.w_along_k, c[tma_product::kBlockN]), k.w);
  encode_tensor_map(jagged_map(a.out, 16), k.z);
  if (f.residual) encode_tensor_map(jagged_map(a.bias, 16), k.y);
  k.bias = a.bias.data;
  k.seq_offsets = a.seq_offsets.data;
  k.bias_stride = a.bias.stride[0];
  k.n = n;
  k.k = a.jagged.shape[1];
  k.batch = static_cast<int>(batch);
  k.tiles_m = static_cast<unsigned>(tiles_m);
  k.matrix_step = a.dense.stride[0] != 0;
}

}  // namespace

const Family kJaggedBmmSm90 = {
    .name = "jagged_bmm_sm90",
    .room = "jagged",
    .op = Op::jagged_dense_bmm_broadcast_add,
    .min_compute_capability = 90,
    .knobs = tma_product::kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "jagged_bmm_sm90_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
