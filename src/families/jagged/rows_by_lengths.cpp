#include "families/jagged/rows_by_lengths.hpp"

#include "operators/jagged/jagged_lengths.hpp"
#include "support/ceil_div.hpp"

namespace hstujit::rows_by_lengths {
namespace {

using jagged_lengths::block_rows;
using jagged_lengths::blocks_have_rows;

constexpr int32_t kThreadsValues[] = {128, 256, 512};
constexpr int32_t kRoundsValues[] = {1, 2, 4, 8, 16, 32};
constexpr int32_t kAccessesValues[] = {1, 2, 4};

constexpr int kLengthsAThread = 2;  // of the kernel

/// sizeof(tile::ChunkStarts): two starts a sequence and one more, two sums a warp, two numbers.
int smem_bytes(const Config& c) { return 16 * (c[kThreads] * kLengthsAThread + 1 + c[kThreads] / 32 + 1); }

bool threads_have_pieces(const Problem& p, const Config& c, const DeviceFacts&) {
  const int64_t row_pieces = p[jagged_lengths::kRowBytes] / p[jagged_lengths::kAccessBytes];
  return c[kAccesses] == 1 || int64_t{c[kThreads]} * c[kAccesses] <= block_rows(p, c) * row_pieces;
}

/// Of 65536 registers, 40 a thread with one or two accesses on their way; with four 64 are enough.
int min_blocks(const Config& c) { return (c[kAccesses] <= 2 ? 1536 : 1024) / c[kThreads]; }

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "half as many as lengths that a block adds up at once"},
    {"rounds", kRoundsValues, "pieces a thread: more of them share the block's sums of lengths, fewer end together"},
    {"accesses", kAccessesValues, "of a thread on their way at once, for registers"},
};

const Rule kRules[kRuleCount] = {
    {"more rounds than one take two rows at least", blocks_have_rows},
    {"a thread has fewer pieces than it would have on their way at once", threads_have_pieces},
};

/// Measured on an H200, bf16 419584 x 512 in 512 sequences, copy 4166 GB/s: replacement with 512 threads and 4 rounds
/// 4067, with 256 and 16 3903; truncation, whose blocks share what is left, with 256 and 8 3955, 16 3870, 4 3600.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const bool truncates = p.op == Op::jagged_truncate_history;
  Config c;
  c[kThreads] = truncates ? 256 : 512;
  c[kRounds] = c[kAccesses] = 1;
  for (const int32_t rounds : {2, 4, 8, 16}) {  // a few blocks for every SM are enough
    Config larger = c;
    larger[kRounds] = rounds;
    if (rounds > (truncates ? 8 : 4) || !blocks_have_rows(p, larger, device) ||
        int64_t{p[jagged_lengths::kRows]} / block_rows(p, larger) < 8 * device.sm_count)
      break;
    c = larger;
  }
  Config two = c;
  two[kAccesses] = 2;
  return threads_have_pieces(p, two, device) ? two : c;
}

Resources resources(const Problem&, const Config& c) {
  return {.threads = c[kThreads],
          .smem_bytes = smem_bytes(c),
          .registers = 20 + 4 * c[kAccesses],
          .min_blocks = min_blocks(c)};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  jagged_lengths::write_facts(text, p, c);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kMinBlocks", min_blocks(c));
}

hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, const Problem& problem, const Config& config,
                                Launch& launch) {
  auto& p = jagged_lengths::bind(left_lengths, left, right, combined, launch);
  const int64_t per_block = block_rows(problem, config);
  launch.grid[0] = static_cast<uint32_t>(problem[jagged_lengths::kRowBytes] == 0 ? 0 : ceil_div(p.rows, per_block));
  launch.block[0] = static_cast<uint32_t>(config[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(config));
  return p;
}

}  // namespace hstujit::rows_by_lengths
