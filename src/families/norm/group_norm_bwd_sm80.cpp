// group_norm_bwd_sm80: gradient of group norm in one launch bound by memory, kernels/norm/group_norm_bwd_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/row_norm.hpp"
#include "norm/layer_norm_bwd.h"
#include "operators/norm/group_norm_backward.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

namespace key = group_norm_backward;
using row_norm::team_of;

constexpr int kWarp = 32;
constexpr int64_t kMaxValues = 16;          // of a group that a thread has: kMaxBackwardValues of the kernel
constexpr int64_t kLongestHeld = 512 * 16;  // a block of 512 threads has registers for them
constexpr int kExchanged = 32;              // bytes of a warp's sums over a group

enum : int { kThreads, kThreadsPerRow, kRowsAhead, kBlocksPerSm };

constexpr int32_t kThreadsValues[] = {64, 128, 256, 512, 1024};
constexpr int32_t kThreadsPerRowValues[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr int32_t kRowsAheadValues[] = {1, 2, 3, 4};
constexpr int32_t kBlocksPerSmValues[] = {1, 2, 3, 4, 5, 6, 8, 10, 12};

constexpr Knob kKnobs[] = {
    {"threads", kThreadsValues, "large blocks leave fewer partial sums, small ones wait for fewer warps"},
    {"threads_per_row", kThreadsPerRowValues, "of a group: few exchange less, many hold less each"},
    {"rows_ahead", kRowsAheadValues, "more loads in flight, for shared memory"},
    {"blocks_per_sm", kBlocksPerSmValues, "more threads hide more, with fewer registers each and more partial sums"},
};

struct Facts {
  int64_t length;  ///< of a group
  int vector, element_bytes;
  int sums, inputs;  ///< over the rows; rows read for a row
  bool has_dx, has_dresidual, reads_moments;
};

Facts facts_of(const Problem& p) {
  const bool reads_x = p[key::kHasDx] || p[key::kHasDweight];
  return {.length = p[key::kDim] / p[key::kGroups],
          .vector = p[key::kVector],
          .element_bytes = size_of(static_cast<hstu_dtype>(p[key::kDtype])),
          .sums = p[key::kHasDweight] + p[key::kHasDbias],
          .inputs = 1 + reads_x + p[key::kHasDresidual],
          .has_dx = p[key::kHasDx] != 0,
          .has_dresidual = p[key::kHasDresidual] != 0,
          .reads_moments = p[key::kHasMoments] && reads_x};
}

int64_t accesses_of(const Facts& f, const Config& c) {
  return ceil_div(f.length, int64_t{c[kThreadsPerRow]} * f.vector);
}
int64_t values_of(const Facts& f, const Config& c) { return accesses_of(f, c) * f.vector; }
/// Whether a block reads its group again for each step, instead of holding it.
bool is_looped(const Facts& f, const Config& c) { return values_of(f, c) > kMaxValues; }

int smem_bytes(const Facts& f, const Config& c) {
  const int threads = c[kThreads], teams = threads / c[kThreadsPerRow];
  const int exchange = c[kThreadsPerRow] > kWarp ? 2 * threads / kWarp * kExchanged : 16;
  const int joined = f.sums > 0 ? std::max(std::min(threads / 8, 16) * 128, f.sums * teams * 4) : 0;
  if (is_looped(f, c)) return exchange + joined;
  const int64_t values = f.inputs * values_of(f, c) * f.element_bytes + (f.reads_moments ? 8 : 0);  // of a thread
  return exchange + std::max(joined, static_cast<int>(c[kRowsAhead] * threads * values));
}

/// Of a thread. Fitted to 240 kernels of all kinds, compiled for fewer and fewer registers until they spilled. It takes
/// none that did; of the others it refuses half a step of registers too early.
int registers_of(const Facts& f, const Config& c) {
  if (is_looped(f, c)) return 72;
  const int bytes = f.vector * f.element_bytes;  // of an access
  const bool reads_x = f.inputs - f.has_dresidual == 2;
  double of_value = !reads_x ? 1.05 : f.has_dx ? 2.1 : 2.75;
  double of_access = bytes == 2 ? 1 : bytes == 4 ? 0.1 : 0;
  if (f.has_dresidual) {
    of_value += 0.24 * f.element_bytes;
    if (bytes == 2) of_access += 0.6;
  }
  double others = 20.5 + (f.sums > 0 ? 11.3 : 0) + (f.has_dx ? 10 : 0);
  if (f.reads_moments && c[kThreadsPerRow] > kWarp) others += 2.5;
  return static_cast<int>(std::ceil(others + of_access * static_cast<double>(accesses_of(f, c)) +
                                    of_value * static_cast<double>(values_of(f, c))));
}

bool teams_divide_block(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kThreadsPerRow] <= c[kThreads];
}
bool no_idle_half(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return c[kThreadsPerRow] == 1 || int64_t{c[kThreadsPerRow]} * f.vector < 2 * f.length;
}
bool is_held(const Facts& f) { return f.length <= kLongestHeld; }
bool values_fit(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return !is_looped(f, c) || !is_held(f);
}
bool long_groups_take_a_block(const Problem& p, const Config& c, const DeviceFacts&) {
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
    {"a thread would hold more than its registers take", values_fit},
    {"groups too long to be held are looped over by a whole block of 256 threads or more, none ahead",
     long_groups_take_a_block},
    {"so many blocks do not fit on an SM", blocks_fit},
    {"too few threads on an SM to hide anything", enough_threads, true},
};

bool covers(const Problem& problem, const DeviceFacts&) {
  return problem[key::kDim] > 0 && problem[key::kHasDx] + problem[key::kHasDweight] + problem[key::kHasDbias] > 0;
}

/// 8 values a thread as in layer_norm_bwd_sm80. A team holds two sums, so that two blocks of 512 threads fit an SM: two
/// rows ahead are 64 KB of 16-bit x and dout in flight there.
Config default_config(const Problem& problem, const DeviceFacts& device) {
  const Facts f = facts_of(problem);
  Config c;
  c[kThreads] = 512;
  c[kBlocksPerSm] = 2;
  if (is_held(f)) {
    const int32_t narrow = std::min(team_of(f.length, int64_t{4} * f.vector), kWarp);
    c[kThreadsPerRow] = std::clamp(team_of(f.length, kMaxValues / 2), narrow, 512);
    c[kRowsAhead] = 2;
  } else {
    c[kThreadsPerRow] = c[kThreads];
    c[kRowsAhead] = 1;
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
  text.constant("kGroups", p[key::kGroups]);
  text.constant("kDim", p[key::kDim] / p[key::kGroups]);
  text.constant("kVector", p[key::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kThreadsPerRow", c[kThreadsPerRow]);
  text.constant("kRowsAhead", c[kRowsAhead]);
  text.constant("kBlocksPerSm", c[kBlocksPerSm]);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_group_norm_backward_args*>(args);
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
  const int64_t resident =
      std::min<int64_t>(int64_t{c[kBlocksPerSm]} * device.sm_count, layer_norm_backward::kMostBlocks);
  const int64_t teams = c[kThreads] / c[kThreadsPerRow];
  const int64_t with_rows = ceil_div(std::min<int64_t>(p.rows, resident * teams) * a.forward.num_groups, teams);
  launch.grid[0] = static_cast<uint32_t>(std::clamp<int64_t>(with_rows, 1, resident));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(facts_of(problem), c));
}

}  // namespace

const Family kGroupNormBwdSm80 = {
    .name = "group_norm_bwd_sm80",
    .room = "norm",
    .op = Op::group_norm_backward,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "group_norm_bwd_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::LayerNormBwdParams, counters),
};

}  // namespace hstujit
