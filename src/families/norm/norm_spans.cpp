#include "families/norm/norm_spans.hpp"

#include "families/norm/row_norm.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <bit>

namespace hstujit::norm_spans {
namespace {

constexpr int kWarp = 32, kMaxThreads = 1024;
constexpr int kLeastBlock = 128;   // of rows that a warp each takes
constexpr int kSpanValues = 4;     // columns of a span in a lane
constexpr int kUsualSpans = 4;     // a warp's of a row that takes several warps
constexpr int kMostSpans = 8;      // a warp's at most, unless the row is long
constexpr int kReadThreads = 512;  // of rows that are read several times

constexpr int32_t kThreadsPerRowValues[] = {32, 64, 128, 256, 512, 1024};

/// Of a row of results.
int64_t spans_of(const Problem& p) {
  const row_norm::Facts f = row_norm::facts_of(p);
  return ceil_div(f.length * f.groups * f.results, fp8::kSpan);
}

/// Spans that a warp holds of its row.
int64_t steps_of(const Problem& p, const Config& c) { return ceil_div(spans_of(p), c[kThreadsPerRow] / kWarp); }

/// Spans that a warp can hold: 1024 threads have 64 registers each, and the operands of a rotated head fill them all;
/// those of the output stage are not what its results are.
int held_spans(const Problem& p, int threads_per_row) {
  if (p.op == Op::rms_norm_rope || p.op == Op::norm_mul) return 0;
  return threads_per_row == kMaxThreads ? kMostSpans / 2 : kMostSpans;
}

/// Whether some team can hold the row.
bool can_be_held(const Problem& p) { return spans_of(p) <= kMaxThreads / kWarp * held_spans(p, kMaxThreads); }

bool no_idle_half(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kThreadsPerRow] == kWarp || 2 * spans_of(p) > c[kThreadsPerRow] / kWarp;
}

bool rows_that_can_be_are_held(const Problem& p, const Config& c, const DeviceFacts&) {
  return !can_be_held(p) || steps_of(p, c) <= held_spans(p, c[kThreadsPerRow]);
}

bool long_rows_take_many_threads(const Problem& p, const Config& c, const DeviceFacts&) {
  return can_be_held(p) || c[kThreadsPerRow] >= kReadThreads || steps_of(p, c) <= kMostSpans;
}

bool rotated_rows_have_registers(const Problem& p, const Config& c, const DeviceFacts&) {
  return p.op != Op::rms_norm_rope || c[kThreadsPerRow] <= kReadThreads;
}

int threads_of(const Config& c) { return c[kThreadsPerRow] == kWarp ? kLeastBlock : c[kThreadsPerRow]; }
int smem_bytes(const Config& c) { return c[kThreadsPerRow] > kWarp ? 16 * c[kThreadsPerRow] / kWarp : 0; }

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"threads_per_row", kThreadsPerRowValues, "a warp needs no barrier, many warps fewer registers each"},
};

const Rule kRules[kRuleCount] = {
    {"half of the team's warps would hold nothing", no_idle_half},
    {"what a team can hold is held", rows_that_can_be_are_held},
    {"rows that are read several times take 512 threads or more, unless they are short", long_rows_take_many_threads},
    {"1024 threads have too few registers to rotate heads", rotated_rows_have_registers},
};

bool quantises(int32_t scaling) { return scaling != HSTU_FP8_TENSOR; }

Config default_config(const Problem& problem, const DeviceFacts&) {
  const int64_t spans = spans_of(problem);
  const auto warps =
      std::bit_ceil(static_cast<uint64_t>(ceil_div(spans, spans > kMostSpans ? kUsualSpans : kMostSpans)));
  Config c;
  c[kThreadsPerRow] = kWarp * static_cast<int32_t>(std::clamp<uint64_t>(warps, 1, kReadThreads / kWarp));
  return c;
}

Resources resources(const Problem& problem, const Config& c) {
  Resources r;
  r.threads = threads_of(c);
  r.smem_bytes = smem_bytes(c);
  const int64_t steps = steps_of(problem, c);
  const bool held = steps <= held_spans(problem, c[kThreadsPerRow]);
  // Addresses and sums, and the values in f32.
  r.registers = 16 + (held ? kSpanValues * static_cast<int>(steps) : kSpanValues);
  return r;
}

void write_config(ConfigText& text, const Problem& problem, int vector, const Config& c) {
  text.constant("kDim", row_norm::facts_of(problem).length);
  text.constant("kVector", std::min(vector, kSpanValues));
  text.constant("kThreads", threads_of(c));
  text.constant("kThreadsPerRow", c[kThreadsPerRow]);
  text.constant("kHeldSpans", held_spans(problem, c[kThreadsPerRow]));
  text.constant("kMinBlocks", 1);
}

int rows_per_block(const Config& c) { return threads_of(c) / c[kThreadsPerRow]; }

void bind_shape(const Config& c, int64_t rows, Launch& launch) {
  constexpr int64_t kRowsOfWarps = kLeastBlock / kWarp;  // a block's
  launch.grid[0] = static_cast<uint32_t>(c[kThreadsPerRow] == kWarp ? ceil_div(rows, kRowsOfWarps) : rows);
  launch.block[0] = static_cast<uint32_t>(threads_of(c));
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(c));
}

}  // namespace hstujit::norm_spans
