#include "families/jagged/padded.hpp"

#include "operators/jagged/padded.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit::padded {
namespace {

constexpr int32_t kThreadsValues[] = {128, 256, 512};
constexpr int32_t kAccessesValues[] = {1, 2, 4};
constexpr int32_t kRoundsValues[] = {1, 2, 4};

int64_t row_accesses(const Problem& p) { return std::max(p[kRowBytes] / p[kAccessBytes], 1); }
int64_t block_pieces(const Config& c) { return int64_t{c[kThreads]} * c[kAccesses] * c[kRounds]; }

bool few_pieces_a_thread(const Problem&, const Config& c, const DeviceFacts&) { return c[kAccesses] * c[kRounds] <= 8; }

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "small blocks free their slots sooner, large ones share the search for sequences"},
    {"accesses", kAccessesValues, "bytes in flight a thread, for registers"},
    {"rounds", kRoundsValues, "more rows share the search for sequences, in fewer blocks"},
};

const Rule kRules[kRuleCount] = {
    {"more than eight pieces a thread leave too few blocks to balance", few_pieces_a_thread},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr int64_t kThreadsOfAnSm = 2048;
  const int64_t pieces = int64_t{p[kRows]} * row_accesses(p);
  Config c;
  c[kThreads] = 256;
  c[kAccesses] = pieces >= 16 * kThreadsOfAnSm * device.sm_count ? 4 : 1;
  c[kRounds] = 1;
  return c;
}

Resources resources(const Problem& p, const Config& c) {
  const int smem = p.op == Op::dense_to_jagged ? 8 : 0;  // sizeof(tile::SequenceRange)
  return {.threads = c[kThreads], .smem_bytes = smem, .registers = 16 + 4 * c[kAccesses]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[kOffsetDtype])));
  text.constant("kAccessBytes", p[kAccessBytes]);
  text.constant("kRowAccesses", row_accesses(p));
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kRounds", c[kRounds]);
  text.constant("kMinBlocks", 1);
}

hstu::PaddedParams& bind(const hstu_tensor& jagged, const hstu_tensor& dense, const hstu_tensor& offsets, int64_t rows,
                         const Problem& problem, const Config& config, Launch& launch) {
  const int64_t bytes = checks::element_bytes(jagged.dtype), per_block = block_pieces(config);
  const int64_t pieces = problem[kRowBytes] == 0 || dense.shape[0] == 0 ? 0 : rows * row_accesses(problem);
  launch.grid[0] = static_cast<uint32_t>(ceil_div(pieces, per_block));
  launch.block[0] = static_cast<uint32_t>(config[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(resources(problem, config).smem_bytes);
  auto& p = launch.emplace<hstu::PaddedParams>();
  p.jagged = jagged.data;
  p.dense = dense.data;
  p.offsets = offsets.data;
  p.jagged_row_stride = jagged.stride[0] * bytes;
  p.dense_batch_stride = dense.stride[0] * bytes;
  p.dense_row_stride = dense.stride[1] * bytes;
  p.rows = rows;
  p.max_len = static_cast<int>(dense.shape[1]);
  p.batch = static_cast<int>(dense.shape[0]);
  return p;
}

}  // namespace hstujit::padded
