#include "families/runs_by_lengths.hpp"

#include "families/sequence_density.hpp"
#include "problem/jagged_fields.hpp"

#include <algorithm>
#include <bit>

namespace hstujit::runs_by_lengths {
namespace {

using namespace jagged_lengths;

constexpr int32_t kThreadsValues[] = {256, 512, 1024};
constexpr int32_t kAccessesValues[] = {1, 2, 4};
constexpr int32_t kSpansValues[] = {1, 2, 4};

constexpr int kPartBytes = 512, kLineBytes = 128;
constexpr int kMostSumBytes = 64 << 10;  // where sums of all sequences are kept
constexpr int kMostGroups = 2048;        // else
constexpr int kMostOfAThread = 8;        // sequences that are added up at once
constexpr int kDealt = 15;               // of 16 units; the others are handed out

bool splits(const Problem& p) { return p.op == Op::split_1d_jagged; }

/// Of tile::RowSums: what is of up to 2^29 rows is counted in 32 bits.
bool narrow(const Problem& p) { return p[kRows] <= 1 << 29; }
int row_bytes(const Problem& p) { return narrow(p) ? 4 : 8; }

/// Of 65536 registers, 64 a thread, and 80 with four accesses or wide sums.
int threads_an_sm(const Problem& p, const Config& c) { return c[kAccesses] < 4 && narrow(p) ? 1024 : 768; }
int min_blocks(const Problem& p, const Config& c) { return std::max(threads_an_sm(p, c) / c[kThreads], 1); }

/// How the sums of a batch are kept.
struct Sums {
  int group, entries, each, places;
};
Sums sums(const Problem& p, const Config& c) {
  const int32_t most = p[kBatch];  // but for the last bucket, which is of all above
  const bool each_kept = most <= kMostSumBytes / (2 * row_bytes(p));
  const int last = most == 1 << 30 ? 2 : 1;
  const int each =
      static_cast<int>(std::bit_ceil(static_cast<uint32_t>(std::clamp(most / c[kThreads], 1, kMostOfAThread))));
  const int at_once = c[kThreads] * each;
  const int entries = each_kept ? most : kMostGroups;
  return {each_kept ? 1 : most / kMostGroups * last, entries, each, each_kept ? std::max(entries, at_once) : at_once};
}

/// sizeof(tile::RunsStorage): two sums a place, two a group, 33 of a warp's window, a warp's; who hands out units.
int smem_bytes(const Problem& p, const Config& c) {
  const Sums s = sums(p, c);
  const int warps = c[kThreads] / 32, groups = s.group > 1 ? s.entries + 1 : 1, windows = s.group > 1 ? warps : 1;
  const int sum_bytes = 2 * row_bytes(p), bytes = 256 + sum_bytes * (s.places + groups + 33 * windows + warps) + 24;
  return (bytes + sum_bytes - 1) / sum_bytes * sum_bytes;
}

int64_t span_bytes(const Config& c) { return int64_t{kPartBytes} * c[kAccesses] * c[kSpans]; }

/// What warps take at once of an output that begins anywhere in a line of memory.
int64_t units(const void* out, int64_t rows, const Problem& p, const Config& c) {
  const auto behind = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) % kLineBytes);
  return rows == 0 ? 0 : (behind + rows * p[kAccessBytes] + span_bytes(c) - 1) / span_bytes(c);
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
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int64_t bytes = int64_t{p[kRows]} * p[kAccessBytes];
  if (bytes < int64_t{1024} * 16 * 16 * device.sm_count) return {{512, 1, 1}};
  return narrow(p) ? Config{{1024, 2, 2}} : Config{{256, 2, 2}};
}

Resources resources(const Problem& p, const Config& c) {
  return {.threads = c[kThreads],
          .smem_bytes = smem_bytes(p, c),
          .registers = 24 + 4 * c[kAccesses],
          .min_blocks = min_blocks(p, c)};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const Sums s = sums(p, c);
  write_types(text, p);
  text.type("Row", narrow(p) ? "i32" : "i64");
  text.constant("kAccessBytes", p[kAccessBytes]);
  text.constant("kGroup", s.group);
  text.constant("kEntries", s.entries);
  text.constant("kEach", s.each);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kSpans", c[kSpans]);
  text.constant("kMinBlocks", min_blocks(p, c));
}

hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, int64_t rows, const Problem& problem, const Config& config,
                                const DeviceFacts& device, Launch& launch) {
  auto& p = jagged_lengths::bind(left_lengths, left, right, combined, launch);
  p.left_rows = left.shape[0];
  p.density = sequence_density(p.batch, rows);
  int64_t all = 0;
  if (splits(problem)) {
    const int64_t right_rows = right->shape[0], of_right = units(right->data, right_rows, problem, config);
    all = units(left.data, rows, problem, config) + of_right;
    p.right_density = sequence_density(p.batch, right_rows);
    p.right_share = all == 0 ? 0 : ((of_right << 32) + all - 1) / all;
  } else if (problem.op == Op::jagged_remove_first_or_last_1d) {
    all = std::max(units(left.data, rows, problem, config), units(right->data, rows, problem, config));
  } else {
    all = units(combined.data, rows, problem, config);
  }
  const int64_t warps = config[kThreads] / 32, at_once = int64_t{device.sm_count} * min_blocks(problem, config);
  const int64_t blocks = std::min((all + warps - 1) / warps, at_once), turn = blocks * warps;
  p.units = static_cast<unsigned>(all);
  p.dealt_units = static_cast<unsigned>(turn >= all ? all : std::max(all * kDealt / 16 / turn, int64_t{1}) * turn);
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.block[0] = static_cast<uint32_t>(config[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, config));
  return p;
}

}  // namespace hstujit::runs_by_lengths
