// layer_norm_bwd_sm80: gradient of layer norm in one launch bound by memory, kernels/norm/layer_norm_bwd_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/row_norm.hpp"
#include "norm/layer_norm_bwd.h"
#include "operators/norm/layer_norm_backward.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

namespace key = layer_norm_backward;
using row_norm::team_of;

constexpr int kWarp = 32;
constexpr int64_t kMaxValues = 16;           // of a row that a thread has: kMaxBackwardValues of the kernel
constexpr int64_t kLongestHeld = 512 * 16;   // by the largest block that may have registers for its sums
constexpr int64_t kMostSharedSums = 131072;  // bytes of the sums of long rows
constexpr int64_t kNarrow = 128;             // columns, up to which fewer threads a row gain
constexpr int kExchanged = 32;               // bytes of a warp's sums over a row

enum : int { kThreads, kThreadsPerRow, kRowsAhead, kBlocksPerSm };

constexpr int32_t kThreadsValues[] = {64, 128, 256, 512, 1024};
constexpr int32_t kThreadsPerRowValues[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr int32_t kRowsAheadValues[] = {1, 2, 3, 4};
constexpr int32_t kBlocksPerSmValues[] = {1, 2, 3, 4, 5, 6, 8, 10, 12};

constexpr Knob kKnobs[] = {
    {"threads", kThreadsValues, "large blocks leave fewer partial sums, small ones wait for fewer warps"},
    {"threads_per_row", kThreadsPerRowValues, "few threads exchange less, many hold fewer sums each"},
    {"rows_ahead", kRowsAheadValues, "more loads in flight, for shared memory"},
    {"blocks_per_sm", kBlocksPerSmValues, "more threads hide more, with fewer registers each and more partial sums"},
};

struct Facts {
  int64_t dim, pitch;
  int vector, element_bytes, weight_bytes;
  int sums, inputs;  ///< over the rows; rows read for a row
  bool has_dx, has_dresidual, reads_x, reads_moments, reads_weight;
};

Facts facts_of(const Problem& p) {
  const bool reads_x = p[key::kHasDx] || p[key::kHasDweight];
  const int inputs = 1 + reads_x + p[key::kHasDresidual];
  const int element_bytes = size_of(static_cast<hstu_dtype>(p[key::kDtype]));
  return {.dim = p[key::kDim],
          .pitch = key::padded(p[key::kDim]),
          .vector = p[key::kVector],
          .element_bytes = element_bytes,
          .weight_bytes = size_of(static_cast<hstu_dtype>(p[key::kWeightDtype])),
          .sums = p[key::kHasDweight] + p[key::kHasDbias],
          .inputs = inputs,
          .has_dx = p[key::kHasDx] != 0,
          .has_dresidual = p[key::kHasDresidual] != 0,
          .reads_x = reads_x,
          .reads_moments = p[key::kHasMoments] && reads_x,
          .reads_weight = p[key::kHasDx] && p[key::kWeightDtype] != HSTU_DTYPE_NONE};
}

int64_t accesses_of(const Facts& f, const Config& c) { return ceil_div(f.dim, int64_t{c[kThreadsPerRow]} * f.vector); }
int64_t values_of(const Facts& f, const Config& c) { return accesses_of(f, c) * f.vector; }
/// Whether a block reads its row again for each step, instead of holding it.
bool is_looped(const Facts& f, const Config& c) { return values_of(f, c) > kMaxValues; }

int smem_bytes(const Facts& f, const Config& c) {
  const int threads = c[kThreads], ahead = c[kRowsAhead];
  const int exchange = c[kThreadsPerRow] > kWarp ? 2 * threads / kWarp * kExchanged : 16;
  const int64_t totals = f.sums > 0 ? std::min(threads / 8, 16) * 128 : 0;
  if (is_looped(f, c)) {
    const int64_t sums = f.sums * f.pitch * 4;
    return exchange + static_cast<int>(std::max(totals, sums <= kMostSharedSums ? sums : 0));
  }
  const int64_t rows =
      ahead * threads * (f.inputs * accesses_of(f, c) * f.vector * f.element_bytes + (f.reads_moments ? 8 : 0));
  const int64_t teams = f.sums * values_of(f, c) * (threads + 32 / f.vector) * 4;
  return exchange + static_cast<int>(std::max({rows, teams, totals}));
}

/// Registers that each value of a thread takes: x, dout, sums, and what they are made of.
double registers_of_value(const Facts& f, const Config& c, bool sm90) {
  const bool f32 = f.element_bytes == 4, part = f.dim % (int64_t{c[kThreadsPerRow]} * f.vector) != 0;
  if (!f.has_dx) return f.reads_x ? 1.9 + 0.65 * f.sums : f32 ? 1.1 : 0.6;
  if (f.sums == 0) return 2.35 + (f.reads_weight ? 0.1 * f.weight_bytes : 0) + (f.has_dresidual ? 0.75 : 0);
  double each = f.sums == 1 ? (f32 ? 4.9 : 4) : (f32 ? 5.65 : 5.25);
  if (f.has_dresidual) each += sm90 ? 0.9 : (f32 ? 0.5 : 0) + (part ? 0.7 : 0);
  if (f.sums == 2 && sm90 && c[kThreadsPerRow] > kWarp && (f.reads_moments || part)) each += 0.75;
  return each;
}

/// Of a thread. Fitted to 4,400 kernels of all kinds, compiled for fewer and fewer registers until they spilled. None
/// of the 1,735 that spilled is taken; of the 2,654 that did not 488 are refused, half of them of 48 registers or
/// fewer.
int registers_of(const Facts& f, const Config& c, bool sm90) {
  if (is_looped(f, c)) return 72;
  const int bytes = f.vector * f.element_bytes;  // of an access
  const double of_access = bytes == 2 ? (f.reads_x ? 1.7 : 0.5) + (f.has_dresidual ? 1.3 : 0) : bytes == 4 ? 0.7 : 0;
  const double accesses = of_access * static_cast<double>(accesses_of(f, c));
  const double values = registers_of_value(f, c, sm90) * static_cast<double>(values_of(f, c));
  return static_cast<int>(std::ceil(29 + (f.sums > 0 ? 3.5 : 0) + accesses + values));
}

bool teams_divide_block(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kThreadsPerRow] <= c[kThreads];
}
bool no_idle_half(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return c[kThreadsPerRow] == 1 || int64_t{c[kThreadsPerRow]} * f.vector < 2 * f.dim;
}
bool is_sm90(const DeviceFacts& device) { return device.compute_capability >= 90; }

/// Whether rows can be held: the largest block with registers for 16 values of each thread has 512 threads, where most
/// kinds do with the 128 that it leaves, 256 always have enough.
bool is_held(const Facts& f, const DeviceFacts& device) {
  Config largest;
  largest[kThreadsPerRow] = 512;
  return f.dim <= kLongestHeld / 2 ||
         (f.dim <= kLongestHeld && registers_of(f, largest, is_sm90(device)) <= register_budget(1, 512));
}
bool values_fit(const Problem& p, const Config& c, const DeviceFacts& device) {
  const Facts f = facts_of(p);
  return !is_looped(f, c) || !is_held(f, device);
}
bool long_rows_take_a_block(const Problem& p, const Config& c, const DeviceFacts& device) {
  const Facts f = facts_of(p);
  return is_held(f, device) ||
         (is_looped(f, c) && c[kThreadsPerRow] == c[kThreads] && c[kThreads] >= 256 && c[kRowsAhead] == 1);
}
bool blocks_fit(const Problem& p, const Config& c, const DeviceFacts& device) {
  const Facts f = facts_of(p);
  return c[kBlocksPerSm] * c[kThreads] <= device.threads_per_sm &&
         smem_holds(device, c[kBlocksPerSm], smem_bytes(f, c)) &&
         registers_of(f, c, is_sm90(device)) <= register_budget(c[kBlocksPerSm], c[kThreads]);
}
bool enough_threads(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kBlocksPerSm] * c[kThreads] >= (is_looped(facts_of(p), c) ? 512 : 256);
}

constexpr Rule kRules[] = {
    {"threads must be a multiple of threads_per_row", teams_divide_block},
    {"half of the team's threads would hold nothing", no_idle_half},
    {"a thread would hold more sums than its registers take", values_fit},
    {"rows too long to be held are looped over by a whole block of 256 threads or more, none ahead",
     long_rows_take_a_block},
    {"so many blocks do not fit on an SM", blocks_fit},
    {"too few threads on an SM to hide anything", enough_threads, true},
};

bool covers(const Problem& problem, const DeviceFacts&) {
  return problem[key::kDim] > 0 && problem[key::kHasDx] + problem[key::kHasDweight] + problem[key::kHasDbias] > 0;
}

/// Measured on an H100 in bf16. 524288 x 512 takes 555 us with 8 values a thread, 574 with 16. 524288 x 128 takes 156
/// and 154. One block of 512 threads an SM: 4096 x 512 takes 14.0 us, with 4 of 128 threads 15.0. Rows of 6144 columns
/// are read again for each step: 65536 of them take 1.10 ms with three blocks an SM, 1.30 with two.
Config default_config(const Problem& problem, const DeviceFacts& device) {
  const Facts f = facts_of(problem);
  Config c;
  c[kThreads] = 512;
  if (!is_held(f, device)) {
    if (f.dim <= kLongestHeld) c[kThreads] = 256;  // 512 would hold the row after all
    c[kThreadsPerRow] = c[kThreads];
    c[kRowsAhead] = 1;
    c[kBlocksPerSm] = c[kThreads] == 256 ? 3 : 2;
  } else {
    const int32_t narrow = std::min(team_of(f.dim, int64_t{4} * f.vector), kWarp);
    c[kRowsAhead] = 2;
    c[kBlocksPerSm] = 1;
    c[kThreadsPerRow] = std::max(team_of(f.dim, kMaxValues), narrow);
    if (f.dim > kNarrow || !blocks_fit(problem, c, device))
      c[kThreadsPerRow] = std::clamp(team_of(f.dim, kMaxValues / 2), narrow, 512);
  }
  while (c[kBlocksPerSm] > 1 && !blocks_fit(problem, c, device)) --c[kBlocksPerSm];
  while (c[kRowsAhead] > 1 && !blocks_fit(problem, c, device)) --c[kRowsAhead];
  return c;
}

Resources resources(const Problem& problem, const Config& c) {
  const Facts f = facts_of(problem);
  return {.threads = c[kThreads],
          .smem_bytes = smem_bytes(f, c),
          .registers = registers_of(f, c, false),
          .min_blocks = c[kBlocksPerSm]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto type = [&](int field, int instead) {
    return device_type(static_cast<hstu_dtype>(p[field] != HSTU_DTYPE_NONE ? p[field] : instead));
  };
  text.type("Element", type(key::kDtype, 0));
  text.type("Weight", type(key::kWeightDtype, p[key::kDtype]));
  text.type("Gradient", type(key::kGradientDtype, p[key::kDtype]));
  text.flag("kHasWeight", p[key::kWeightDtype] != HSTU_DTYPE_NONE);
  text.flag("kHasMoments", p[key::kHasMoments] != 0);
  text.flag("kHasDresidual", p[key::kHasDresidual] != 0);
  text.flag("kHasDx", p[key::kHasDx] != 0);
  text.flag("kHasDweight", p[key::kHasDweight] != 0);
  text.flag("kHasDbias", p[key::kHasDbias] != 0);
  text.constant("kDim", p[key::kDim]);
  text.constant("kVector", p[key::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kThreadsPerRow", c[kThreadsPerRow]);
  text.constant("kRowsAhead", c[kRowsAhead]);
  text.constant("kBlocksPerSm", c[kBlocksPerSm]);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_layer_norm_backward_args*>(args);
  auto& p = launch.emplace<hstu::LayerNormBwdParams>();
  p.x = a.forward.x.data;
  p.weight = a.forward.weight.data;
  p.dout = a.dout.data;
  p.dresidual = a.dresidual.data;
  p.moments = static_cast<const float*>(a.moments.data);
  p.valid_rows = a.valid_rows.data;
  p.dx = a.dx.data;
  p.dweight = a.dweight.data;
  p.dbias = a.dbias.data;
  p.partials = static_cast<float*>(a.workspace);
  p.rows = a.forward.x.shape[0];
  p.x_row_stride = a.forward.x.stride[0];
  p.dout_row_stride = a.dout.stride[0];
  p.dresidual_row_stride = a.dresidual.stride[0];
  p.moments_row_stride = a.moments.stride[0];
  p.dx_row_stride = a.dx.stride[0];
  p.eps = a.forward.eps;
  p.accumulate = a.accumulate;
  p.valid_rows_i64 = a.valid_rows.dtype == HSTU_DTYPE_I64;

  // Without rows a block writes sums of nothing.
  const int64_t with_rows = std::max<int64_t>(ceil_div(p.rows, c[kThreads] / c[kThreadsPerRow]), 1);
  const int64_t resident = std::min<int64_t>(int64_t{c[kBlocksPerSm]} * device.sm_count, key::kMostBlocks);
  launch.grid[0] = static_cast<uint32_t>(std::min(with_rows, resident));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(facts_of(problem), c));
}

}  // namespace

const Family kLayerNormBwdSm80 = {
    .name = "layer_norm_bwd_sm80",
    .room = "norm",
    .op = Op::layer_norm_backward,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "layer_norm_bwd_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::LayerNormBwdParams, counters),
};

}  // namespace hstujit
