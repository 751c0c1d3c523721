#include "families/jagged_copy.hpp"

#include "problem/jagged_fields.hpp"

#include <algorithm>

namespace hstujit::jagged_copy {
namespace {

constexpr int32_t kThreadsValues[] = {64, 128, 256, 512};
constexpr int32_t kAccessesValues[] = {1, 2, 4};
constexpr int32_t kRoundsValues[] = {1, 2, 4, 8};

/// Of sequences found by a block, and all about the first one: sizeof(tile::BlockSequences).
constexpr int kSmemBytes = 48;

bool few_pieces_a_thread(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kAccesses] * c[kRounds] <= 16;
}

int64_t row_accesses(const Problem& p) { return std::max(p[kRowBytes] / p[kAccessBytes], 1); }

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
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem& p, const DeviceFacts& device) {
  // Measured on an H200: four rounds of one access come within 2 % of a plain copy; small calls want all blocks at
  // once.
  constexpr int64_t kThreadsOfAnSm = 2048;
  const int64_t pieces = int64_t{p[kRows]} * row_accesses(p);
  Config c;
  c[kThreads] = 256;
  c[kAccesses] = 1;
  c[kRounds] = pieces >= 16 * kThreadsOfAnSm * device.sm_count ? 4 : 1;
  return c;
}

Resources resources(const Problem&, const Config& c) {
  // Addresses and the sequence; pieces of this round and the next.
  const int held = c[kAccesses] * 4 * (c[kRounds] > 1 ? 2 : 1);
  return {.threads = c[kThreads], .smem_bytes = kSmemBytes, .registers = 16 + held};
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
  const int64_t block_pieces = int64_t{c[kThreads]} * c[kAccesses] * c[kRounds];
  return p[kRowBytes] == 0 ? 0 : (rows * row_accesses(p) + block_pieces - 1) / block_pieces;
}

void bind_shape(const Config& c, int64_t blocks, Launch& launch) {
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = kSmemBytes;
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
