// The gradient of attention on the device against the oracle: head dims, masks, options, sets of outputs and layouts;
// every mask enumerated through one-hot gradients; the same bits in every run. Rows outside every sequence are NaN in
// the inputs and must stay untouched in the outputs.
#include "operators/attention/attention_backward.hpp"
#include "operators/attention/mask.hpp"
#include "support/attention_gradients.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace hstujit {
namespace {

using test::AttentionCase;
using test::AttentionGradientCase;
using test::Bias;
using test::HostMemory;
using test::Placement;
using test::ragged;
using test::Scale;
using test::Targets;
using Args = hstu_attention_backward_args;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kI32 = HSTU_DTYPE_I32;

class AttentionBackwardSweep : public testing::TestWithParam<AttentionGradientCase> {};

TEST_P(AttentionBackwardSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = test::attention_gradient_args(memory, GetParam());
  test::expect_correct(memory, args, test::expected_gradients(args));
}

std::vector<AttentionGradientCase> of_forwards(const std::vector<AttentionCase>& forwards) {
  std::vector<AttentionGradientCase> cases;
  for (const AttentionCase& forward : forwards) cases.push_back({.forward = forward});
  return cases;
}

std::vector<AttentionGradientCase> head_dims() {
  std::vector<AttentionCase> cases;
  for (const hstu_dtype dtype : {kBf16, kF16, kF32})
    for (const int64_t dim : {16, 32, 64, 96, 128, 160, 192, 256})
      cases.push_back({.dtype = dtype, .dim_qk = dim, .dim_v = dim, .lengths = ragged()});
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{64, 128}, {128, 64}, {32, 16}, {16, 256}, {256, 32}})
    cases.push_back({.dim_qk = qk, .dim_v = v, .lengths = ragged()});
  // Padded inside the kernel: even, odd, and nearly nothing.
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{40, 24}, {100, 72}, {63, 65}, {255, 250}, {8, 8}})
    for (const hstu_dtype dtype : {kBf16, kF32})
      cases.push_back({.dtype = dtype, .heads = 3, .dim_qk = qk, .dim_v = v, .lengths = ragged()});
  return of_forwards(cases);
}

std::vector<AttentionGradientCase> masks() {
  std::vector<AttentionCase> cases;
  const std::vector<int64_t> lengths{200, 0, 67, 129, 1, 40, 260, 7};
  for (const hstu_dtype dtype : {kBf16, kF32}) {
    const AttentionCase base{.dtype = dtype, .dim_qk = 32, .dim_v = 32, .lengths = lengths};
    const auto add = [&](auto change) {
      AttentionCase c = base;
      change(c);
      cases.push_back(c);
    };
    for (const Targets targets : {Targets::absent, Targets::some, Targets::many})
      for (const int64_t contextual : {0, 1, 33, 200})
        for (const int64_t window : {0, 5, 64})
          for (const int64_t full : {0, 20})
            if (window > 0 || full == 0)
              add([&](AttentionCase& c) {
                c.targets = targets, c.contextual = contextual, c.max_attn_len = window, c.min_full = full;
                c.own_contexts = contextual == 33;
              });
    for (const int64_t group : {2, 7, 64, 500})
      add([&](AttentionCase& c) {
        c.targets = group == 64 ? Targets::many : Targets::some, c.group = group, c.contextual = group % 3;
        c.max_attn_len = group == 7 ? 20 : 0;
      });
    for (const auto& [left, right] :
         {std::pair<int64_t, int64_t>{2, 1}, {0, 0}, {-1, 0}, {0, -1}, {64, 30}, {-1, -1}, {100, 0}, {0, 90}})
      add([&](AttentionCase& c) { c.mask = HSTU_MASK_LOCAL, c.left = left, c.right = right; });
    for (const int64_t intervals : {1, 2, 32})
      for (const int64_t heads : {1, 2})
        add([&](AttentionCase& c) { c.mask = HSTU_MASK_INTERVALS, c.intervals = intervals, c.interval_heads = heads; });
    add([](AttentionCase& c) { c.mask = HSTU_MASK_FULL; });
  }
  return of_forwards(cases);
}

/// Scales, biases, softmax heads and heads that share one of k and v, alone and together.
std::vector<AttentionGradientCase> options() {
  std::vector<AttentionGradientCase> cases;
  for (const hstu_dtype dtype : {kBf16, kF16, kF32}) {
    const AttentionCase base{
        .dtype = dtype, .heads = 4, .lengths = {200, 0, 67, 129, 1, 40, 260, 7}, .targets = Targets::some};
    const auto add = [&](auto change) {
      AttentionGradientCase c{.forward = base, .drab = true, .d_attn_scale = true};
      change(c.forward);
      cases.push_back(c);
      c.accumulate = true;
      cases.push_back(c);
    };
    for (const Scale scale : {Scale::one, Scale::rows}) {
      add([&](AttentionCase& c) { c.scale = scale; });
      add([&](AttentionCase& c) { c.scale = scale, c.kv_heads = 2; });
      add([&](AttentionCase& c) { c.scale = scale, c.softmax_heads = 1, c.contextual = 5; });
    }
    for (const Bias bias : {Bias::shared, Bias::of_heads, Bias::short_of_positions, Bias::short_in_chunks})
      for (const int64_t softmax_heads : {0, 2, 4})
        add([&](AttentionCase& c) { c.bias = bias, c.softmax_heads = softmax_heads, c.scale = Scale::rows; });
    for (const int64_t kv_heads : {1, 2})
      for (const int64_t softmax_heads : {0, 1, 4})
        add([&](AttentionCase& c) {
          c.kv_heads = kv_heads, c.softmax_heads = softmax_heads, c.bias = Bias::shared, c.max_attn_len = 30;
        });
    add([](AttentionCase& c) {
      c.mask = HSTU_MASK_INTERVALS, c.intervals = 3, c.interval_heads = 4, c.targets = Targets::absent;
      c.softmax_heads = 2, c.kv_heads = 2, c.scale = Scale::one, c.bias = Bias::of_heads;
    });
    add([](AttentionCase& c) { c.dim_qk = c.dim_v = 256, c.softmax_heads = 2, c.bias = Bias::shared; });
  }
  return cases;
}

std::vector<AttentionGradientCase> outputs() {
  std::vector<AttentionGradientCase> cases;
  for (const hstu_dtype dtype : {kBf16, kF32})
    for (int set = 1; set < 32; ++set)
      cases.push_back({.forward = {.dtype = dtype,
                                   .dim_qk = 128,
                                   .dim_v = 128,
                                   .lengths = {70, 3, 150},
                                   .scale = set % 2 == 0 ? Scale::rows : Scale::one,
                                   .bias = set % 3 == 0 ? Bias::shared : Bias::of_heads},
                       .dq = (set & 1) != 0,
                       .dk = (set & 2) != 0,
                       .dv = (set & 4) != 0,
                       .drab = (set & 8) != 0,
                       .d_attn_scale = (set & 16) != 0});
  return cases;
}

std::vector<AttentionGradientCase> layouts() {
  std::vector<AttentionGradientCase> cases;
  for (const hstu_dtype dtype : {kBf16, kF32})
    for (const bool one : {false, true}) {
      const AttentionCase base{.dtype = dtype, .lengths = ragged()};
      const auto add = [&](auto change) {
        AttentionCase c = base;
        change(c);
        cases.push_back({.forward = c, .in_one_buffer = one});
      };
      for (const Placement placement : {Placement::columns, Placement::in_buffer, Placement::heads})
        add([&](AttentionCase& c) { c.placement = placement; });
      add([](AttentionCase& c) { c.layout = {.row_padding = 64}; });
      add([](AttentionCase& c) { c.layout = {.row_padding = 4}; });
      add([](AttentionCase& c) { c.layout = {.row_padding = 1, .shift = 1}; });
      add([](AttentionCase& c) { c.offset_dtype = kI32, c.max_seq_len = 40; });
      add([](AttentionCase& c) { c.max_seq_len = 5000; });
      add([](AttentionCase& c) { c.lengths = {0, 0}, c.max_seq_len = 8, c.spare_rows = 2; });
    }
  return cases;
}

const auto kNamed = [](const auto& info) {
  std::string name = name_of_case(info.param);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
};
INSTANTIATE_TEST_SUITE_P(HeadDims, AttentionBackwardSweep, testing::ValuesIn(head_dims()), kNamed);
INSTANTIATE_TEST_SUITE_P(Masks, AttentionBackwardSweep, testing::ValuesIn(masks()), kNamed);
INSTANTIATE_TEST_SUITE_P(Options, AttentionBackwardSweep, testing::ValuesIn(options()), kNamed);
INSTANTIATE_TEST_SUITE_P(Outputs, AttentionBackwardSweep, testing::ValuesIn(outputs()), kNamed);
INSTANTIATE_TEST_SUITE_P(Layouts, AttentionBackwardSweep, testing::ValuesIn(layouts()), kNamed);

constexpr int64_t kOneHot = 64;  // columns of dout, and rows of the longest sequence

/// Rows of ones for q and k weigh all pairs alike; dout has a one in column i of row i of its sequence.
Args one_hot_args(HostMemory& memory, const AttentionCase& c) {
  Args args = test::attention_gradient_args(memory, {.forward = c});
  args.forward.scaling_seqlen = 1;
  args.forward.alpha = 1.0f / kOneHot;  // every score is 1
  const int64_t rows = args.forward.q.shape[0] - c.spare_rows;
  for (const hstu_tensor& t : {args.forward.q, args.forward.k}) test::fill(test::rows_of(t, 0, rows), 1);
  test::fill(test::rows_of(args.dout, 0, rows), 0);
  const double one = 1;
  int64_t first = 0;
  for (const int64_t n : c.lengths) {
    for (int64_t i = 0; i < n; ++i) store(args.dout, (first + i) * args.dout.stride[0] + i, 1, &one);
    first += n;
  }
  return args;
}

/// So dv counts, for each key, the rows that see it.
void expect_pairs_seen_once(const AttentionCase& c) {
  HostMemory memory;
  Args args = one_hot_args(memory, c);
  test::DeviceCall call(memory, Op::attention_backward, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  prepare(args);  // groups of targets are of one then, not of none
  const std::vector<double> dv = test::values(call.after(args.dv));
  const double unit = 1 / (1 + std::exp(-1.0));
  int64_t first = 0;
  for (size_t b = 0; b < c.lengths.size(); first += c.lengths[b++]) {
    const reference::SequenceMask mask = reference::sequence_mask(args.forward.mask, static_cast<int64_t>(b), first, 0);
    const int64_t n = c.lengths[b];
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(std::lround(dv[static_cast<size_t>((first + j) * kOneHot + i)] / unit), mask.allows(i, j, n) ? 1 : 0)
            << name_of_case(c) << ": row " << i << ", key " << j << " of " << n;
  }
}

TEST(AttentionBackward, SeesEachPairOnceUnderEveryMask) {
  HSTU_NEEDS_RESULTS();
  for (const hstu_dtype dtype : {kBf16, kF32})
    for (const int64_t contextual : {0, 1, 5, 70})
      for (const int64_t window : {0, 1, 40})
        for (const int64_t full : {0, 9})
          for (const Targets targets : {Targets::absent, Targets::some})
            expect_pairs_seen_once({.dtype = dtype,
                                    .heads = 1,
                                    .dim_qk = kOneHot,
                                    .dim_v = kOneHot,
                                    .lengths = {64, 1, 40, 63},
                                    .contextual = contextual,
                                    .max_attn_len = window,
                                    .min_full = full,
                                    .targets = targets});
}

/// What a training step does: the forward's call leaves what the gradient of softmax heads takes.
TEST(AttentionBackward, TakesWhatItsForwardLeft) {
  HSTU_NEEDS_RESULTS();
  for (const hstu_dtype dtype : {kBf16, kF32}) {
    HostMemory memory;
    const AttentionGradientCase c{.forward = {.dtype = dtype, .lengths = {100, 30, 200}, .softmax_heads = 2}};
    const Args args = test::attention_gradient_args(memory, c);
    test::DeviceCall saving(memory, Op::attention, &args.forward);
    ASSERT_EQ(saving.status(), HSTU_OK) << saving.error();
    for (const hstu_tensor& t : {args.forward.out, args.forward.lse}) {
      const hstu_tensor saved = saving.after(t);
      std::memcpy(t.data, saved.data, static_cast<size_t>(extent_bytes(t)));
    }
    test::expect_correct(memory, args, test::expected_gradients(args));
  }
}

TEST(AttentionBackward, HasTheSameBitsInEveryRun) {
  HSTU_NEEDS_RESULTS();
  for (const hstu_dtype dtype : {kBf16, kF32}) {
    HostMemory memory;
    const Args args = test::attention_gradient_args(memory, {.forward = {.dtype = dtype,
                                                                         .heads = 4,
                                                                         .kv_heads = 2,
                                                                         .lengths = {700, 300, 0, 1000, 5},
                                                                         .contextual = 3,
                                                                         .targets = Targets::some,
                                                                         .scale = Scale::one,
                                                                         .softmax_heads = 1,
                                                                         .bias = Bias::shared},
                                                             .drab = true,
                                                             .d_attn_scale = true});
    test::DeviceCall first(memory, Op::attention_backward, &args), second(memory, Op::attention_backward, &args);
    ASSERT_EQ(first.status(), HSTU_OK) << first.error();
    for (const hstu_tensor& t : {args.dq, args.dk, args.dv, args.drab, args.d_attn_scale})
      EXPECT_EQ(std::memcmp(first.after(t).data, second.after(t).data, static_cast<size_t>(extent_bytes(t))), 0);
  }
}

/// Gradients that are scaled up, as loss scaling does it.
TEST(AttentionBackward, OfF16StaysInRangeUnderLossScaling) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = test::attention_gradient_args(
      memory, {.forward = {.dtype = kF16, .dim_qk = 128, .dim_v = 128, .lengths = {300}}});
  const int64_t rows = args.forward.q.shape[0] - 3, count = args.dout.shape[1] * args.dout.shape[2];
  std::vector<double> row(static_cast<size_t>(count));
  for (int64_t i = 0; i < rows; ++i) {
    load(args.dout, i * args.dout.stride[0], count, row.data());
    for (double& x : row) x *= 256;
    store(args.dout, i * args.dout.stride[0], count, row.data());
  }
  test::expect_correct(memory, args, test::expected_gradients(args));
}

TEST(AttentionBackward, OfNothingLaunchesNothing) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args =
      test::attention_gradient_args(memory, {.forward = {.lengths = {30}}, .dq = false, .dk = false, .dv = false});
  test::DeviceCall call(memory, Op::attention_backward, &args);
  EXPECT_EQ(call.status(), HSTU_OK) << call.error();
}

/// A batch without rows leaves zeros where all of the gradient is written.
TEST(AttentionBackward, OfNoRowsWritesZeroSums) {
  HSTU_NEEDS_RESULTS();
  for (const hstu_dtype dtype : {kBf16, kF32}) {
    HostMemory memory;
    const Args args = test::attention_gradient_args(
        memory,
        {.forward = {.dtype = dtype, .lengths = {0, 0}, .scale = Scale::one, .bias = Bias::shared, .max_seq_len = 8},
         .drab = true,
         .d_attn_scale = true});
    test::DeviceCall call(memory, Op::attention_backward, &args);
    ASSERT_EQ(call.status(), HSTU_OK) << call.error();
    for (const hstu_tensor& t : {args.drab, args.d_attn_scale})
      for (const double value : test::values(call.after(t))) EXPECT_EQ(value, 0);
  }
}

}  // namespace
}  // namespace hstujit
