#include "families/jagged/added_rows.hpp"

#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit::added_rows {
namespace {

constexpr int32_t kThreadsValues[] = {64, 128, 256};
constexpr int32_t kAccessesValues[] = {1, 2, 4};
constexpr int32_t kRoundsValues[] = {1, 2, 4, 8};
constexpr int64_t kMaxBlockRows = 2048;  // whose tables' rows are in shared memory

int64_t row_pieces(const Problem& p) { return std::max(p[kDim] / p[kVector], 1); }
int64_t block_pieces(const Config& c) { return int64_t{c[kThreads]} * c[kAccesses] * c[kRounds]; }
int64_t block_rows(const Problem& p, const Config& c) { return std::max<int64_t>(block_pieces(c) / row_pieces(p), 1); }

bool rounds_hold_rows(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kRounds] == 1 || block_rows(p, c) >= 2;
}
bool numbers_fit(const Problem& p, const Config& c, const DeviceFacts&) { return block_rows(p, c) <= kMaxBlockRows; }
bool few_pieces_a_thread(const Problem& p, const Config& c, const DeviceFacts&) {
  const int table_bytes = checks::element_bytes(static_cast<hstu_dtype>(p[kTableDtype])) * p[kVector] > 16 ? 2 : 1;
  return c[kAccesses] * table_bytes <= 4 && c[kAccesses] * c[kRounds] <= 16;
}

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "small blocks free their slots sooner, large ones wait less often for a sequence"},
    {"accesses", kAccessesValues, "bytes in flight a thread, for registers"},
    {"rounds", kRoundsValues, "the search for sequences and table rows is paid once for several rounds of rows"},
};

const Rule kRules[kRuleCount] = {
    {"more rounds than one take two rows at least", rounds_hold_rows},
    {"a block has 2048 rows at most, whose table rows are in shared memory", numbers_fit},
    {"more than four accesses of 16 bytes to a table, or 16 pieces a thread, cost more than they hide",
     few_pieces_a_thread},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem& p, const DeviceFacts& device) {
  // Measured on an H200: rounds hide the search for table rows once the device is full several times over; two tables
  // want more bytes in flight a thread.
  constexpr int64_t kThreadsOfAnSm = 2048;
  const int64_t pieces = int64_t{p[kRows]} * row_pieces(p);
  const bool two_tables = p.op == Op::add_timestamp_positional_embeddings;
  Config c;
  c[kThreads] = 128;
  c[kAccesses] = 1;
  c[kRounds] = 1;
  if (pieces < 16 * kThreadsOfAnSm * device.sm_count) return c;
  c[kThreads] = two_tables ? 128 : 256;
  c[kAccesses] = two_tables ? 2 : 1;
  for (c[kRounds] = 4; c[kRounds] > 1 && !(rounds_hold_rows(p, c, device) && numbers_fit(p, c, device));)
    c[kRounds] /= 2;
  return c;
}

template <int kTables>
Resources resources(const Problem& p, const Config& c) {
  const int held = c[kAccesses] * 4 * (c[kRounds] > 1 ? 2 : 1);
  return {
      .threads = c[kThreads], .smem_bytes = static_cast<int>(block_rows(p, c)) * kTables * 4, .registers = 16 + held};
}
template Resources resources<1>(const Problem&, const Config&);
template Resources resources<2>(const Problem&, const Config&);

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[kDtype])));
  text.type("Table", device_type(static_cast<hstu_dtype>(p[kTableDtype])));
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[kOffsetDtype])));
  text.constant("kDim", std::max(p[kDim], p[kVector]));
  text.constant("kVector", p[kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kRounds", c[kRounds]);
  text.constant("kMinBlocks", 1);
}

void write_targets(ConfigText& text, const Problem& p) {
  const bool has_targets = p[kTargetDtype] != HSTU_DTYPE_NONE;
  text.type("Target", has_targets ? device_type(static_cast<hstu_dtype>(p[kTargetDtype])) : "i32");
  text.flag("kHasTargets", has_targets);
}

template <int kTables>
void bind(const hstu_tensor& x, const hstu_tensor& out, const hstu_tensor& seq_offsets,
          const hstu_tensor* const (&tables)[kTables], float alpha, const Problem& problem, const Config& config,
          Launch& launch, hstu::AddedRowsParams& params) {
  const int64_t batch = seq_offsets.shape[0] - 1, rows = block_rows(problem, config);
  const int64_t blocks = batch == 0 || problem[kDim] == 0 ? 0 : ceil_div(x.shape[0], rows);
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.block[0] = static_cast<uint32_t>(config[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(rows * kTables * 4);
  params.x = x.data;
  params.out = out.data;
  params.seq_offsets = seq_offsets.data;
  for (int t = 0; t < kTables; ++t) {
    params.table[t] = tables[t]->data;
    params.table_row_stride[t] = tables[t]->stride[0];
    params.table_rows[t] = tables[t]->shape[0];
  }
  params.rows = x.shape[0];
  params.x_row_stride = x.stride[0];
  params.out_row_stride = out.stride[0];
  params.alpha = alpha;
  params.batch = static_cast<int>(batch);
}
template void bind<1>(const hstu_tensor&, const hstu_tensor&, const hstu_tensor&, const hstu_tensor* const (&)[1],
                      float, const Problem&, const Config&, Launch&, hstu::AddedRowsParams&);
template void bind<2>(const hstu_tensor&, const hstu_tensor&, const hstu_tensor&, const hstu_tensor* const (&)[2],
                      float, const Problem&, const Config&, Launch&, hstu::AddedRowsParams&);

}  // namespace hstujit::added_rows
