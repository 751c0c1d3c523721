// rms_norm_bwd_sm80 and swish_layer_norm_bwd_sm80: gradients of norms whose results may go through a function, in one
// launch bound by memory, kernels/norm/rows/norm_gradient.cuh. They differ in the Config and in what a call has.
#include "families/families.hpp"
#include "families/norm/row_norm.hpp"
#include "norm/row_norm_bwd.h"
#include "operators/norm/row_norm_backward.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

namespace key = row_norm_backward;
using row_norm::team_of;

constexpr int kWarp = 32;
constexpr int64_t kMaxValues = 16;           // of a row that a thread has: kMaxBackwardValues of the kernel
constexpr int64_t kLongestHeld = 512 * 16;   // by the largest block that may have registers for its sums
constexpr int64_t kMostSharedSums = 131072;  // bytes of the sums of long rows
constexpr int64_t kNarrow = 128;             // columns, up to which fewer threads a row gain
constexpr int kExchanged = 16;               // bytes of a warp's sums over a row

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
  bool has_dx, has_dresidual, has_moments;
  bool centred, through_function;  ///< results are more than the norm
};

Facts facts_of(const Problem& p) {
  const bool centred = p.op == Op::swish_layer_norm_backward;
  return {.dim = p[key::kDim],
          .pitch = layer_norm_backward::padded(p[key::kDim]),
          .vector = p[key::kVector],
          .element_bytes = size_of(static_cast<hstu_dtype>(p[key::kDtype])),
          .weight_bytes = size_of(static_cast<hstu_dtype>(p[key::kWeightDtype])),
          .sums = p[key::kHasDweight] + p[key::kHasDbias],
          .inputs = 2 + p[key::kHasDresidual],
          .has_dx = p[key::kHasDx] != 0,
          .has_dresidual = p[key::kHasDresidual] != 0,
          .has_moments = p[key::kHasMoments] != 0,
          .centred = centred,
          .through_function = centred || p[key::kActivation] != HSTU_ACTIVATION_NONE};
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
      ahead * threads * (f.inputs * accesses_of(f, c) * f.vector * f.element_bytes + (f.has_moments ? 8 : 0));
  const int64_t teams = f.sums * values_of(f, c) * (threads + 32 / f.vector) * 4;
  return exchange + static_cast<int>(std::max({rows, teams, totals}));
}

/// Registers that each value of a thread takes: x, dout, sums, weight and bias, what passes the norm, and what they are
/// made of.
double registers_of_value(const Facts& f) {
  double each = 2 + 0.95 * f.sums;
  if (f.has_dx) each += f.sums > 0 ? 1.35 : 0.15;
  if (f.centred) each += f.has_dx ? 1.15 : 0.45;
  if (f.has_dresidual && f.centred) each += 0.6;
  if (f.has_dx || f.through_function) each += 0.24 * f.weight_bytes * (f.centred ? 2 : 1);
  return each;
}

/// Of a thread. Fitted to 760 kernels of all kinds, compiled for fewer and fewer registers until they spilled, for both
/// generations, and a few more.
int registers_of(const Facts& f, const Config& c) {
  if (is_looped(f, c)) return f.through_function ? 96 : 72;
  const int bytes = f.vector * f.element_bytes;  // of an access
  const double accesses = (bytes == 2 ? 1.2 : bytes == 4 ? 0.3 : 0) * static_cast<double>(accesses_of(f, c));
  const double values = registers_of_value(f) * static_cast<double>(values_of(f, c));
  return static_cast<int>(std::ceil(32 + (f.sums > 0 ? 1.5 : 0) + (f.has_dresidual ? 4 : 0) + accesses + values));
}

bool teams_divide_block(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kThreadsPerRow] <= c[kThreads];
}
bool no_idle_half(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return c[kThreadsPerRow] == 1 || int64_t{c[kThreadsPerRow]} * f.vector < 2 * f.dim;
}

/// Whether rows can be held: the largest block with registers for 16 values of each thread has 512 threads, where few
/// kinds do with the 128 that it leaves; 8 values always do.
bool is_held(const Facts& f) {
  Config largest;
  largest[kThreadsPerRow] = 512;
  return f.dim <= kLongestHeld / 2 || (f.dim <= kLongestHeld && registers_of(f, largest) <= register_budget(1, 512));
}
bool values_fit(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return !is_looped(f, c) || !is_held(f);
}
bool long_rows_take_a_block(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return is_held(f) ||
         (is_looped(f, c) && c[kThreadsPerRow] == c[kThreads] && c[kThreads] >= 256 && c[kRowsAhead] == 1);
}
bool blocks_fit(const Problem& p, const Config& c, const DeviceFacts& device) {
  const Facts f = facts_of(p);
  return c[kBlocksPerSm] * c[kThreads] <= device.threads_per_sm &&
         smem_holds(device, c[kBlocksPerSm], smem_bytes(f, c)) &&
         registers_of(f, c) <= register_budget(c[kBlocksPerSm], c[kThreads]);
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

/// Measured on an H200 with 512 columns of bf16: three blocks of 256 threads an SM, 8 values a thread, two rows ahead.
/// Swish, which holds most of a row, is a third faster with 16 values, so that a warp has a row, and one row ahead.
Config default_config(const Problem& problem, const DeviceFacts& device) {
  const Facts f = facts_of(problem);
  Config c;
  c[kBlocksPerSm] = 3;
  if (!is_held(f)) {
    c[kThreads] = f.dim <= kLongestHeld ? 256 : 512;  // 512 would hold the row after all
    c[kThreadsPerRow] = c[kThreads];
    c[kRowsAhead] = 1;
  } else {
    const int32_t narrow = std::min(team_of(f.dim, int64_t{4} * f.vector), kWarp);
    const auto hold = [&](int64_t values) {
      c[kThreadsPerRow] = std::clamp(team_of(f.dim, values), narrow, 512);
      c[kThreads] = std::max(f.centred ? 128 : 256, c[kThreadsPerRow]);
    };
    c[kRowsAhead] = f.centred ? 1 : 2;
    hold(f.centred || f.dim <= kNarrow ? kMaxValues : kMaxValues / 2);
    Config alone = c;
    alone[kBlocksPerSm] = 1;
    if (!blocks_fit(problem, alone, device)) hold(kMaxValues / 2);
  }
  while (c[kBlocksPerSm] > 1 && !blocks_fit(problem, c, device)) --c[kBlocksPerSm];
  while (c[kRowsAhead] > 1 && !blocks_fit(problem, c, device)) --c[kRowsAhead];
  return c;
}

Resources resources(const Problem& problem, const Config& c) {
  const Facts f = facts_of(problem);
  return {.threads = c[kThreads],
          .smem_bytes = smem_bytes(f, c),
          .registers = registers_of(f, c),
          .min_blocks = c[kBlocksPerSm]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const Facts f = facts_of(p);
  const auto type = [&](int field, int instead) {
    return device_type(static_cast<hstu_dtype>(p[field] != HSTU_DTYPE_NONE ? p[field] : instead));
  };
  const bool weighted = p[key::kWeightDtype] != HSTU_DTYPE_NONE;
  text.type("Element", type(key::kDtype, 0));
  text.type("Weight", type(key::kWeightDtype, p[key::kDtype]));
  text.type("Gradient", type(key::kGradientDtype, p[key::kDtype]));
  text.type("Output", f.centred ? "tile::SwishOfNorm" : f.through_function ? "tile::SiluOfNorm" : "tile::NormOnly");
  text.flag("kCentred", f.centred);
  text.flag("kHasWeight", weighted);
  text.flag("kHasBias", weighted && f.centred);
  text.flag("kHasMoments", f.has_moments);
  text.flag("kHasDresidual", f.has_dresidual);
  text.flag("kHasDx", f.has_dx);
  text.flag("kHasDweight", p[key::kHasDweight] != 0);
  text.flag("kHasDbias", p[key::kHasDbias] != 0);
  text.constant("kDim", p[key::kDim]);
  text.constant("kVector", p[key::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kThreadsPerRow", c[kThreadsPerRow]);
  text.constant("kRowsAhead", c[kRowsAhead]);
  text.constant("kBlocksPerSm", c[kBlocksPerSm]);
}

template <class Args>
void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts& device, Launch& launch) {
  const Args& a = *static_cast<const Args*>(args);
  auto& p = launch.emplace<hstu::RowNormBwdParams>();
  p.x = a.forward.x.data;
  p.weight = a.forward.weight.data;
  p.dout = a.dout.data;
  p.dresidual = a.dresidual.data;
  p.moments = static_cast<const float*>(a.moments.data);
  p.valid_rows = a.valid_rows.data;
  p.dx = a.dx.data;
  p.dweight = a.dweight.data;
  if constexpr (requires { a.dbias; }) {
    p.bias = a.forward.bias.data;
    p.dbias = a.dbias.data;
  }
  p.partials = static_cast<float*>(a.workspace);
  p.rows = a.forward.x.shape[0];
  p.x_row_stride = a.forward.x.stride[0];
  p.dout_row_stride = a.dout.stride[0];
  p.dresidual_row_stride = a.dresidual.stride[0];
  p.moments_row_stride = a.moments.stride[0];
  p.dx_row_stride = a.dx.stride[0];
  p.eps = static_cast<float>(a.forward.eps);
  p.accumulate = a.accumulate;
  p.valid_rows_i64 = a.valid_rows.dtype == HSTU_DTYPE_I64;

  // Without rows a block writes sums of nothing.
  const int64_t with_rows = std::max<int64_t>(ceil_div(p.rows, c[kThreads] / c[kThreadsPerRow]), 1);
  const int64_t resident =
      std::min<int64_t>(int64_t{c[kBlocksPerSm]} * device.sm_count, layer_norm_backward::kMostBlocks);
  launch.grid[0] = static_cast<uint32_t>(std::min(with_rows, resident));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(facts_of(problem), c));
}

/// One of the two: they differ by what is named.
constexpr Family family(std::string_view name, Op op, std::string_view smem_expression,
                        void (*bind)(const void*, const Problem&, const Config&, const DeviceFacts&, Launch&)) {
  return {.name = name,
          .room = "norm",
          .op = op,
          .min_compute_capability = 80,
          .knobs = kKnobs,
          .rules = kRules,
          .covers = covers,
          .default_config = default_config,
          .resources = resources,
          .write_config = write_config,
          .smem_expression = smem_expression,
          .bind = bind,
          .tile_counters_at = offsetof(hstu::LayerNormBwdParams, counters)};
}

}  // namespace

const Family kRmsNormBwdSm80 = family("rms_norm_bwd_sm80", Op::rms_norm_backward, "rms_norm_bwd_smem_bytes<Config>",
                                      bind<hstu_rms_norm_backward_args>);
const Family kSwishLayerNormBwdSm80 =
    family("swish_layer_norm_bwd_sm80", Op::swish_layer_norm_backward, "swish_layer_norm_bwd_smem_bytes<Config>",
           bind<hstu_swish_layer_norm_backward_args>);

}  // namespace hstujit
