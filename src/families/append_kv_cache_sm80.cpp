// append_kv_cache_sm80: new keys and values into a paged cache, kernels/append_kv_cache_sm80.cuh.
#include "families/families.hpp"
#include "params/append_kv_cache.h"
#include "problem/attention_fields.hpp"
#include "problem/operators.hpp"

namespace hstujit {
namespace {

namespace f = append_kv_cache;

enum : int { kThreads, kRows, kKnobCount };

constexpr int32_t kThreadsValues[] = {128, 256, 512};
constexpr int32_t kRowsValues[] = {1, 2, 4, 8, 16, 32, 64};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "a block; small ones spread short batches over more SMs"},
    {"rows", kRowsValues, "of a block: few keep a thread to one access, many share the block's wait for their pages"},
};

int64_t row_bytes(const Problem& p) {
  return int64_t{p[f::kNumHeads]} * (p[f::kHeadDimQk] + p[f::kHeadDimV]) * p[f::kElementBytes];
}
int64_t chunks(const Problem& p) { return row_bytes(p) / p[f::kVector]; }

int64_t parts(const Problem& p, const Config& c) { return (c[kRows] * chunks(p) + c[kThreads] - 1) / c[kThreads]; }

bool threads_have_work(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kRows] * chunks(p) >= c[kThreads] || c[kRows] == 64 || c[kThreads] == 128;
}
bool accesses_are_at_once(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kRows] == 1 || parts(p, c) <= 8;
}

constexpr Rule kRules[] = {
    {"threads would have nothing to copy, while smaller blocks or more rows were left", threads_have_work},
    {"beyond 8 accesses a thread, fewer rows do as well", accesses_are_at_once},
};

bool covers(const Problem& p, const DeviceFacts&) { return row_bytes(p) > 0 && row_bytes(p) < INT32_MAX; }

/// Measured on an H200, 262144 rows of 2 KB: 128 threads with four accesses each copy at 95 % of a plain copy's rate,
/// with one at 89 %; 256 threads at 93 and 88 %. A few rows want all blocks at once.
Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr int kThreadsOfAnSm = 2048;
  const bool large = int64_t{p[f::kTotal]} * chunks(p) >= int64_t{8} * kThreadsOfAnSm * device.sm_count;
  Config c{{128, 1}};
  for (const int32_t rows : kRowsValues) {
    c[kRows] = rows;
    if (rows * chunks(p) >= (large ? 4 : 1) * c[kThreads]) break;
  }
  return c;
}

Resources resources(const Problem&, const Config& c) { return {c[kThreads], 16 * c[kRows], 0, 1}; }

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
  text.constant("kRows", c[kRows]);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_append_kv_cache_args*>(args);
  const int64_t batch = a.last_page_lens.shape[0], total = a.k.shape[0], size = problem[f::kElementBytes];
  launch.grid[0] = batch == 0 ? 0 : static_cast<uint32_t>((total + c[kRows] - 1) / c[kRows]);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(16 * c[kRows]);
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
    .smem_expression = "append_kv_cache_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
