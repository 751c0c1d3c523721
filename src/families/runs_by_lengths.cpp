#include "families/runs_by_lengths.hpp"

#include "problem/jagged_fields.hpp"

#include <algorithm>

namespace hstujit::runs_by_lengths {
namespace {

using namespace jagged_lengths;

constexpr int32_t kThreadsValues[] = {256, 512, 1024};
constexpr int32_t kWavesValues[] = {1, 2, 4, 8};
constexpr int32_t kAccessesValues[] = {1, 2, 4};

constexpr int kPieceBytes = 16, kLineBytes = 128;
constexpr int kSequenceBytes = 4096;  // where a sequence ends costs a warp about as much as so many bytes more

bool splits(const Problem& p) { return p.op == Op::split_1d_jagged; }

/// Of 65536 registers, 48 a thread with one access on its way, 64 with two, 80 with four; splitting takes a few more.
int min_blocks(const Problem& p, const Config& c) {
  const int threads = c[kAccesses] == 1 ? 1280 : (c[kAccesses] == 2 ? 1024 : 768) - (splits(p) ? 256 : 0);
  return std::max(threads / c[kThreads], 1);
}

/// Rows of a block: as many as give each SM its blocks, but enough for all threads; whole lines of memory.
int64_t block_rows(int64_t rows, int64_t blocks, const Problem& p, const Config& c) {
  const int64_t line = kLineBytes / p[kAccessBytes];
  const int64_t least = int64_t{c[kThreads]} * c[kAccesses] * (kPieceBytes / p[kAccessBytes]);
  return (std::max((rows + blocks - 1) / blocks, least) + line - 1) / line * line;
}

/// sizeof(tile::RunsStorage): an address and a start a run and one more start, three sums of two parts a warp.
int smem_bytes(const Problem& p, const Config& c) {
  const int runs = c[kThreads] * (p.op == Op::concat_1d_jagged ? 2 : 1);
  return 12 * runs + 16 + c[kThreads] / 32 * 3 * 16;
}

uint32_t blocks(int64_t rows, int64_t of_block) { return static_cast<uint32_t>((rows + of_block - 1) / of_block); }

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block, which adds up the lengths before its rows: large ones are fewer"},
    {"waves", kWavesValues, "blocks, in multiples of those that run at once: some copy while others add up"},
    {"accesses", kAccessesValues, "of a thread on their way at once, for registers"},
};

bool threads_have_registers(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kThreads] < 1024 || c[kAccesses] < (splits(p) ? 2 : 4);
}

const Rule kRules[kRuleCount] = {
    {"1024 threads have no registers for so many accesses", threads_have_registers, true},
};

/// Measured on an H200, 35,651,584 elements of 4 bytes in 4096 sequences, of a copy: a concatenation with 256 threads
/// and four accesses 73 %, with 512 and two 72, with 512 and four 61, with 1024 and one 54; in two waves 68.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int64_t pieces = int64_t{p[kRows]} * p[kAccessBytes] / kPieceBytes;
  return pieces >= int64_t{1024} * 16 * device.sm_count ? Config{{256, 1, 4}} : Config{{512, splits(p) ? 4 : 1, 1}};
}

Resources resources(const Problem& p, const Config& c) {
  return {.threads = c[kThreads],
          .smem_bytes = smem_bytes(p, c),
          .registers = 20 + 4 * c[kAccesses],
          .min_blocks = min_blocks(p, c)};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  write_types(text, p);
  text.constant("kAccessBytes", p[kAccessBytes]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kMinBlocks", min_blocks(p, c));
}

hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, int64_t rows, const Problem& problem, const Config& config,
                                const DeviceFacts& device, Launch& launch) {
  auto& p = jagged_lengths::bind(left_lengths, left, right, combined, launch);
  const int64_t at_once = int64_t{device.sm_count} * min_blocks(problem, config) * config[kWaves];
  if (splits(problem)) {
    const int64_t cost = p.batch * kSequenceBytes, right_rows = combined.shape[0] - rows;
    const int64_t left_cost = rows * problem[kAccessBytes] + cost,
                  all = left_cost + right_rows * problem[kAccessBytes] + cost;
    const int64_t left_blocks = std::clamp<int64_t>(at_once * left_cost / all, 1, at_once - 1);
    p.left_rows = rows;
    p.block_rows = block_rows(rows, left_blocks, problem, config);
    p.right_block_rows = block_rows(right_rows, at_once - left_blocks, problem, config);
    p.left_blocks = blocks(rows, p.block_rows);
    launch.grid[0] = p.left_blocks + blocks(right_rows, p.right_block_rows);
  } else {
    p.block_rows = block_rows(rows, at_once, problem, config);
    launch.grid[0] = blocks(rows, p.block_rows);
  }
  launch.block[0] = static_cast<uint32_t>(config[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, config));
  return p;
}

}  // namespace hstujit::runs_by_lengths
