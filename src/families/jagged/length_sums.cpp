#include "families/jagged/length_sums.hpp"

#include "families/jagged/sequence_density.hpp"

#include <algorithm>
#include <bit>

namespace hstujit::length_sums {
namespace {

using namespace hstujit::jagged_lengths;

constexpr int kLineBytes = 128;
constexpr int kMostSumBytes = 64 << 10;  // where sums of all sequences are kept
constexpr int kMostGroups = 2048;        // else
constexpr int kMostOfAThread = 8;        // sequences that are added up at once

/// How the sums of a batch are kept.
struct Sums {
  int group, entries, each, places;
};
Sums sums(const Problem& p, int threads) {
  const int32_t most = p[kBatch];  // but for the last bucket, which is of all above
  const bool each_kept = keeps_all(p);
  const int last = most == 1 << 30 ? 2 : 1;
  const int each =
      static_cast<int>(std::bit_ceil(static_cast<uint32_t>(std::clamp(most / threads, 1, kMostOfAThread))));
  const int at_once = threads * each;
  const int entries = each_kept ? most : kMostGroups;
  const int turns = each_kept ? (entries + at_once - 1) / at_once : 1;
  return {each_kept ? 1 : most / kMostGroups * last, entries, each, turns * at_once};
}

/// What is taken at once of an output that begins anywhere in a line of memory.
int64_t units(const void* out, int64_t rows, const Problem& p, int64_t unit_bytes) {
  const auto behind = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) % kLineBytes);
  return rows == 0 ? 0 : (behind + rows * p[kAccessBytes] + unit_bytes - 1) / unit_bytes;
}

}  // namespace

bool narrow(const Problem& p) { return p[kRows] <= 1 << 29; }
int row_bytes(const Problem& p) { return narrow(p) ? 4 : 8; }

bool keeps_all(const Problem& p) { return p[kBatch] <= kMostSumBytes / (2 * row_bytes(p)); }

/// Two sums a place, two a group, 33 of a warp's window, a warp's.
int smem_bytes(const Problem& p, int threads) {
  const Sums s = sums(p, threads);
  const int warps = threads / 32, groups = s.group > 1 ? s.entries + 1 : 1, windows = s.group > 1 ? warps : 1;
  return 256 + 2 * row_bytes(p) * (s.places + groups + 33 * windows + warps);
}

void write_config(ConfigText& text, const Problem& p, int threads) {
  const Sums s = sums(p, threads);
  write_types(text, p);
  text.type("Row", narrow(p) ? "i32" : "i64");
  text.constant("kAccessBytes", p[kAccessBytes]);
  text.constant("kGroup", s.group);
  text.constant("kEntries", s.entries);
  text.constant("kEach", s.each);
  text.constant("kThreads", threads);
}

hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, int64_t rows, const Problem& problem,
                                const UnitSchedule& schedule, Launch& launch) {
  auto& p = jagged_lengths::bind(left_lengths, left, right, combined, launch);
  p.left_rows = left.shape[0];
  p.density = sequence_density(p.batch, rows);
  int64_t all = 0;
  if (problem.op == Op::split_1d_jagged) {
    const int64_t right_rows = right->shape[0], of_right = units(right->data, right_rows, problem, schedule.unit_bytes);
    all = units(left.data, rows, problem, schedule.unit_bytes) + of_right;
    p.right_density = sequence_density(p.batch, right_rows);
    p.right_share = all == 0 ? 0 : ((of_right << 32) + all - 1) / all;
  } else if (problem.op == Op::jagged_remove_first_or_last_1d) {
    all = std::max(units(left.data, rows, problem, schedule.unit_bytes),
                   units(right->data, rows, problem, schedule.unit_bytes));
  } else {
    all = units(combined.data, rows, problem, schedule.unit_bytes);
  }
  const int64_t blocks = std::min((all + schedule.workers - 1) / schedule.workers, schedule.most),
                round = blocks * schedule.workers;
  p.units = static_cast<unsigned>(all);
  p.static_units =
      static_cast<unsigned>(round >= all ? all : std::max(all * schedule.sixteenths / 16 / round, int64_t{1}) * round);
  launch.grid[0] = static_cast<uint32_t>(blocks);
  return p;
}

}  // namespace hstujit::length_sums
