// Attention against caches, and filling them, on the device against the oracle: new rows few and many, head dims,
// masks, pages and layouts. What is not to be read is NaN, what is not to be written must stay as it was.
#include "support/cache_cases.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using test::Bias;
using test::CacheCase;
using test::HostMemory;
using test::ragged;
using test::Scale;
using test::Targets;

constexpr hstu_dtype kF16 = HSTU_DTYPE_F16;
constexpr auto kNameOf = [](const auto& c) { return name_of_case(c.param); };

class DeltaSweep : public testing::TestWithParam<CacheCase> {};
TEST_P(DeltaSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = test::delta_args(memory, GetParam());
  test::expect_correct(memory, args, &hstu_delta_attention_args::out, test::attention_tolerance(GetParam().dtype));
}

class PagedSweep : public testing::TestWithParam<CacheCase> {};
TEST_P(PagedSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = test::paged_args(memory, GetParam());
  test::expect_correct(memory, args, &hstu_paged_attention_args::out, test::attention_tolerance(GetParam().dtype));
}

class AppendSweep : public testing::TestWithParam<CacheCase> {};
TEST_P(AppendSweep, IsExactAndTouchesNothingElse) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = test::append_args(memory, GetParam());
  const test::Tolerance exact{0, 0};
  test::expect_correct<hstu_append_kv_cache_args>(
      memory, args, {{&hstu_append_kv_cache_args::k_cache, exact}, {&hstu_append_kv_cache_args::v_cache, exact}});
}

/// Sizes and forms that every operator of a cache meets.
std::vector<CacheCase> shapes() {
  const std::vector<int64_t> lengths{70, 16, 33, 200, 129};
  std::vector<CacheCase> cases;
  for (const int64_t delta : {1, 2, 15, 16, 17, 33, 64, 100, 130})
    cases.push_back({.lengths = lengths, .delta = delta});
  for (const int64_t dim : {16, 32, 128, 256}) {
    cases.push_back({.dim_qk = dim, .dim_v = dim, .lengths = lengths, .delta = 20});
    cases.push_back({.dtype = kF16, .dim_qk = dim, .dim_v = dim, .lengths = lengths, .delta = -130});
  }
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{64, 128}, {256, 32}, {96, 80}, {40, 24}, {7, 5}, {63, 250}})
    cases.push_back({.heads = 3, .kv_heads = 3, .dim_qk = qk, .dim_v = v, .lengths = lengths, .delta = 40});
  cases.push_back({.lengths = ragged(), .delta = -70});  // sequences without keys, without queries
  cases.push_back({.lengths = ragged(), .delta = 33, .targets = Targets::some});
  cases.push_back({.heads = 6, .kv_heads = 2, .lengths = lengths, .delta = 9});
  // Key blocks in number, so that blocks of threads share them, and more rows than a tile has.
  for (const int64_t delta : {64, -300}) {
    cases.push_back(
        {.heads = 2, .kv_heads = 1, .dim_qk = 128, .dim_v = 128, .lengths = {1500, 40, 1025, 3}, .delta = delta});
    cases.push_back({.dim_qk = 64, .dim_v = 128, .lengths = {1500, 700}, .delta = delta, .targets = Targets::some});
  }
  cases.push_back({.heads = 4, .kv_heads = 1, .lengths = lengths, .delta = -50, .targets = Targets::some});
  cases.push_back({.lengths = lengths, .delta = 8, .scale = Scale::one, .integer_dtype = HSTU_DTYPE_I64});
  cases.push_back({.lengths = lengths, .delta = -90, .targets = Targets::some, .scale = Scale::rows});
  cases.push_back({.lengths = lengths, .delta = 24, .layout = {.row_padding = 8}});
  cases.push_back(
      {.lengths = lengths, .delta = 24, .targets = Targets::some, .layout = {.row_padding = 3, .shift = 1}});
  cases.push_back({.lengths = {}, .delta = 0});
  cases.push_back({.lengths = {0, 0}, .delta = 5});
  return cases;
}

std::vector<CacheCase> masks() {
  const std::vector<int64_t> lengths{200, 0, 67, 129, 1, 40, 260, 7};
  std::vector<CacheCase> cases;
  const auto add = [&](CacheCase c) {
    c.dim_qk = c.dim_v = 32;
    c.lengths = lengths;
    for (const int64_t delta : {20, -140}) {
      c.delta = delta;
      cases.push_back(c);
    }
  };
  for (const Targets targets : {Targets::absent, Targets::some}) {
    for (const int64_t contextual : {1, 33}) add({.targets = targets, .contextual = contextual});
    for (const int64_t window : {1, 64}) add({.targets = targets, .max_attn_len = window});
    add({.targets = targets, .max_attn_len = 5, .min_full = 20});
    add({.targets = targets, .contextual = 10, .max_attn_len = 40, .min_full = 3});
    add({.targets = targets, .contextual = 30, .max_attn_len = 40, .own_contexts = true});
  }
  for (const int64_t group : {2, 7, 50}) {
    add({.targets = Targets::some, .group = group});
    add({.targets = Targets::some, .contextual = 5, .max_attn_len = 20, .group = group});
  }
  add({.mask = HSTU_MASK_FULL});
  for (const auto& [left, right] :
       {std::pair<int64_t, int64_t>{2, 1}, {0, 0}, {-1, 0}, {0, -1}, {64, 30}, {-1, -1}, {100, 0}})
    add({.mask = HSTU_MASK_LOCAL, .left = left, .right = right});
  for (const int64_t intervals : {1, 2, 5, 32})
    add({.mask = HSTU_MASK_INTERVALS, .intervals = intervals, .interval_heads = intervals == 5 ? 2 : 1});
  // Key blocks in number, so that blocks of threads share them, runs of them, and more rows than a tile has.
  for (const int64_t intervals : {1, 2, 3, 9})
    for (const int64_t delta : {64, -300})
      cases.push_back({.heads = 2,
                       .kv_heads = 1,
                       .dim_qk = 128,
                       .dim_v = intervals == 9 ? 64 : 128,
                       .lengths = {1500, 40, 1025, 3},
                       .delta = delta,
                       .mask = HSTU_MASK_INTERVALS,
                       .intervals = intervals,
                       .interval_heads = intervals == 2 ? 2 : 1,
                       .page_size = 64});
  return cases;
}

/// A relative bias beside all that shapes how it is read: head dims, masks, new rows few and many, other options.
std::vector<CacheCase> biased() {
  std::vector<CacheCase> cases;
  const std::vector<int64_t> lengths{200, 0, 67, 129, 1, 40, 261, 7};
  for (const Bias bias : {Bias::shared, Bias::of_heads, Bias::short_of_positions, Bias::short_in_chunks})
    for (const int64_t delta : {1, 17, -140}) {
      cases.push_back({.lengths = lengths, .delta = delta, .bias = bias});
      cases.push_back({.dtype = kF16, .lengths = ragged(), .delta = delta, .targets = Targets::some, .bias = bias});
      cases.push_back({.dtype = HSTU_DTYPE_F32, .lengths = lengths, .delta = delta, .bias = bias});
    }
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{128, 128}, {256, 256}, {16, 32}, {7, 5}, {96, 250}})
    cases.push_back({.dim_qk = qk, .dim_v = v, .lengths = lengths, .delta = 40, .bias = Bias::of_heads});
  cases.push_back({.heads = 6, .kv_heads = 2, .lengths = lengths, .delta = -50, .bias = Bias::of_heads});
  for (const int64_t delta : {33, -300})
    cases.push_back(
        {.dim_qk = 128, .dim_v = 128, .lengths = {1500, 40, 1025, 3}, .delta = delta, .bias = Bias::shared});
  // In pages: keys of targets, which begin anywhere, beside others.
  for (const int64_t page_size : {16, 64, 128})
    for (const Bias bias : {Bias::of_heads, Bias::short_in_chunks}) {
      const std::vector<int64_t> uneven{530, 97, 1, 700};
      cases.push_back({.lengths = uneven, .delta = -150, .bias = bias, .page_size = page_size});
      cases.push_back(
          {.lengths = uneven, .delta = -150, .targets = Targets::some, .bias = bias, .page_size = page_size});
      cases.push_back({.dim_qk = 128,
                       .dim_v = 128,
                       .lengths = uneven,
                       .delta = 130,
                       .targets = Targets::some,
                       .contextual = 5,
                       .max_attn_len = 100,
                       .group = 7,
                       .bias = bias,
                       .page_size = page_size});
    }
  const auto add = [&](CacheCase c) {
    c.dim_qk = c.dim_v = 32;
    c.lengths = lengths;
    c.bias = Bias::of_heads;
    for (const hstu_dtype dtype : {HSTU_DTYPE_BF16, HSTU_DTYPE_F32})
      for (const int64_t delta : {20, -140}) {
        c.dtype = dtype;
        c.delta = delta;
        cases.push_back(c);
      }
  };
  add({.contextual = 33, .scale = Scale::rows});
  add({.targets = Targets::some, .max_attn_len = 5, .min_full = 20});
  add({.targets = Targets::some, .contextual = 30, .max_attn_len = 40, .own_contexts = true});
  add({.targets = Targets::some, .group = 7});
  add({.mask = HSTU_MASK_FULL});
  add({.mask = HSTU_MASK_LOCAL, .left = 64, .right = 30});
  add({.mask = HSTU_MASK_INTERVALS, .intervals = 3, .interval_heads = 2});
  return cases;
}

std::vector<CacheCase> pages() {
  std::vector<CacheCase> cases;
  for (const int64_t page_size : {1, 7, 16, 32, 64, 300})
    cases.push_back(
        {.lengths = {70, 16, 33, 200, 129}, .delta = -30, .targets = Targets::some, .page_size = page_size});
  cases.push_back({.lengths = {70, 16, 33, 200, 129}, .delta = 14, .interleaved = true});
  cases.push_back({.lengths = {70, 0, 33, 200},
                   .delta = -50,
                   .targets = Targets::some,
                   .interleaved = true,
                   .integer_dtype = HSTU_DTYPE_I64});
  cases.push_back(
      {.lengths = {70, 0, 33, 200}, .delta = 20, .targets = Targets::some, .page_size = 210, .one_page = true});
  cases.push_back({.lengths = {70, 1, 33, 200}, .delta = -20, .page_size = 201, .one_page = true});
  for (const int64_t padding : {3, 8, 128})  // of 16 bytes, of slots or neither
    cases.push_back({.lengths = {70, 0, 33, 200}, .delta = -50, .targets = Targets::some, .page_padding = padding});
  // Many rows: of targets whose history ends within a page, within a block of keys, or is not there at all.
  for (const int64_t page_size : {16, 32, 64, 128}) {
    cases.push_back({.lengths = {530, 97, 1, 700}, .delta = -150, .targets = Targets::some, .page_size = page_size});
    cases.push_back({.heads = 2,
                     .kv_heads = 1,
                     .dim_qk = 128,
                     .dim_v = 128,
                     .lengths = {1500, 40, 1025, 3},
                     .delta = 140,
                     .page_size = page_size,
                     .interleaved = page_size == 32});
  }
  cases.push_back(
      {.lengths = {530, 0, 33, 700}, .delta = 90, .targets = Targets::some, .page_size = 720, .one_page = true});
  cases.push_back(
      {.lengths = {530, 97, 1, 700}, .delta = -150, .targets = Targets::some, .max_attn_len = 100, .group = 7});
  cases.push_back({.lengths = {530, 97, 1, 700}, .delta = 130, .contextual = 5, .max_attn_len = 70, .page_size = 16});
  cases.push_back({.lengths = {530, 97, 1, 700}, .delta = 130, .mask = HSTU_MASK_LOCAL, .left = 90, .right = 9});
  return cases;
}

std::vector<CacheCase> delta_only() {
  std::vector<CacheCase> cases;
  for (const int64_t group : {1, 4})
    cases.push_back(
        {.lengths = {70, 16, 3, 200}, .delta = 25, .targets = Targets::many, .contextual = 6, .group = group});
  cases.push_back({.lengths = {700, 1600, 1025, 3}, .delta = 40});
  return cases;
}

std::vector<CacheCase> elements() {
  std::vector<CacheCase> cases;
  for (const hstu_dtype dtype : {HSTU_DTYPE_F32, HSTU_DTYPE_F16, HSTU_DTYPE_E4M3, HSTU_DTYPE_E5M2})
    for (const int64_t dim : {64, 33})
      cases.push_back({.dtype = dtype, .dim_qk = dim, .dim_v = dim + 16, .lengths = {70, 16, 33, 200}, .delta = 14});
  return cases;
}

/// Any options with any others: what the masks take, biases, scales, grouped heads, head dims, new rows, pages,
/// layouts. Seeded, so that names stay.
class RandomCases {
 public:
  explicit RandomCases(uint64_t seed) : random_(seed) {}
  std::vector<CacheCase> draw(int count) {
    std::vector<CacheCase> cases;
    while (static_cast<int>(cases.size()) < count) {
      CacheCase c = one();
      const auto same = [&](const CacheCase& other) { return name_of_case(other) == name_of_case(c); };
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

  CacheCase one() {
    CacheCase c{.dtype = any_of({HSTU_DTYPE_BF16, kF16}), .kv_heads = 1 + below(3), .dim_qk = 16 * (1 + below(16))};
    c.heads = c.kv_heads * (1 + below(3));
    c.dim_v = coin() ? c.dim_qk : below(8) == 0 ? 1 + below(256) : 16 * (1 + below(16));
    c.lengths = coin() ? std::vector<int64_t>{200, 0, 67, 129, 1, 40, 261, 7} : std::vector<int64_t>{700, 40, 1025, 3};
    c.delta = any_of({1, 5, 16, 17, 40, 130, -20, -140});
    c.mask = any_of({HSTU_MASK_CAUSAL, HSTU_MASK_CAUSAL, HSTU_MASK_LOCAL, HSTU_MASK_INTERVALS, HSTU_MASK_FULL});
    if (c.mask == HSTU_MASK_CAUSAL) causal(c);
    if (c.mask == HSTU_MASK_LOCAL) c.left = below(150) - 1, c.right = below(150) - 1;
    if (c.mask == HSTU_MASK_INTERVALS) c.intervals = any_of({1, 2, 3, 32}), c.interval_heads = coin() ? c.heads : 1;
    c.bias = any_of({Bias::absent, Bias::shared, Bias::of_heads, Bias::short_of_positions, Bias::short_in_chunks});
    c.scale = any_of({Scale::absent, Scale::one, Scale::rows});
    c.integer_dtype = any_of({HSTU_DTYPE_I32, HSTU_DTYPE_I64});
    c.page_size = any_of({1, 7, 16, 32, 64, 128});
    c.interleaved = c.dim_v == c.dim_qk && below(4) == 0;
    if (!c.interleaved && below(4) == 0)  // at most a row, for which there is room
      c.page_padding = std::min<int64_t>(any_of({3, 8, 128}), c.kv_heads * std::min(c.dim_qk, c.dim_v));
    if (below(4) == 0) c.layout = {.row_padding = any_of({1, 4, 8}), .shift = any_of({0, 1, 4})};
    return c;
  }
  void causal(CacheCase& c) {
    c.targets = any_of({Targets::absent, Targets::some, Targets::many});
    if (c.targets != Targets::absent && coin()) c.group = 2 + below(40);
    if (coin()) c.contextual = 1 + below(80), c.own_contexts = coin();
    if (coin()) c.max_attn_len = 1 + below(100), c.min_full = coin() ? 1 + below(60) : 0;
  }

  Random random_;
};

std::vector<CacheCase> combinations(uint64_t seed) {
  std::vector<CacheCase> cases = RandomCases(seed).draw(60);
  for (size_t i = 0; i < cases.size(); i += 5) cases[i].dtype = HSTU_DTYPE_F32;
  return cases;
}

/// f32, which has kernels of its own: some of all cases.
std::vector<CacheCase> wide(const std::vector<std::vector<CacheCase>>& groups) {
  std::vector<CacheCase> cases;
  for (const auto& group : groups)
    for (size_t i = 0; i < group.size(); i += 4) {
      cases.push_back(group[i]);
      cases.back().dtype = HSTU_DTYPE_F32;
    }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Combinations, DeltaSweep, testing::ValuesIn(combinations(20261)), kNameOf);
INSTANTIATE_TEST_SUITE_P(Combinations, PagedSweep, testing::ValuesIn(combinations(20262)), kNameOf);
INSTANTIATE_TEST_SUITE_P(Wide, DeltaSweep, testing::ValuesIn(wide({shapes(), masks()})), kNameOf);
INSTANTIATE_TEST_SUITE_P(Wide, PagedSweep, testing::ValuesIn(wide({shapes(), masks(), pages()})), kNameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, DeltaSweep, testing::ValuesIn(shapes()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Masks, DeltaSweep, testing::ValuesIn(masks()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Others, DeltaSweep, testing::ValuesIn(delta_only()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, PagedSweep, testing::ValuesIn(shapes()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Masks, PagedSweep, testing::ValuesIn(masks()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Pages, PagedSweep, testing::ValuesIn(pages()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, AppendSweep, testing::ValuesIn(shapes()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Pages, AppendSweep, testing::ValuesIn(pages()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Biased, DeltaSweep, testing::ValuesIn(biased()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Biased, PagedSweep, testing::ValuesIn(biased()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Elements, AppendSweep, testing::ValuesIn(elements()), kNameOf);

/// The new rows are the tail of the whole: the same numbers, from another kernel.
TEST(DeltaAttention, EqualsTheTailOfTheWholeWithEveryRowNew) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  CacheCase c{.lengths = {70, 16, 33, 200, 129}, .delta = 16, .targets = Targets::some, .contextual = 3};
  const auto args = test::delta_args(memory, c);
  auto all = args;
  all.q = memory.random(c.dtype, {args.k.shape[0], c.heads, c.dim_qk});
  all.out = memory.poison(c.dtype, {args.k.shape[0], c.heads, c.dim_v});
  all.q_offsets = args.seq_offsets;
  all.max_q_len = 200;
  test::expect_correct(memory, all, &hstu_delta_attention_args::out, test::attention_tolerance(c.dtype));
}

}  // namespace
}  // namespace hstujit
