#include "families/jagged_lengths.hpp"

#include "problem/jagged_fields.hpp"

#include <algorithm>

namespace hstujit::jagged_lengths {
namespace {

constexpr int32_t kThreadsValues[] = {128, 256, 512};
constexpr int32_t kRoundsValues[] = {1, 4, 16};

constexpr int kLengthsAThread = 4;  // of the kernel

int64_t row_accesses(const Problem& p) { return std::max(p[kRowBytes] / p[kAccessBytes], 1); }

/// sizeof(tile::ChunkSums): two prefix sums, a sum a warp, a number.
int smem_bytes(const Config& c) { return 8 * (2 * (c[kThreads] * kLengthsAThread + 1) + c[kThreads] / 32 + 1); }

}  // namespace

int64_t block_rows(const Problem& p, const Config& c) {
  return std::max<int64_t>(int64_t{c[kThreads]} * c[kRounds] / row_accesses(p), 1);
}

bool blocks_have_rows(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kRounds] == 1 || block_rows(p, c) > 1;
}

const Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "lengths that a block adds up at once, and pieces that it moves"},
    {"rounds", kRoundsValues, "pieces a thread: more of them share the block's sums of lengths"},
};

const Rule kRules[kRuleCount] = {
    {"more rounds than one take two rows at least", blocks_have_rows},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem& p, const DeviceFacts& device) {
  Config c;
  c[kThreads] = 256;
  c[kRounds] = 1;
  for (const int32_t rounds : {4, 16}) {  // a few blocks for every SM are enough
    Config larger = c;
    larger[kRounds] = rounds;
    if (!blocks_have_rows(p, larger, device) || int64_t{p[kRows]} / block_rows(p, larger) < 8 * device.sm_count) break;
    c = larger;
  }
  return c;
}

Resources resources(const Problem&, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = smem_bytes(c), .registers = 24};
}

void write_facts(ConfigText& text, const Problem& p, const Config& c) {
  const auto type = [](int32_t dtype) {
    return dtype == HSTU_DTYPE_NONE ? std::string_view("tile::Dense") : device_type(static_cast<hstu_dtype>(dtype));
  };
  text.type("LeftLength", type(p[kLeftLength]));
  text.type("RightLength", type(p[kRightLength]));
  text.type("Offset", type(p[kOffset]));
  text.constant("kAccessBytes", p[kAccessBytes]);
  text.constant("kRowAccesses", row_accesses(p));
  text.constant("kThreads", c[kThreads]);
  text.constant("kRows", block_rows(p, c));
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  write_facts(text, p, c);
  text.constant("kMinBlocks", 1);
}

hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, const Problem& problem, const Config& config,
                                Launch& launch) {
  const int64_t rows = combined.shape[0], per_block = block_rows(problem, config);
  launch.grid[0] = static_cast<uint32_t>(problem[kRowBytes] == 0 ? 0 : (rows + per_block - 1) / per_block);
  launch.block[0] = static_cast<uint32_t>(config[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(config));
  auto& p = launch.emplace<hstu::JaggedLengthsParams>();
  const auto row_stride = [](const hstu_tensor& t) { return t.stride[0] * checks::element_bytes(t.dtype); };
  p.left_lengths = left_lengths.data;
  p.left = left.data;
  p.left_row_stride = row_stride(left);
  if (right) {
    p.right = right->data;
    p.right_row_stride = row_stride(*right);
  }
  p.combined = combined.data;
  p.combined_row_stride = row_stride(combined);
  p.rows = rows;
  p.batch = static_cast<int>(left_lengths.shape[0]);
  return p;
}

}  // namespace hstujit::jagged_lengths
