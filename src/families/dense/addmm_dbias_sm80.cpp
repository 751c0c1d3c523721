// addmm_dbias_sm80: the gradient of a product's bias alone, kernels/dense/addmm_dbias_sm80.cuh.
#include "dense/addmm_wgrad.h"
#include "families/families.hpp"
#include "operators/dense/addmm_wgrad.hpp"
#include "operators/dense/product_terms.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit {
namespace {

namespace key = addmm_wgrad;

constexpr int64_t kMostBlocks = 0xffff;  // that tile/last_blocks.cuh counts

enum : int { kThreads, kThreadsPerRow, kRowsAhead, kSplit };

constexpr int32_t kThreadsValues[] = {128, 256, 512};
constexpr int32_t kThreadsPerRowValues[] = {4, 8, 16, 32};
constexpr int32_t kRowsAheadValues[] = {2, 4, 8};
constexpr int32_t kSplitValues[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};

constexpr Knob kKnobs[] = {
    {"threads", kThreadsValues, "large blocks leave fewer partial sums, small ones wait for fewer warps"},
    {"threads_per_row", kThreadsPerRowValues,
     "many read longer parts of rows, few leave none idle where rows are short"},
    {"rows_ahead", kRowsAheadValues, "more loads in flight, for registers"},
    {"split", kSplitValues, "parts of the rows: as many blocks as hide the latency, for sums through memory"},
};

bool along_rows(const Problem& p) { return p[key::kDoutAlongRows] != 0; }
int columns(const Problem& p, const Config& c) {
  return along_rows(p) ? c[kThreads] / 32 : c[kThreadsPerRow] * p[key::kVectorDout];
}
int smem_bytes(const Problem& p, const Config& c) {
  return 128 + (along_rows(p) ? 0 : c[kThreads] * p[key::kVectorDout] * 4);
}

bool no_idle_half(const Problem& p, const Config& c, const DeviceFacts&) {
  if (along_rows(p)) return c[kThreadsPerRow] == 32;
  return c[kThreadsPerRow] == 4 || c[kThreadsPerRow] * p[key::kVectorDout] < 2 * int64_t{p[key::kN]};
}
bool parts_have_rows(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kSplit] <= key::most_bias_parts(p[key::kM]);
}
bool blocks_are_few(const Problem& p, const Config& c, const DeviceFacts& device) {
  const int64_t blocks = ceil_div(p[key::kN], columns(p, c)) * c[kSplit];
  return c[kSplit] == 1 || blocks * c[kThreads] <= int64_t{4} * device.threads_per_sm * device.sm_count;
}

constexpr Rule kRules[] = {
    {"half of the team's threads would read nothing; whole warps take columns", no_idle_half},
    {"each part must have 64 rows, and its sums a place in the workspace", parts_have_rows},
    {"more parts than fill the device four times only add sums in memory", blocks_are_few, true},
};

/// The other family leaves what has no weight, or one without elements.
bool covers(const Problem& p, const DeviceFacts&) {
  return p[key::kBiasDtype] != HSTU_DTYPE_NONE && p[key::kN] > 0 &&
         (p[key::kGradientDtype] == HSTU_DTYPE_NONE || p[key::kK] == 0);
}

/// Half as many threads as fill the device: more only add sums in memory. Measured on an H200.
Config default_config(const Problem& p, const DeviceFacts& device) {
  Config c;
  c[kThreads] = 256;
  c[kRowsAhead] = 8;
  c[kThreadsPerRow] = 32;
  while (!no_idle_half(p, c, device)) c[kThreadsPerRow] /= 2;
  c[kSplit] = 1;
  const int64_t wanted = int64_t{device.threads_per_sm} / (2 * c[kThreads]) * device.sm_count;
  for (const int32_t split : kSplitValues) {
    Config more = c;
    more[kSplit] = split;
    if (legal(kRules, p, more, device) && ceil_div(p[key::kN], columns(p, c)) * split <= wanted) c = more;
  }
  return c;
}

Resources resources(const Problem& p, const Config& c) {
  const int values = along_rows(p) ? 0 : p[key::kVectorDout];
  return {.threads = c[kThreads],
          .smem_bytes = smem_bytes(p, c),
          .registers = 16 + values + (values * c[kRowsAhead] + 3) / 4,
          .min_blocks = 1};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[key::kDtype])));
  text.type("Bias", device_type(static_cast<hstu_dtype>(p[key::kBiasDtype])));
  text.flag("kAlongK", along_rows(p));
  text.constant("kVector", p[key::kVectorDout]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kThreadsPerRow", c[kThreadsPerRow]);
  text.constant("kRowsAhead", c[kRowsAhead]);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_addmm_wgrad_args*>(args);
  auto& k = launch.emplace<hstu::AddmmWgradParams>();
  k.b = a.dout.data;
  k.valid_rows = a.valid_rows.data;
  k.bias = a.dbias.data;
  k.partials = static_cast<float*>(a.workspace);
  k.n = a.dout.shape[1];
  k.k = a.dout.shape[0];
  k.b_line_stride = line_stride(a.dout, 0, along_rows(p));
  k.b_element_stride = element_stride(a.dout, 0);
  const int64_t across = ceil_div(k.n, int64_t{columns(p, c)});
  const int64_t counted = std::max<int64_t>(kMostBlocks / across, 1);
  k.split = static_cast<int>(std::min({int64_t{c[kSplit]}, key::most_bias_parts(k.k), counted}));
  k.accumulate = a.accumulate;
  k.valid_rows_i64 = a.valid_rows.dtype == HSTU_DTYPE_I64;
  launch.grid[0] = static_cast<uint32_t>(across * k.split);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
}

}  // namespace

const Family kAddmmDbiasSm80 = {
    .name = "addmm_dbias_sm80",
    .room = "dense",
    .op = Op::addmm_wgrad,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "addmm_dbias_sm80_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AddmmWgradParams, counters),
};

}  // namespace hstujit
