// expand_1d_jagged_sm80: a jagged vector as rows of one length, kernels/jagged/expand_1d_jagged_sm80.cuh.
#include "families/families.hpp"
#include "jagged/jagged_lengths.h"
#include "operators/checks.hpp"
#include "operators/jagged/expand_1d_jagged_to_dense.hpp"
#include "support/ceil_div.hpp"

namespace hstujit {
namespace {

enum : int { kThreads, kAccesses, kKnobCount };

constexpr int32_t kThreadsValues[] = {64, 128, 256};
constexpr int32_t kAccessesValues[] = {1, 2, 4};

constexpr int kWarpBytes = 32 * 16, kLineBytes = 128;

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "small blocks free their slots sooner, large ones are fewer"},
    {"accesses", kAccessesValues, "pieces of 16 bytes of a thread on their way at once, for registers and lost lanes"},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

/// A result that not all warps would write at once is written by more: 512 x 1536 of 4 bytes, on an H200 and an H100,
/// us, with one access 6.9, 7.7, with two 7.3, 8.1. Of 16384 x 8192: 248 with one, 212 with two.
Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr int64_t kWarpsAnSm = 64;
  const int64_t row_bytes = int64_t{p[expand::kMaxLen]} * p[expand::kElementBytes];
  const bool many = row_bytes * p[expand::kBatch] >= 2 * kWarpBytes * kWarpsAnSm * device.sm_count;
  return {{128, many && row_bytes >= 16 * kWarpBytes ? 2 : 1}};
}

Resources resources(const Problem&, const Config& c) {
  return {.threads = c[kThreads], .registers = 16 + 8 * c[kAccesses]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[expand::kOffsetDtype])));
  text.constant("kElementBytes", p[expand::kElementBytes]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem&, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_expand_1d_jagged_to_dense_args*>(args);
  const int64_t element = checks::element_bytes(a.values.dtype), stride_bytes = a.out.stride[0] * element;
  auto& p = launch.emplace<hstu::ExpandParams>();
  p.values = a.values.data;
  p.offsets = a.offsets.data;
  p.out = a.out.data;
  p.max_len = a.out.shape[1];
  p.out_row_stride = a.out.stride[0];
  p.batch = a.out.shape[0];
  // Spans begin with lines of memory; a row that does not has less of its first one.
  const bool on_lines =
      (reinterpret_cast<uintptr_t>(a.out.data) | static_cast<uintptr_t>(stride_bytes)) % kLineBytes == 0;
  const int64_t bytes = p.max_len * element + (on_lines ? 0 : kLineBytes - element), span = kWarpBytes * c[kAccesses];
  p.row_spans = static_cast<unsigned>(p.max_len == 0 ? 0 : ceil_div(bytes, span));
  const int64_t warps = c[kThreads] / 32;
  launch.grid[0] = static_cast<uint32_t>((p.batch * p.row_spans + warps - 1) / warps);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
}

}  // namespace

const Family kExpand1dJaggedSm80 = {
    .name = "expand_1d_jagged_sm80",
    .room = "jagged",
    .op = Op::expand_1d_jagged_to_dense,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = {},
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "",
    .bind = bind,
};

}  // namespace hstujit
