#include "families/jagged/runs_by_lengths.hpp"

#include "families/jagged/length_sums.hpp"
#include "operators/jagged/jagged_lengths.hpp"

#include <algorithm>

namespace hstujit::runs_by_lengths {
namespace {

using namespace jagged_lengths;
using length_sums::narrow;
using length_sums::row_bytes;

constexpr int32_t kThreadsValues[] = {256, 512, 1024};
constexpr int32_t kAccessesValues[] = {1, 2, 4};
constexpr int32_t kSpansValues[] = {1, 2, 4};

constexpr int kPartBytes = 512, kStaticSixteenths = 15;

/// Of 65536 registers, 64 a thread, and 80 with four accesses or wide sums.
int threads_an_sm(const Problem& p, const Config& c) { return c[kAccesses] < 4 && narrow(p) ? 1024 : 768; }
int min_blocks(const Problem& p, const Config& c) { return std::max(threads_an_sm(p, c) / c[kThreads], 1); }

/// sizeof(tile::RunsStorage): the sums; who hands out units.
int smem_bytes(const Problem& p, const Config& c) {
  const int sum_bytes = 2 * row_bytes(p), bytes = length_sums::smem_bytes(p, c[kThreads]) + 24;
  return (bytes + sum_bytes - 1) / sum_bytes * sum_bytes;
}

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block, which adds up all lengths: large ones are fewer"},
    {"accesses", kAccessesValues, "pieces of 16 bytes of a thread on their way at once, for registers"},
    {"spans", kSpansValues, "of so many accesses that a warp takes at once: fewer to count, and a longer end"},
};

bool threads_have_registers(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kThreads] <= threads_an_sm(p, c);
}

const Rule kRules[kRuleCount] = {
    {"1024 threads have no registers for four accesses or wide sums", threads_have_registers, true},
};

/// Measured on an H200, of a copy, concatenating and splitting 35,651,584 elements of 4 bytes: 1024 threads with two
/// accesses and two spans 78 and 79 %; 512 threads the same; one span 71 and 72; one access and four spans 68 and 70.
/// Short vectors, transposition of 4096 segments: 1024 threads 10.6 us, 512 11.1; others 512, 1 to 3 % faster.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int64_t bytes = int64_t{p[kRows]} * p[kAccessBytes];
  if (bytes < int64_t{1024} * 16 * 16 * device.sm_count) return {{p.op == Op::jagged_transpose_1d ? 1024 : 512, 1, 1}};
  return narrow(p) ? Config{{1024, 2, 2}} : Config{{256, 2, 2}};
}

Resources resources(const Problem& p, const Config& c) {
  return {.threads = c[kThreads],
          .smem_bytes = smem_bytes(p, c),
          .registers = 24 + 4 * c[kAccesses],
          .min_blocks = min_blocks(p, c)};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  length_sums::write_config(text, p, c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kSpans", c[kSpans]);
  text.constant("kMinBlocks", min_blocks(p, c));
}

hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, int64_t rows, const Problem& problem, const Config& config,
                                const DeviceFacts& device, Launch& launch) {
  const int64_t at_once = int64_t{device.sm_count} * min_blocks(problem, config);
  auto& p = length_sums::bind(left_lengths, left, right, combined, rows, problem,
                              {.unit_bytes = int64_t{kPartBytes} * config[kAccesses] * config[kSpans],
                               .workers = config[kThreads] / 32,
                               .most = at_once,
                               .sixteenths = kStaticSixteenths},
                              launch);
  launch.block[0] = static_cast<uint32_t>(config[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, config));
  return p;
}

}  // namespace hstujit::runs_by_lengths
