#include "families/jagged_copy.hpp"

#include "problem/jagged_fields.hpp"

#include <algorithm>

namespace hstujit::jagged_copy {
namespace {

constexpr int32_t kThreadsValues[] = {64, 128, 256, 512};
constexpr int32_t kAccessesValues[] = {1, 2, 4};
constexpr int32_t kRoundsValues[] = {1, 2, 4, 8};

bool few_pieces_a_thread(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kAccesses] * c[kRounds] <= 16;
}

int row_accesses(const Problem& p) { return std::max(p[kRowBytes] / p[kAccessBytes], 1); }
int block_pieces(const Config& c) { return c[kThreads] * c[kAccesses] * c[kRounds]; }
int table_rows(const Problem& p, const Config& c) {
  const int pieces = block_pieces(c), row = row_accesses(p);
  return pieces % row == 0 ? pieces / row : (pieces + row - 2) / row + 1;
}
/// Of the block's rows, both their ends: sizeof(tile::RowTable).
int smem_bytes(const Problem& p, const Config& c) { return 16 * table_rows(p, c); }
/// tile::fill: rows of a block and sequences a thread, up to which each thread looks at its sequences instead of a
/// search.
constexpr int kFewRows = 8, kFewSequences = 4;

bool table_is_small(const Problem& p, const Config& c, const DeviceFacts&) { return smem_bytes(p, c) <= 16 * 1024; }

hstu::JaggedPart part_of(const hstu_tensor& values, const hstu_tensor& offsets, const JaggedPartFacts& facts) {
  const int64_t bytes = checks::element_bytes(values.dtype);
  return {values.data, offsets.data, facts.rows, facts.row_stride * bytes, facts.batch_stride * bytes, facts.length};
}

std::string_view offset_type(int32_t dtype) {
  return dtype == HSTU_DTYPE_NONE ? "tile::Dense" : device_type(static_cast<hstu_dtype>(dtype));
}

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "small blocks free their slots sooner, large ones share the search for sequences"},
    {"accesses", kAccessesValues, "bytes in flight a thread, for registers"},
    {"rounds", kRoundsValues, "more rows share the search for sequences, in fewer blocks"},
};

const Rule kRules[kRuleCount] = {
    {"more than 16 pieces a thread leave too few blocks to balance", few_pieces_a_thread},
    {"the table of a block's rows takes 16 KB at most", table_is_small},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem& p, const DeviceFacts& device) {
  // Measured on an H200, 458704 rows of 1 KB in 512 sequences, copy 4165 GB/s: with two accesses of 128 threads a
  // concatenation runs at 4139, a split at 4149 GB/s; with four rounds of one of 256 threads at 4095 and 4099, which
  // is also what is best where sequences are searched for. Small calls want all blocks at once.
  constexpr int64_t kThreadsOfAnSm = 2048;
  constexpr Config kScan{{128, 2, 1}}, kSearch{{256, 1, 4}}, kSmall{{256, 1, 1}};
  const int64_t pieces = int64_t{p[kRows]} * row_accesses(p);
  if (pieces < 16 * kThreadsOfAnSm * device.sm_count) return kSmall;
  const bool scans = table_rows(p, kScan) <= kFewRows && p[kBatch] <= kFewSequences * kScan[kThreads];
  return scans ? kScan : kSearch;
}

Resources resources(const Problem& p, const Config& c) {
  // Addresses and the sequence; pieces of this round and the next.
  const int held = c[kAccesses] * 4 * (c[kRounds] > 1 ? 2 : 1);
  return {.threads = c[kThreads], .smem_bytes = smem_bytes(p, c), .registers = 16 + held};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("LeftOffset", offset_type(p[kLeftOffset]));
  text.type("RightOffset", offset_type(p[kRightOffset]));
  text.constant("kAccessBytes", p[kAccessBytes]);
  text.constant("kRowAccesses", row_accesses(p));
  text.flag("kPrefix", p[kPrefix] != 0);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kRounds", c[kRounds]);
  text.constant("kMinBlocks", 1);
}

int64_t blocks(const Problem& p, const Config& c, int64_t rows) {
  return p[kRowBytes] == 0 ? 0 : (rows * row_accesses(p) + block_pieces(c) - 1) / block_pieces(c);
}

void bind_shape(const Problem& p, const Config& c, int64_t blocks, Launch& launch) {
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = smem_bytes(p, c);
}

void bind_tensors(const hstu_tensor& left, const hstu_tensor& right, const hstu_tensor& offsets_left,
                  const hstu_tensor& offsets_right, const hstu_tensor& combined, const Parts& parts,
                  hstu::JaggedCopyParams& params) {
  params.left = part_of(left, offsets_left, parts.left);
  params.right = part_of(right, offsets_right, parts.right);
  params.combined = combined.data;
  params.combined_rows = combined.shape[0];
  params.combined_row_stride = combined.stride[0] * checks::element_bytes(combined.dtype);
  params.batch = static_cast<int>(parts.batch);
}

}  // namespace hstujit::jagged_copy
