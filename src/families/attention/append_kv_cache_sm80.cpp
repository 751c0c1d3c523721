// append_kv_cache_sm80: new keys and values into a paged cache, kernels/attention/append_kv_cache_sm80.cuh.
#include "attention/append_kv_cache.h"
#include "families/families.hpp"
#include "families/jagged/sequence_density.hpp"
#include "operators/attention/append_kv_cache.hpp"
#include "operators/operators.hpp"

namespace hstujit {
namespace {

namespace f = append_kv_cache;

enum : int { kThreads, kAccesses, kKnobCount };

constexpr int32_t kThreadsValues[] = {64, 128, 256, 512};
constexpr int32_t kAccessesValues[] = {1, 2, 4, 8};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "a block; small ones spread short batches over more SMs"},
    {"accesses", kAccessesValues, "of a thread: more share a warp's wait for its sequence and pages, for registers"},
};

/// Of K or V, pieces of all rows.
int64_t pieces(const Problem& p, int head_dim, int64_t rows) {
  return rows * p[f::kNumHeads] * p[head_dim] * p[f::kElementBytes] / p[f::kVector];
}
int64_t blocks(const Problem& p, const Config& c, int head_dim, int64_t rows) {
  const int64_t of_block = c[kThreads] * c[kAccesses];
  return (pieces(p, head_dim, rows) + of_block - 1) / of_block;
}

int64_t row_bytes(const Problem& p) {
  return int64_t{p[f::kNumHeads]} * (p[f::kHeadDimQk] + p[f::kHeadDimV]) * p[f::kElementBytes];
}
bool covers(const Problem& p, const DeviceFacts&) { return row_bytes(p) > 0 && row_bytes(p) < INT32_MAX; }

/// Measured on an H200, 262144 rows of 2 KB, copy 4147 GB/s: 64 threads with four accesses each copy at 3988, with two
/// at 3979, with eight at 3938, 128 threads with four at 3925 GB/s. A few rows want all blocks at once.
Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr int kThreadsOfAnSm = 2048;
  const int64_t chunks = p[f::kTotal] * row_bytes(p) / p[f::kVector];
  return chunks >= int64_t{8} * kThreadsOfAnSm * device.sm_count ? Config{{64, 4}} : Config{{64, 1}};
}

Resources resources(const Problem&, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = 0, .registers = 16 + 4 * c[kAccesses]};
}

std::string_view integer_type(int32_t dtype) {
  return device_type(dtype == HSTU_DTYPE_NONE ? HSTU_DTYPE_I32 : static_cast<hstu_dtype>(dtype));
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Offset", p[f::kOffsetDtype] == HSTU_DTYPE_NONE ? "tile::Dense" : integer_type(p[f::kOffsetDtype]));
  text.type("Target", integer_type(p[f::kTargetDtype]));
  text.type("Page", integer_type(p[f::kPageDtype]));
  text.flag("kHasTargets", p[f::kTargetDtype] != HSTU_DTYPE_NONE);
  text.constant("kPageSize", p[f::kPageSize]);
  text.constant("kHeads", p[f::kNumHeads]);
  text.constant("kHeadBytesQk", p[f::kHeadDimQk] * p[f::kElementBytes]);
  text.constant("kHeadBytesV", p[f::kHeadDimV] * p[f::kElementBytes]);
  text.constant("kAccessBytes", p[f::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
}

hstu::AppendKvCacheSide side_of(const hstu_tensor& rows, const hstu_tensor& cache, int64_t element_bytes) {
  return {rows.data,
          cache.data,
          rows.stride[0] * element_bytes,
          rows.stride[1] * element_bytes,
          cache.stride[0] * element_bytes,
          cache.stride[1] * element_bytes,
          cache.stride[2] * element_bytes};
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_append_kv_cache_args*>(args);
  const int64_t batch = a.last_page_lens.shape[0], total = a.k.shape[0], size = problem[f::kElementBytes];
  const int64_t k_blocks = blocks(problem, c, f::kHeadDimQk, total), v_blocks = blocks(problem, c, f::kHeadDimV, total);
  launch.grid[0] = batch == 0 ? 0 : static_cast<uint32_t>(k_blocks + v_blocks);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  auto& p = launch.emplace<hstu::AppendKvCacheParams>();
  p.k = side_of(a.k, a.k_cache, size);
  p.v = side_of(a.v, a.v_cache, size);
  p.page_offsets = a.page_offsets.data;
  p.page_ids = a.page_ids.data;
  p.last_page_lens = a.last_page_lens.data;
  p.seq_offsets = a.seq_offsets.data;
  p.num_targets = a.num_targets.data;
  p.total = total;
  p.rows_per_sequence = batch > 0 ? total / batch : 0;
  p.density = sequence_density(batch, total);
  p.batch = static_cast<int>(batch);
  p.k_blocks = static_cast<uint32_t>(k_blocks);
}

}  // namespace

const Family kAppendKvCacheSm80 = {
    .name = "append_kv_cache_sm80",
    .room = "attention",
    .op = Op::append_kv_cache,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = {},
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "",
    .bind = bind,
};

}  // namespace hstujit
