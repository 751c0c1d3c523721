// Attention on the device against the oracle: head dims, lengths, masks, integer types and layouts. Rows outside every
// sequence are NaN in the inputs and must stay untouched in the output.
#include "support/attention_cases.hpp"

namespace hstujit {
namespace {

using test::AttentionCase;
using test::HostMemory;
using test::Placement;
using test::ragged;
using test::Scale;
using test::Targets;

constexpr hstu_dtype kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

class AttentionSweep : public testing::TestWithParam<AttentionCase> {};

TEST_P(AttentionSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = test::attention_args(memory, GetParam());
  const test::Tolerance tolerance = test::attention_tolerance(GetParam().dtype);
  constexpr test::Tolerance kLse{1e-5, 200};  // a logarithm of sums of approximate powers, in f32
  if (GetParam().lse)
    test::expect_correct(memory, args, {{&hstu_attention_args::out, tolerance}, {&hstu_attention_args::lse, kLse}});
  else
    test::expect_correct(memory, args, &hstu_attention_args::out, tolerance);
}

std::vector<AttentionCase> head_dims() {
  std::vector<AttentionCase> cases;
  for (const hstu_dtype dtype : {kBf16, kF16})
    for (int64_t dim = 16; dim <= 256; dim += 16)
      cases.push_back({.dtype = dtype, .dim_qk = dim, .dim_v = dim, .lengths = ragged()});
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{64, 128}, {128, 64}, {32, 16}, {16, 256}, {256, 32}})
    cases.push_back({.dim_qk = qk, .dim_v = v, .lengths = ragged()});
  // Padded inside the kernel: even, odd, and nearly nothing.
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{40, 24}, {100, 72}, {7, 5}, {63, 65}, {255, 250}, {8, 8}})
    cases.push_back({.heads = 3, .dim_qk = qk, .dim_v = v, .lengths = ragged()});
  cases.push_back({.heads = 9, .dim_qk = 1, .dim_v = 1, .lengths = {40, 3}});
  return cases;
}

std::vector<AttentionCase> masks() {
  std::vector<AttentionCase> cases;
  const std::vector<int64_t> lengths{200, 0, 67, 129, 1, 40, 260, 7};
  const auto add = [&](int64_t contextual, int64_t window, int64_t full, Targets targets) {
    cases.push_back({.dim_qk = 32,
                     .dim_v = 32,
                     .lengths = lengths,
                     .contextual = contextual,
                     .max_attn_len = window,
                     .min_full = full,
                     .targets = targets});
  };
  for (const Targets targets : {Targets::absent, Targets::some}) {
    for (const int64_t contextual : {1, 10, 33, 200}) add(contextual, 0, 0, targets);
    for (const int64_t window : {1, 5, 63, 64, 65, 200}) add(0, window, 0, targets);
    for (const int64_t full : {1, 20, 150}) add(0, 5, full, targets);
    for (const int64_t contextual : {1, 33, 100})
      for (const int64_t window : {1, 64}) add(contextual, window, 0, targets);
    add(10, 5, 20, targets);
    add(65, 40, 1, targets);
    add(33, 64, 300, targets);
  }
  add(0, 0, 0, Targets::none);
  add(0, 0, 0, Targets::many);
  add(10, 0, 0, Targets::many);
  add(33, 17, 5, Targets::many);
  add(1000, 0, 0, Targets::absent);  // longer than every sequence: diagonals only
  return cases;
}

/// Contextual rows of long sequences, whose tile goes through many blocks of keys: few rows, and as many as a warpgroup
/// has, or more; keys that are whole blocks, odd and even numbers of them, and ragged ones.
std::vector<AttentionCase> long_contexts() {
  const std::vector<int64_t> lengths{700, 0, 512, 1153, 1, 576, 513, 520, 40, 640};
  const AttentionCase base{.dim_qk = 128, .dim_v = 128, .lengths = lengths, .contextual = 8, .max_attn_len = 256};
  std::vector<AttentionCase> cases{base};
  const auto add = [&](auto change) {
    AttentionCase c = base;
    change(c);
    cases.push_back(c);
  };
  for (const int64_t contextual : {1, 64, 65}) add([&](AttentionCase& c) { c.contextual = contextual; });
  add([](AttentionCase& c) { c.targets = Targets::some; });
  add([](AttentionCase& c) { c.max_attn_len = 0, c.targets = Targets::some; });
  add([](AttentionCase& c) { c.contextual = 64, c.own_contexts = true, c.max_attn_len = 0; });
  add([](AttentionCase& c) { c.dtype = kF16, c.targets = Targets::many, c.group = 3, c.scale = Scale::rows; });
  add([](AttentionCase& c) { c.contextual = 33, c.max_attn_len = 40, c.min_full = 30, c.own_contexts = true; });
  add([](AttentionCase& c) { c.softmax_heads = 1, c.lse = true, c.targets = Targets::some; });
  add([](AttentionCase& c) { c.softmax_heads = 1, c.lse = true, c.max_attn_len = 0; });
  add([](AttentionCase& c) { c.bias = test::Bias::of_heads, c.targets = Targets::some; });
  add([](AttentionCase& c) { c.heads = 4, c.dim_qk = 32, c.kv_heads = 2, c.max_seq_len = 300; });
  add([](AttentionCase& c) { c.dim_qk = 96, c.dim_v = 80, c.placement = Placement::in_buffer; });
  return cases;
}

std::vector<AttentionCase> special_masks() {
  std::vector<AttentionCase> cases;
  const std::vector<int64_t> lengths{200, 0, 67, 129, 1, 40, 260, 7};
  for (const int64_t group : {2, 7, 64, 500})
    for (const int64_t window : {0, 20})
      cases.push_back({.lengths = lengths,
                       .contextual = window / 4,
                       .max_attn_len = window,
                       .targets = group == 64 ? Targets::many : Targets::some,
                       .group = group});
  for (const auto& [left, right] :
       {std::pair<int64_t, int64_t>{2, 1}, {0, 0}, {-1, 0}, {0, -1}, {64, 30}, {-1, -1}, {100, 0}, {0, 90}})
    cases.push_back({.lengths = lengths, .mask = HSTU_MASK_LOCAL, .left = left, .right = right});
  for (const int64_t intervals : {1, 2, 5, 32})
    for (const int64_t heads : {1, 2})
      cases.push_back({.dim_v = 128,
                       .lengths = lengths,
                       .mask = HSTU_MASK_INTERVALS,
                       .intervals = intervals,
                       .interval_heads = heads});
  cases.push_back({.dtype = kF16,
                   .dim_qk = 256,
                   .dim_v = 256,
                   .lengths = lengths,
                   .scale = Scale::rows,
                   .mask = HSTU_MASK_INTERVALS,
                   .intervals = 2});
  cases.push_back({.dim_qk = 33,
                   .dim_v = 47,
                   .lengths = ragged(),
                   .mask = HSTU_MASK_INTERVALS,
                   .placement = Placement::columns,
                   .max_seq_len = 20,
                   .intervals = 3});
  return cases;
}

std::vector<AttentionCase> forms() {
  const std::vector<int64_t> lengths{70, 0, 33, 129};
  const auto full = HSTU_MASK_FULL;
  return {
      {.lengths = ragged(), .mask = full},
      {.dtype = kF16, .dim_qk = 128, .dim_v = 128, .lengths = lengths, .mask = full},
      {.lengths = lengths, .scale = Scale::one},
      {.lengths = lengths, .scale = Scale::rows},
      {.lengths = lengths, .targets = Targets::some, .scale = Scale::rows},
      {.lengths = lengths, .targets = Targets::some, .target_dtype = HSTU_DTYPE_I64},
      {.lengths = lengths, .offset_dtype = HSTU_DTYPE_I32},
      {.lengths = lengths, .targets = Targets::some, .offset_dtype = HSTU_DTYPE_I32, .target_dtype = HSTU_DTYPE_I64},
      {.heads = 1, .lengths = lengths},
      {.heads = 8, .dim_qk = 32, .dim_v = 32, .lengths = lengths},
      {.lengths = lengths, .max_seq_len = 1000},
      {.lengths = lengths, .max_seq_len = 20},  // sequences longer than announced
      {.dim_qk = 128, .dim_v = 128, .lengths = {700}, .max_seq_len = 64},
      {.lengths = {1, 1, 1, 1, 1}},
      {.lengths = {600}},
      {.lengths = std::vector<int64_t>(300, 3)},
  };
}

std::vector<AttentionCase> layouts() {
  std::vector<AttentionCase> cases;
  const std::vector<int64_t> lengths{70, 0, 33, 129};
  for (const int64_t dim : {32, 64, 128, 256})
    for (const Placement placement : {Placement::columns, Placement::in_buffer})
      cases.push_back(
          {.dim_qk = dim, .dim_v = dim, .lengths = lengths, .targets = Targets::some, .placement = placement});
  cases.push_back({.dim_qk = 64, .dim_v = 32, .lengths = lengths, .placement = Placement::in_buffer});
  cases.push_back({.dim_qk = 36, .dim_v = 20, .lengths = lengths, .placement = Placement::columns});
  cases.push_back({.lengths = lengths, .placement = Placement::heads});
  for (const int64_t gap : {8, 4, 1}) cases.push_back({.lengths = lengths, .layout = {.row_padding = gap}});
  for (const int64_t shift : {4, 1}) cases.push_back({.lengths = lengths, .layout = {.shift = shift}});
  return cases;
}

/// Any options with any others: what the masks take, heads under softmax, biases, scales, head dims, integer types,
/// layouts. Seeded, so that names stay.
class RandomCases {
 public:
  std::vector<AttentionCase> draw(int count) {
    std::vector<AttentionCase> cases;
    while (static_cast<int>(cases.size()) < count) {
      AttentionCase c = one();
      const auto same = [&](const AttentionCase& other) { return test::name_of_case(other) == test::name_of_case(c); };
      if (std::none_of(cases.begin(), cases.end(), same)) cases.push_back(c);
    }
    return cases;
  }

 private:
  int64_t below(int64_t end) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(end))); }
  bool coin() { return below(2) == 1; }
  template <class T>
  T any_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }

  AttentionCase one() {
    AttentionCase c{.dtype = any_of({kBf16, kF16}), .heads = 1 + below(4), .dim_qk = 16 * (1 + below(16))};
    c.dim_v = coin() ? c.dim_qk : below(8) == 0 ? 1 + below(256) : 16 * (1 + below(16));
    c.lengths = {200, 0, 67, 129, 1, 40, 260, 7};
    c.mask = any_of({HSTU_MASK_CAUSAL, HSTU_MASK_CAUSAL, HSTU_MASK_LOCAL, HSTU_MASK_INTERVALS, HSTU_MASK_FULL});
    if (c.mask == HSTU_MASK_CAUSAL) causal(c);
    if (c.mask == HSTU_MASK_LOCAL) c.left = below(150) - 1, c.right = below(150) - 1;
    if (c.mask == HSTU_MASK_INTERVALS) c.intervals = any_of({1, 2, 3, 32}), c.interval_heads = coin() ? c.heads : 1;
    c.softmax_heads = below(3) == 0 ? 0 : 1 + below(c.heads);
    c.lse = c.softmax_heads > 0 && coin();
    c.bias = any_of({test::Bias::absent, test::Bias::shared, test::Bias::of_heads, test::Bias::short_of_positions});
    c.scale = any_of({Scale::absent, Scale::one, Scale::rows});
    c.offset_dtype = any_of({HSTU_DTYPE_I32, HSTU_DTYPE_I64});
    c.target_dtype = any_of({HSTU_DTYPE_I32, HSTU_DTYPE_I64});
    c.placement = any_of({Placement::apart, Placement::columns, Placement::in_buffer, Placement::heads});
    c.max_seq_len = any_of({0, 20, 1000});
    return c;
  }
  void causal(AttentionCase& c) {
    c.targets = any_of({Targets::absent, Targets::some, Targets::many});
    if (c.targets != Targets::absent && coin()) c.group = 2 + below(40);
    if (coin()) c.contextual = 1 + below(80), c.own_contexts = coin();
    if (coin()) c.max_attn_len = 1 + below(100), c.min_full = coin() ? 1 + below(60) : 0;
  }

  Random random_{20251};
};

/// f32, which has kernels of its own.
std::vector<AttentionCase> wide() {
  std::vector<AttentionCase> cases;
  for (AttentionCase c : RandomCases().draw(24)) {
    c.dtype = HSTU_DTYPE_F32;
    cases.push_back(c);
  }
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{128, 128}, {256, 256}, {7, 5}, {33, 250}})
    cases.push_back({.dtype = HSTU_DTYPE_F32, .dim_qk = qk, .dim_v = v, .lengths = ragged(), .max_seq_len = 20});
  return cases;
}

/// Heads under softmax and biases, each with the masks.
std::vector<AttentionCase> extras() {
  std::vector<AttentionCase> cases;
  const std::vector<int64_t> lengths{200, 0, 67, 129, 1, 40, 260, 7};
  for (const int64_t softmax : {0, 1, 3})
    for (const test::Bias bias :
         {test::Bias::absent, test::Bias::shared, test::Bias::of_heads, test::Bias::short_in_chunks}) {
      if (softmax == 0 && bias == test::Bias::absent) continue;
      const AttentionCase base{
          .heads = 3, .lengths = lengths, .softmax_heads = softmax, .lse = softmax > 0, .bias = bias};
      cases.push_back(base);
      for (const auto& [contextual, window, full] :
           {std::array<int64_t, 3>{0, 0, 0}, {33, 0, 0}, {0, 64, 0}, {10, 5, 20}, {65, 40, 1}}) {
        AttentionCase c = base;
        c.contextual = contextual, c.max_attn_len = window, c.min_full = full;
        c.targets = contextual == 65 ? Targets::many : Targets::some;
        cases.push_back(c);
      }
      AttentionCase full = base;
      full.mask = HSTU_MASK_FULL;
      cases.push_back(full);
    }
  for (const int64_t dim : {16, 128, 256, 100})
    cases.push_back({.dtype = kF16,
                     .dim_qk = dim,
                     .dim_v = dim,
                     .lengths = lengths,
                     .targets = Targets::some,
                     .scale = Scale::rows,
                     .softmax_heads = 1,
                     .lse = true,
                     .bias = test::Bias::short_of_positions});
  // Scores on top of a bias in whole chunks, in every kernel of wide heads and long steps.
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{128, 128}, {256, 256}, {64, 128}, {16, 32}, {200, 80}})
    for (const hstu_mask mask : {HSTU_MASK_CAUSAL, HSTU_MASK_LOCAL})
      cases.push_back({.dim_qk = qk,
                       .dim_v = v,
                       .lengths = {200, 0, 67, 129, 1, 700, 7},
                       .mask = mask,
                       .bias = test::Bias::of_heads,
                       .left = mask == HSTU_MASK_LOCAL ? 90 : 0,
                       .right = mask == HSTU_MASK_LOCAL ? 20 : 0});
  cases.push_back({.lengths = lengths, .softmax_heads = 2});
  cases.push_back({.lengths = {700, 3}, .softmax_heads = 1, .lse = true, .max_seq_len = 64});
  return cases;
}

/// Heads of q that share heads of k and v, with every mask and every extra, in all families.
std::vector<AttentionCase> grouped() {
  std::vector<AttentionCase> cases;
  for (const auto& [heads, kv] : {std::pair<int64_t, int64_t>{4, 2}, {6, 1}, {3, 3}, {8, 2}})
    for (const hstu_dtype dtype : {kBf16, HSTU_DTYPE_F32})
      cases.push_back({.dtype = dtype, .heads = heads, .kv_heads = kv, .lengths = ragged()});
  const AttentionCase base{.heads = 4, .dim_qk = 128, .dim_v = 64, .kv_heads = 2, .lengths = {200, 0, 67, 129, 1, 300}};
  const auto add = [&](auto change) {
    AttentionCase c = base;
    change(c);
    cases.push_back(c);
  };
  add([](AttentionCase& c) { c.targets = Targets::some, c.contextual = 10, c.max_attn_len = 40, c.min_full = 20; });
  add([](AttentionCase& c) { c.targets = Targets::some, c.group = 3; });
  add([](AttentionCase& c) { c.mask = HSTU_MASK_FULL, c.scale = Scale::rows; });
  add([](AttentionCase& c) { c.mask = HSTU_MASK_LOCAL, c.left = 30, c.right = 7; });
  add([](AttentionCase& c) { c.mask = HSTU_MASK_INTERVALS, c.intervals = 2, c.interval_heads = 4; });
  add([](AttentionCase& c) { c.softmax_heads = 3, c.lse = true, c.bias = test::Bias::of_heads; });
  add([](AttentionCase& c) { c.dtype = HSTU_DTYPE_F32, c.softmax_heads = 1, c.bias = test::Bias::shared; });
  add([](AttentionCase& c) { c.placement = Placement::heads; });
  add([](AttentionCase& c) { c.dim_qk = 50, c.dim_v = 25; });
  return cases;
}

/// The same where heads of k and v are shared.
std::vector<AttentionCase> grouped_combinations() {
  std::vector<AttentionCase> cases;
  for (AttentionCase c : RandomCases().draw(32)) {
    const int64_t sharing = c.dim_qk % 32 == 0 ? 2 : 3;  // heads of q
    c.kv_heads = c.heads;
    c.heads *= sharing;
    c.softmax_heads *= c.dim_v % 32 == 0 ? sharing : 1;
    if (c.interval_heads > 1) c.interval_heads = c.heads;
    if (c.placement != Placement::heads) c.placement = Placement::apart;
    cases.push_back(c);
  }
  return cases;
}

const auto kNameOf = [](const auto& info) { return test::name_of_case(info.param); };
INSTANTIATE_TEST_SUITE_P(GroupedCombinations, AttentionSweep, testing::ValuesIn(grouped_combinations()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Grouped, AttentionSweep, testing::ValuesIn(grouped()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Combinations, AttentionSweep, testing::ValuesIn(RandomCases().draw(96)), kNameOf);
INSTANTIATE_TEST_SUITE_P(Wide, AttentionSweep, testing::ValuesIn(wide()), kNameOf);
INSTANTIATE_TEST_SUITE_P(SpecialMasks, AttentionSweep, testing::ValuesIn(special_masks()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Extras, AttentionSweep, testing::ValuesIn(extras()), kNameOf);
INSTANTIATE_TEST_SUITE_P(HeadDims, AttentionSweep, testing::ValuesIn(head_dims()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Masks, AttentionSweep, testing::ValuesIn(masks()), kNameOf);
INSTANTIATE_TEST_SUITE_P(LongContexts, AttentionSweep, testing::ValuesIn(long_contexts()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Forms, AttentionSweep, testing::ValuesIn(forms()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Layouts, AttentionSweep, testing::ValuesIn(layouts()), kNameOf);

TEST(AttentionOnDevice, EmptyBatches) {
  HSTU_NEEDS_DEVICE();
  for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{}, {0}, {0, 0, 0}})
    for (const int64_t spare : {0, 5}) {
      HostMemory memory;
      const auto args = test::attention_args(memory, {.lengths = lengths, .max_seq_len = 8, .spare_rows = spare});
      test::expect_correct(memory, args, &hstu_attention_args::out, test::attention_tolerance(kBf16));
    }
}

TEST(AttentionOnDevice, NanStaysInItsSequence) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t dim : {32, 64, 128, 100}) {
    HostMemory memory;
    const auto args = test::attention_args(memory, {.dim_qk = dim, .dim_v = dim, .lengths = {50, 70, 129, 3}});
    for (const hstu_tensor* t : {&args.q, &args.k, &args.v})  // sequences 1 and 3
      for (const auto& [first, count] : {std::pair<int64_t, int64_t>{50, 70}, {249, 3}})
        test::fill(test::rows_of(*t, first, count), std::nan(""));
    test::expect_correct(memory, args, &hstu_attention_args::out, test::attention_tolerance(kBf16));
  }
}

TEST(AttentionOnDevice, PermutingTargetsPermutesTheirResultsOnly) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  auto args = test::attention_args(memory, {.lengths = {150}, .spare_rows = 0});
  args.mask.num_targets = memory.integers(HSTU_DTYPE_I32, {20});
  test::DeviceCall first(memory, Op::attention, &args);
  ASSERT_EQ(first.status(), HSTU_OK) << first.error();
  const auto before = test::values(first.after(args.out));
  for (const hstu_tensor* t : {&args.q, &args.k, &args.v})  // rows 130 and 149 change places
    for (int64_t i = 0; i < t->stride[0]; ++i) {
      auto* elements = static_cast<uint16_t*>(t->data);
      std::swap(elements[130 * t->stride[0] + i], elements[149 * t->stride[0] + i]);
    }
  test::DeviceCall second(memory, Op::attention, &args);
  ASSERT_EQ(second.status(), HSTU_OK) << second.error();
  auto after = test::values(second.after(args.out));
  const size_t row = 2 * 64;
  std::swap_ranges(after.begin() + 130 * row, after.begin() + 131 * row, after.begin() + 149 * row);
  for (size_t i = 0; i < before.size(); ++i) ASSERT_NEAR(after[i], before[i], 0.01 * std::fabs(before[i]) + 1e-4) << i;
}

TEST(AttentionOnDevice, RunsTwiceToTheSameBits) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  const auto args = test::attention_args(memory, {.lengths = ragged(), .targets = Targets::some});
  test::DeviceCall first(memory, Op::attention, &args), second(memory, Op::attention, &args);
  ASSERT_EQ(first.status(), HSTU_OK) << first.error();
  const hstu_tensor a = first.after(args.out), b = second.after(args.out);
  EXPECT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(extent_bytes(a))), 0);
}

}  // namespace
}  // namespace hstujit
