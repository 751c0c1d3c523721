// jagged_reduce_sum_sm80: sums of each sequence's rows, kernels/jagged/jagged_reduce_sum_sm80.cuh.
#include "families/families.hpp"
#include "jagged/jagged_reduce.h"
#include "operators/jagged/jagged_reduce_sum.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <bit>

namespace hstujit {
namespace {

enum : int { kThreads, kUnroll, kLanes, kKnobCount };

constexpr int32_t kThreadsValues[] = {128, 256, 512, 1024};
constexpr int32_t kUnrollValues[] = {1, 2, 4, 8};
constexpr int32_t kLanesValues[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block, which share the rows of a sequence"},
    {"unroll", kUnrollValues, "rows of a thread on their way at once, for registers"},
    {"lanes", kLanesValues, "pieces side by side: fewer of them, more blocks a sequence, whose ends weigh less"},
};

/// Pieces of a row, rounded up to a power of two.
int row_pieces(const Problem& p) {
  return static_cast<int>(
      std::bit_ceil(static_cast<uint32_t>(std::max(p[jagged_reduce::kDim] / p[jagged_reduce::kVector], 1))));
}
/// Pieces of 128 bytes.
int line_pieces(const Problem& p) {
  return 128 / (p[jagged_reduce::kVector] * size_of(static_cast<hstu_dtype>(p[jagged_reduce::kDtype])));
}

bool lanes_have_pieces(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kLanes] <= std::min(row_pieces(p), c[kThreads]);
}
bool lanes_fill_sectors(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kLanes] >= std::min(row_pieces(p), line_pieces(p) / 4);
}

constexpr Rule kRules[] = {
    {"lanes without a piece, or without a thread", lanes_have_pieces},
    {"32 bytes are what memory gives at once", lanes_fill_sectors, true},
};

int smem_bytes(const Problem& p, const Config& c) { return c[kThreads] * p[jagged_reduce::kVector] * 4; }

bool covers(const Problem&, const DeviceFacts&) { return true; }

/// Two lines of columns a block, and threads for a sixteenth of a sequence's rows each. Measured on an H100, us, bf16
/// with 512 columns, 512 sequences of 103 to 1536 rows: so 150.8; 512 threads with one line 153.3, 256 154.7; a plain
/// kernel that reads as many bytes 148.7. 4096 sequences of 20 to 180 rows: so 150.5, 512 threads with one line 263.
Config default_config(const Problem& p, const DeviceFacts&) {
  const int pieces = row_pieces(p);
  const int64_t rows = int64_t{p[jagged_reduce::kRows]} / std::max(p[jagged_reduce::kBatch], 1);
  const int64_t sharing = std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(rows / 16, 1)));
  Config c;
  c[kUnroll] = 8;
  c[kLanes] = std::min(pieces, 2 * line_pieces(p));
  c[kThreads] = static_cast<int32_t>(std::clamp<int64_t>(c[kLanes] * sharing, 128, 1024));
  // Fewer rows than there are threads: more columns instead.
  while (c[kLanes] < pieces && c[kLanes] * sharing < c[kThreads]) c[kLanes] *= 2;
  return c;
}

Resources resources(const Problem& p, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = smem_bytes(p, c), .registers = 16 + 4 * c[kUnroll]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[jagged_reduce::kDtype])));
  text.type("Result", device_type(static_cast<hstu_dtype>(p[jagged_reduce::kOutDtype])));
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[jagged_reduce::kOffsetDtype])));
  text.constant("kDim", p[jagged_reduce::kDim]);
  text.constant("kVector", p[jagged_reduce::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kUnroll", c[kUnroll]);
  text.constant("kLanes", c[kLanes]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_reduce_sum_args*>(args);
  const int64_t columns = int64_t{c[kLanes]} * problem[jagged_reduce::kVector];
  const int64_t column_blocks = ceil_div(a.jagged.shape[1], columns);
  auto& p = launch.emplace<hstu::JaggedReduceParams>();
  p.jagged = a.jagged.data;
  p.seq_offsets = a.seq_offsets.data;
  p.out = a.out.data;
  p.jagged_row_stride = a.jagged.stride[0];
  p.out_row_stride = a.out.stride[0];
  p.column_blocks = static_cast<unsigned>(column_blocks);
  launch.grid[0] = static_cast<uint32_t>(a.out.shape[0] * column_blocks);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, c));
}

}  // namespace

const Family kJaggedReduceSumSm80 = {
    .name = "jagged_reduce_sum_sm80",
    .room = "jagged",
    .op = Op::jagged_reduce_sum,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "jagged_reduce_sum_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
