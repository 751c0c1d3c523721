// norm_mul_bwd_sm80: gradient of the HSTU output stage before its projection in one launch bound by memory,
// kernels/norm/norm_mul_bwd_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/dropout_rate.hpp"
#include "families/norm/row_norm.hpp"
#include "norm/norm_mul_bwd.h"
#include "operators/norm/norm_mul_backward.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace hstujit {
namespace {

namespace key = norm_mul_backward;
using row_norm::team_of;

constexpr int kWarp = 32;
constexpr int64_t kMaxValues = 16;          // of a row that a thread has: kMaxBackwardValues of the kernel
constexpr int64_t kMostSharedSums = 98304;  // bytes of the sums of long rows, for blocks of 99 KB
constexpr int64_t kNarrow = 128;            // columns, up to which fewer threads a row gain
constexpr int kExchanged = 16;              // bytes of a warp's sums over a row
constexpr int kMostPartsHeld = 2;           // moments of parts that a lane has in flight

enum : int { kThreads, kThreadsPerRow, kRowsAhead, kBlocksPerSm };

constexpr int32_t kThreadsValues[] = {64, 128, 256, 512};
constexpr int32_t kThreadsPerRowValues[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
constexpr int32_t kRowsAheadValues[] = {1, 2, 3, 4};
constexpr int32_t kBlocksPerSmValues[] = {1, 2, 3, 4, 5, 6, 8};

constexpr Knob kKnobs[] = {
    {"threads", kThreadsValues, "large blocks leave fewer partial sums, small ones wait for fewer warps"},
    {"threads_per_row", kThreadsPerRowValues, "few threads exchange less, many hold fewer sums each"},
    {"rows_ahead", kRowsAheadValues, "more loads in flight, for shared memory"},
    {"blocks_per_sm", kBlocksPerSmValues, "more threads hide more, with fewer registers each and more partial sums"},
};

struct Facts {
  int64_t length, columns;  ///< of what has statistics of its own; of weight
  int groups, vector, element_bytes, weight_bytes, parts;
  int sums, inputs;  ///< over the rows; rows read for a row
  bool grouped, has_dattn, has_du, has_out, swish, drops, draws_words, activated;
  bool reads_copy, reads_dx;  ///< segments of dout besides the product's
  bool reads_weight, reads_bias;
};

Facts facts_of(const Problem& p) {
  const bool grouped = p[key::kGroups] > 0, has_dattn = p[key::kHasDattn] != 0, has_du = p[key::kHasDu] != 0;
  const int groups = std::max(p[key::kGroups], 1), sums = p[key::kHasDweight] + p[key::kHasDbias];
  const bool reads_copy = has_du && p[key::kConcatU], reads_dx = has_dattn && p[key::kConcatX];
  const bool gradient = has_dattn || has_du || sums > 0;
  const bool reads_norm = has_du || p[key::kHasOut] || p[key::kNorm] == HSTU_NORM_SWISH;
  return {.length = p[key::kDim] / groups,
          .columns = grouped ? groups : p[key::kDim],
          .groups = groups,
          .vector = p[key::kVector],
          .element_bytes = size_of(static_cast<hstu_dtype>(p[key::kDtype])),
          .weight_bytes = size_of(static_cast<hstu_dtype>(p[key::kWeightDtype])),
          .parts = p[key::kParts] / groups,
          .sums = sums,
          .inputs = 2 + gradient + reads_copy + reads_dx,
          .grouped = grouped,
          .has_dattn = has_dattn,
          .has_du = has_du,
          .has_out = p[key::kHasOut] != 0,
          .swish = p[key::kNorm] == HSTU_NORM_SWISH,
          .drops = p[key::kDropout] != 0,
          .draws_words = p[key::kDropout] == 1 + HSTU_DROPOUT_FAST || p[key::kDropout] == 1 + HSTU_DROPOUT_MASKS,
          .activated = p[key::kActivation] != HSTU_ACTIVATION_NONE || p[key::kSiluU] != 0,
          .reads_copy = reads_copy,
          .reads_dx = reads_dx,
          .reads_weight = has_dattn || reads_norm,
          .reads_bias = reads_norm && p[key::kNorm] != HSTU_NORM_RMS};
}

int64_t accesses_of(const Facts& f, const Config& c) {
  return ceil_div(f.length, int64_t{c[kThreadsPerRow]} * f.vector);
}
int64_t values_of(const Facts& f, const Config& c) { return accesses_of(f, c) * f.vector; }
/// Moments of a lane in flight.
int parts_held(const Facts& f, const Config& c) {
  if (f.parts == 0) return 0;
  const int lanes =
      std::min({static_cast<int>(std::bit_ceil(static_cast<unsigned>(f.parts))), c[kThreadsPerRow], kWarp});
  const int of_lane = (f.parts + lanes - 1) / lanes;
  return of_lane > kMostPartsHeld ? 0 : of_lane;
}

/// Of a thread that holds its part of a row: x and the gradient of what the norm gave, what it has as stored, sums,
/// weight and bias, and what passes the norm.
double registers_of_value(const Facts& f) {
  double each = 2 + 0.25 * f.element_bytes * (1 + f.reads_copy + f.reads_dx) + 0.5 * f.has_out;
  if (!f.grouped) each += f.sums + 0.25 * f.weight_bytes * (f.reads_weight + f.reads_bias);
  if (f.swish && f.has_dattn) each += 1;
  return each;
}

/// Of a thread. Of some 300 kernels of all kinds, none of which spills with as many, many would do with fewer.
int held_registers(const Facts& f, const Config& c) {
  const auto values = static_cast<double>(values_of(f, c)), accesses = static_cast<double>(accesses_of(f, c));
  const double narrow = f.vector * f.element_bytes == 2 ? 1.5 * accesses * (1 + f.reads_copy + f.reads_dx) : 0;
  const double together = values > 8 ? 1.15 : 1;  // two accesses are mixed
  // Four counters at a time, of some streams several words of each.
  const int draws = !f.drops ? 0 : f.vector < 4 ? 12 : f.draws_words ? 28 : 20;
  return static_cast<int>(std::ceil(40 + together * registers_of_value(f) * values + accesses + narrow + draws +
                                    6 * f.has_out + 3 * (f.parts > 0) + 4 * (f.swish || f.activated)));
}

int exchange_bytes(const Config& c) { return c[kThreadsPerRow] > kWarp ? 2 * c[kThreads] / kWarp * kExchanged : 16; }
int64_t totals_bytes(const Facts& f, const Config& c) { return f.sums > 0 ? std::min(c[kThreads] / 8, 16) * 128 : 0; }
int64_t groups_bytes(const Facts& f, const Config& c) {
  return f.grouped ? int64_t{f.sums} * (c[kThreads] / c[kThreadsPerRow]) * 4 : 0;
}
int held_smem_bytes(const Facts& f, const Config& c) {
  const int64_t threads = c[kThreads];
  const int64_t rows = c[kRowsAhead] * threads * (f.inputs * values_of(f, c) * f.element_bytes + 8 * parts_held(f, c));
  const int64_t teams = f.grouped ? groups_bytes(f, c) : f.sums * values_of(f, c) * (threads + 32 / f.vector) * 4;
  return exchange_bytes(c) + static_cast<int>(std::max({rows, teams, totals_bytes(f, c)}));
}
int long_smem_bytes(const Facts& f, const Config& c) {
  const int64_t sums = f.grouped ? 0 : f.sums * key::padded(f.columns) * 4;
  return exchange_bytes(c) +
         static_cast<int>(std::max({totals_bytes(f, c), groups_bytes(f, c), sums <= kMostSharedSums ? sums : 0}));
}

/// Whether rows can be held, by the largest block that has registers and shared memory for it on every device; else a
/// block reads its row again for each step.
bool is_held(const Facts& f) {
  constexpr int kLeastShared = 99 * 1024;  // of a block
  for (const int32_t threads : {512, 256}) {
    Config largest;
    largest[kThreads] = largest[kThreadsPerRow] = threads;
    largest[kRowsAhead] = 1;
    if (values_of(f, largest) <= kMaxValues && held_registers(f, largest) <= register_budget(1, threads) &&
        held_smem_bytes(f, largest) <= kLeastShared)
      return true;
  }
  return false;
}

int smem_bytes(const Facts& f, const Config& c) { return is_held(f) ? held_smem_bytes(f, c) : long_smem_bytes(f, c); }
int registers_of(const Facts& f, const Config& c) {
  if (is_held(f)) return held_registers(f, c);
  return 76 + 4 * f.vector + 16 * f.swish + 16 * f.drops + 8 * f.activated;
}

bool teams_divide_block(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kThreadsPerRow] <= c[kThreads];
}
bool no_idle_half(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return c[kThreadsPerRow] == 1 || int64_t{c[kThreadsPerRow]} * f.vector < 2 * f.length;
}

bool values_fit(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return !is_held(f) || values_of(f, c) <= kMaxValues;
}
bool long_rows_take_a_block(const Problem& p, const Config& c, const DeviceFacts&) {
  return is_held(facts_of(p)) || (c[kThreadsPerRow] == c[kThreads] && c[kThreads] >= 256 && c[kRowsAhead] == 1);
}
bool blocks_fit(const Problem& p, const Config& c, const DeviceFacts& device) {
  const Facts f = facts_of(p);
  return c[kBlocksPerSm] * c[kThreads] <= device.threads_per_sm &&
         smem_holds(device, c[kBlocksPerSm], smem_bytes(f, c)) &&
         registers_of(f, c) <= register_budget(c[kBlocksPerSm], c[kThreads]);
}
bool enough_threads(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kBlocksPerSm] * c[kThreads] >= 256;
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
  return problem[key::kDim] > 0 && problem[key::kHasDattn] + problem[key::kHasDu] + problem[key::kHasDweight] +
                                           problem[key::kHasDbias] + problem[key::kHasOut] >
                                       0;
}

/// As layer_norm_bwd_sm80 has it, which is measured: 512 threads an SM or so, 8 values a thread, two rows ahead.
Config default_config(const Problem& problem, const DeviceFacts& device) {
  const Facts f = facts_of(problem);
  Config c;
  if (!is_held(f)) {
    c[kThreads] = c[kThreadsPerRow] = 256;
    c[kRowsAhead] = c[kBlocksPerSm] = 1;
    return c;
  }
  const int32_t narrow = std::min(team_of(f.length, int64_t{4} * f.vector), kWarp);
  c[kBlocksPerSm] = 1;
  for (const int32_t threads : {512, 256})
    for (const int32_t ahead : {2, 1})
      for (const int64_t values : {f.length > kNarrow ? kMaxValues / 2 : kMaxValues, kMaxValues / 2, kMaxValues}) {
        c[kThreads] = threads;
        c[kRowsAhead] = ahead;
        c[kThreadsPerRow] = std::clamp(team_of(f.length, values), std::min(narrow, threads), threads);
        if (values_of(f, c) <= kMaxValues && no_idle_half(problem, c, device) && blocks_fit(problem, c, device))
          return c;
      }
  return c;
}

Resources resources(const Problem& problem, const Config& c) {
  const Facts f = facts_of(problem);
  return {.threads = c[kThreads],
          .smem_bytes = smem_bytes(f, c),
          .registers = registers_of(f, c),
          .min_blocks = c[kBlocksPerSm]};
}

std::string_view activation_type(int32_t activation) {
  switch (activation) {
    case HSTU_ACTIVATION_SILU:
      return "tile::Silu";
    case HSTU_ACTIVATION_SIGMOID:
      return "tile::Sigmoid";
    default:
      return "tile::Identity";
  }
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const Facts f = facts_of(p);
  const auto type = [&](int field, int instead) {
    return device_type(static_cast<hstu_dtype>(p[field] != HSTU_DTYPE_NONE ? p[field] : instead));
  };
  const bool centred = p[key::kNorm] != HSTU_NORM_RMS;
  const std::string_view copy = p[key::kSiluU] != 0 ? "tile::Silu" : "tile::Identity";
  text.type("Element", type(key::kDtype, 0));
  text.type("Weight", type(key::kWeightDtype, 0));
  text.type("Gradient", type(key::kGradientDtype, p[key::kDtype]));
  text.type("Copy", copy);
  // Under group norm u' is the multiplier as well, and there is no activation.
  text.type("Multiplier", f.grouped ? copy : activation_type(p[key::kActivation]));
  text.type("Output", f.swish ? "tile::SwishOfNorm" : "tile::NormOnly");
  text.flag("kConcatU", p[key::kConcatU] != 0);
  text.flag("kConcatX", p[key::kConcatX] != 0);
  text.flag("kHasWeight", true);
  text.flag("kHasBias", centred);
  text.flag("kCentred", centred);
  text.constant("kDropout", p[key::kDropout]);
  row_norm::write_scaling(text, HSTU_DTYPE_NONE, HSTU_FP8_TENSOR);  // out is not quantised
  text.flag("kGroupNorm", f.grouped);
  text.constant("kParts", p[key::kParts]);
  text.flag("kHasDattn", f.has_dattn);
  text.flag("kHasDu", f.has_du);
  text.flag("kHasDweight", p[key::kHasDweight] != 0);
  text.flag("kHasDbias", p[key::kHasDbias] != 0);
  text.flag("kHasOut", f.has_out);
  text.constant("kGroups", f.groups);
  text.flag("kHeld", is_held(f));
  text.constant("kDim", static_cast<int>(f.length));
  text.constant("kVector", f.vector);
  text.constant("kThreads", c[kThreads]);
  text.constant("kThreadsPerRow", c[kThreadsPerRow]);
  text.constant("kRowsAhead", c[kRowsAhead]);
  text.constant("kBlocksPerSm", c[kBlocksPerSm]);
}

/// As many blocks as an SM holds or as have rows, and as many teams as groups or a multiple of it.
uint32_t blocks_of(const Facts& f, const Config& c, const DeviceFacts& device, int64_t rows) {
  const int rows_at_once = c[kThreads] / c[kThreadsPerRow];
  const int64_t step = f.groups / std::gcd(f.groups, rows_at_once);
  // Without rows a block writes sums of nothing.
  const int64_t with_rows = std::max<int64_t>(ceil_div(rows * f.groups, int64_t{rows_at_once}), 1);
  const int64_t resident = std::min<int64_t>(int64_t{c[kBlocksPerSm]} * device.sm_count, key::kMostBlocks);
  return static_cast<uint32_t>(std::max<int64_t>(std::min(with_rows, resident) / step, 1) * step);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_norm_mul_backward_args*>(args);
  auto& p = launch.emplace<hstu::NormMulBwdParams>();
  p.x = a.forward.attn.data;
  p.u = a.forward.u.data;
  p.weight = a.forward.weight.data;
  p.bias = a.forward.bias.data;
  p.dout = a.dout.data;
  p.moments = static_cast<const float*>(a.moments.data);
  p.valid_rows = a.valid_rows.data;
  p.dx = a.dattn.data;
  p.du = a.du.data;
  p.out = a.out.data;
  p.dweight = a.dweight.data;
  p.dbias = a.dbias.data;
  p.partials = static_cast<float*>(a.workspace);
  p.rows = a.forward.attn.shape[0];
  p.x_row_stride = a.forward.attn.stride[0];
  p.u_row_stride = a.forward.u.stride[0];
  p.dout_row_stride = a.dout.stride[0];
  p.moments_row_stride = a.moments.stride[0];
  p.dx_row_stride = a.dattn.stride[0];
  p.du_row_stride = a.du.stride[0];
  p.out_row_stride = a.out.stride[0];
  p.eps = a.forward.eps;
  p.accumulate = a.accumulate;
  p.valid_rows_i64 = a.valid_rows.dtype == HSTU_DTYPE_I64;
  if (a.forward.dropout_ratio > 0) p.dropout = dropout_rate(a.forward.dropout_ratio, a.forward.seed);

  const Facts f = facts_of(problem);
  launch.grid[0] = blocks_of(f, c, device, p.rows);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(f, c));
}

}  // namespace

const Family kNormMulBwdSm80 = {
    .name = "norm_mul_bwd_sm80",
    .room = "norm",
    .op = Op::norm_mul_backward,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "norm_mul_bwd_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::LayerNormBwdParams, counters),
};

}  // namespace hstujit
