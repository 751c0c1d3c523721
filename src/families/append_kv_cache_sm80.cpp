// append_kv_cache_sm80: new keys and values into a paged cache, kernels/append_kv_cache_sm80.cuh.
#include "families/families.hpp"
#include "params/append_kv_cache.h"
#include "problem/attention_fields.hpp"
#include "problem/operators.hpp"

#include <algorithm>

namespace hstujit {
namespace {

namespace f = append_kv_cache;

enum : int { kThreads, kThreadsPerRow, kRowsPerTeam, kKnobCount };

constexpr int32_t kThreadsValues[] = {128, 256, 512};
constexpr int32_t kThreadsPerRowValues[] = {1, 8, 32, 64, 128, 256};
constexpr int32_t kRowsPerTeamValues[] = {1, 2, 4};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "a block; small ones spread short batches over more SMs"},
    {"threads_per_row", kThreadsPerRowValues, "one access a thread keeps the copy simple, several share the search"},
    {"rows_per_team", kRowsPerTeamValues, "neighbouring rows share the search for their sequence"},
};

int64_t row_bytes(const Problem& p) {
  return int64_t{p[f::kNumHeads]} * (p[f::kHeadDimQk] + p[f::kHeadDimV]) * p[f::kElementBytes];
}
int64_t chunks(const Problem& p) { return row_bytes(p) / p[f::kVector]; }

bool whole_teams(const Problem&, const Config& c, const DeviceFacts&) { return c[kThreadsPerRow] <= c[kThreads]; }
bool threads_have_work(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kThreadsPerRow] == 1 || c[kThreadsPerRow] < 2 * chunks(p);
}
bool rows_are_short_enough(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kThreadsPerRow] == 256 || chunks(p) <= 32 * c[kThreadsPerRow];
}

constexpr Rule kRules[] = {
    {"a block is whole teams", whole_teams},
    {"half of a team would have nothing to copy", threads_have_work},
    {"long rows are shared by more threads", rows_are_short_enough},
};

bool covers(const Problem& p, const DeviceFacts&) { return row_bytes(p) > 0 && row_bytes(p) < INT32_MAX; }

Config default_config(const Problem& p, const DeviceFacts& device) {
  for (const int32_t team : {256, 128, 64, 32, 8}) {
    const Config c{{256, team, 1}};
    if (std::all_of(std::begin(kRules), std::end(kRules), [&](const Rule& rule) { return rule.holds(p, c, device); }))
      return c;
  }
  return {{256, 1, 1}};
}

Resources resources(const Problem&, const Config& c) { return {c[kThreads], 0, 0, 1}; }

std::string_view integer_type(int32_t dtype) {
  return device_type(dtype == HSTU_DTYPE_NONE ? HSTU_DTYPE_I32 : static_cast<hstu_dtype>(dtype));
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Offset", integer_type(p[f::kOffsetDtype]));
  text.type("Target", integer_type(p[f::kTargetDtype]));
  text.type("Page", integer_type(p[f::kPageDtype]));
  text.flag("kJagged", p[f::kOffsetDtype] != HSTU_DTYPE_NONE);
  text.flag("kHasTargets", p[f::kTargetDtype] != HSTU_DTYPE_NONE);
  text.constant("kPageSize", p[f::kPageSize]);
  text.constant("kHeads", p[f::kNumHeads]);
  text.constant("kHeadBytesQk", p[f::kHeadDimQk] * p[f::kElementBytes]);
  text.constant("kHeadBytesV", p[f::kHeadDimV] * p[f::kElementBytes]);
  text.constant("kAccessBytes", p[f::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kThreadsPerRow", c[kThreadsPerRow]);
  text.constant("kRowsPerTeam", c[kRowsPerTeam]);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_append_kv_cache_args*>(args);
  const int64_t batch = a.last_page_lens.shape[0], total = a.k.shape[0], size = problem[f::kElementBytes];
  const int64_t rows = c[kThreads] / c[kThreadsPerRow] * c[kRowsPerTeam];
  launch.grid[0] = batch == 0 ? 0 : static_cast<uint32_t>((total + rows - 1) / rows);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  auto& p = launch.emplace<hstu::AppendKvCacheParams>();
  p.k = a.k.data;
  p.v = a.v.data;
  p.k_cache = a.k_cache.data;
  p.v_cache = a.v_cache.data;
  p.page_offsets = a.page_offsets.data;
  p.page_ids = a.page_ids.data;
  p.last_page_lens = a.last_page_lens.data;
  p.seq_offsets = a.seq_offsets.data;
  p.num_targets = a.num_targets.data;
  p.total = total;
  p.rows_per_sequence = batch > 0 ? total / batch : 0;
  p.k_row_stride = a.k.stride[0] * size, p.k_head_stride = a.k.stride[1] * size;
  p.v_row_stride = a.v.stride[0] * size, p.v_head_stride = a.v.stride[1] * size;
  p.k_page_stride = a.k_cache.stride[0] * size, p.v_page_stride = a.v_cache.stride[0] * size;
  p.k_slot_stride = a.k_cache.stride[1] * size, p.v_slot_stride = a.v_cache.stride[1] * size;
  p.k_cache_head_stride = a.k_cache.stride[2] * size, p.v_cache_head_stride = a.v_cache.stride[2] * size;
  p.batch = static_cast<int>(batch);
}

}  // namespace

const Family kAppendKvCacheSm80 = {
    .name = "append_kv_cache_sm80",
    .op = Op::append_kv_cache,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "",
    .bind = bind,
};

}  // namespace hstujit
