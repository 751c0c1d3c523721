// Softmax attention on the device against the oracle: head dims, lengths of queries and keys, dense and jagged layouts,
// with and without log-sum-exp. Whatever lies around the tensors must stay as it was.
#include "support/attention_cases.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

using test::HostMemory;
using Args = hstu_flash_attention_args;

constexpr hstu_dtype kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;
constexpr hstu_mask kCausal = HSTU_MASK_CAUSAL, kFull = HSTU_MASK_FULL;

struct Case {
  hstu_dtype dtype = kBf16;
  int64_t batch = 2, heads = 2, queries = 100, keys = 100, dim_qk = 64, dim_v = 64;
  hstu_mask mask = kCausal;
  bool lse = true;
  bool heads_inside = false;          ///< dense tensors lie as [batch, rows, heads, dim]
  std::vector<int64_t> lengths = {};  ///< not empty: jagged
  hstu_dtype offsets = HSTU_DTYPE_I64;
  float scale = 0;
  test::Layout layout{};
};

std::string name_of_case(const Case& c) {
  int64_t total = 0;
  for (const int64_t length : c.lengths) total += length;
  const std::string shape = c.lengths.empty() ? fmt::format("b{}q{}k{}", c.batch, c.queries, c.keys)
                                              : fmt::format("n{}b{}_{}", total, c.lengths.size(), name_of(c.offsets));
  return fmt::format("{}_{}_h{}_{}_{}_m{}l{}i{}_a{}_p{}s{}", name_of(c.dtype), shape, c.heads, c.dim_qk, c.dim_v,
                     static_cast<int>(c.mask), int{c.lse}, int{c.heads_inside}, static_cast<int>(c.scale * 1000 + 9000),
                     c.layout.row_padding, c.layout.shift);
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_tensor dense(HostMemory& memory, const Case& c, int64_t rows, int64_t dim, bool poison) {
  const auto make = [&](std::initializer_list<int64_t> shape) {
    return poison ? memory.poison(c.dtype, shape, c.layout) : memory.random(c.dtype, shape, c.layout);
  };
  if (!c.heads_inside) return make({c.batch, c.heads, rows, dim});
  hstu_tensor t = make({c.batch, rows, c.heads, dim});
  std::swap(t.shape[1], t.shape[2]);
  std::swap(t.stride[1], t.stride[2]);
  return t;
}

void fill_dense(HostMemory& memory, const Case& c, Args& args) {
  args.q = dense(memory, c, c.queries, c.dim_qk, false);
  args.k = dense(memory, c, c.keys, c.dim_qk, false);
  args.v = dense(memory, c, c.keys, c.dim_v, false);
  args.out = dense(memory, c, c.queries, c.dim_v, true);
  if (c.lse) args.lse = memory.poison(HSTU_DTYPE_F32, {c.batch, c.heads, c.queries});
}

void fill_jagged(HostMemory& memory, const Case& c, Args& args) {
  constexpr int64_t kSpare = 3;  // rows behind the last sequence, NaN
  const auto offsets = test::offsets_of(c.lengths);
  const int64_t rows = offsets.back(), total = rows + kSpare;
  args.q = memory.poison(c.dtype, {total, c.heads, c.dim_qk}, c.layout);
  args.k = memory.poison(c.dtype, {total, c.heads, c.dim_qk}, c.layout);
  args.v = memory.poison(c.dtype, {total, c.heads, c.dim_v}, c.layout);
  args.out = memory.poison(c.dtype, {total, c.heads, c.dim_v}, c.layout);
  for (const hstu_tensor* t : {&args.q, &args.k, &args.v})
    test::randomise(test::rows_of(*t, 0, rows), memory.random_numbers());
  if (c.lse) args.lse = memory.poison(HSTU_DTYPE_F32, {c.heads, total});
  args.seq_offsets = memory.integers(c.offsets, offsets);
  args.max_seq_len = std::max<int64_t>(1, *std::max_element(c.lengths.begin(), c.lengths.end()) / 2);
}

Args args_of(HostMemory& memory, const Case& c) {
  Args args{};
  args.struct_size = sizeof args;
  args.mask.kind = c.mask;
  args.scale = c.scale;
  if (c.lengths.empty())
    fill_dense(memory, c, args);
  else
    fill_jagged(memory, c, args);
  return args;
}

/// A logarithm of sums of approximate powers, in f32.
constexpr test::Tolerance kLseTolerance{1e-5, 200};

void expect_case(const Case& c) {
  HostMemory memory;
  const Args args = args_of(memory, c);
  if (c.lse)
    test::expect_correct(memory, args, {{&Args::out, test::attention_tolerance(c.dtype)}, {&Args::lse, kLseTolerance}});
  else
    test::expect_correct(memory, args, &Args::out, test::attention_tolerance(c.dtype));
}

class FlashAttentionSweep : public testing::TestWithParam<Case> {};

TEST_P(FlashAttentionSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  expect_case(GetParam());
}

std::vector<Case> head_dims() {
  std::vector<Case> cases;
  for (const hstu_dtype dtype : {kBf16, kF16, HSTU_DTYPE_F32})
    for (int64_t dim = 16; dim <= 256; dim += 16)
      cases.push_back({.dtype = dtype, .queries = 150, .keys = 150, .dim_qk = dim, .dim_v = dim});
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{64, 128}, {128, 64}, {40, 24}, {7, 5}, {255, 250}})
    cases.push_back({.heads = 3, .queries = 70, .keys = 70, .dim_qk = qk, .dim_v = v});
  return cases;
}

std::vector<Case> lengths() {
  std::vector<Case> cases;
  for (const hstu_mask mask : {kCausal, kFull})
    for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{1, 1},
                                        {1, 300},
                                        {17, 300},
                                        {128, 128},
                                        {129, 257},
                                        {300, 300},
                                        {64, 1000},
                                        {500, 500}})
      cases.push_back({.queries = queries, .keys = keys, .mask = mask});
  for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{300, 17}, {129, 1}, {1000, 64}})
    cases.push_back({.queries = queries, .keys = keys, .mask = kFull});
  return cases;
}

std::vector<Case> forms() {
  std::vector<Case> cases;
  const std::vector<int64_t> ragged = test::ragged(), longer{700, 0, 33, 129};
  for (const hstu_mask mask : {kCausal, kFull}) {
    cases.push_back({.mask = mask, .lengths = ragged});
    cases.push_back({.dtype = kF16, .heads = 3, .dim_qk = 128, .dim_v = 128, .mask = mask, .lengths = longer});
    cases.push_back({.mask = mask, .lse = false, .lengths = longer, .offsets = HSTU_DTYPE_I32});
    cases.push_back({.mask = mask, .heads_inside = true});
    cases.push_back({.mask = mask, .lse = false});
    for (const float scale : {1.0f, -0.3f, 3.0f}) cases.push_back({.mask = mask, .scale = scale});
    for (const int64_t gap : {8, 1}) cases.push_back({.mask = mask, .layout = {.row_padding = gap}});
    cases.push_back({.mask = mask, .layout = {.shift = 1}});
  }
  return cases;
}

const auto kNameOf = [](const auto& info) { return name_of_case(info.param); };
INSTANTIATE_TEST_SUITE_P(HeadDims, FlashAttentionSweep, testing::ValuesIn(head_dims()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Lengths, FlashAttentionSweep, testing::ValuesIn(lengths()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Forms, FlashAttentionSweep, testing::ValuesIn(forms()), kNameOf);

TEST(FlashAttentionOnDevice, QueriesWithoutKeysGiveZerosAndMinusInfinity) {
  HSTU_NEEDS_RESULTS();
  for (const auto& [queries, keys, unseeing] : {std::array<int64_t, 3>{200, 70, 130}, {5, 0, 5}, {130, 1, 129}}) {
    HostMemory memory;
    const Args args = args_of(memory, {.batch = 1, .heads = 1, .queries = queries, .keys = keys});
    test::DeviceCall call(memory, Op::flash_attention, &args);
    ASSERT_EQ(call.status(), HSTU_OK) << call.error();
    const auto out = test::values(call.after(args.out)), lse = test::values(call.after(args.lse));
    for (int64_t i = 0; i < queries; ++i) {
      const bool sees = i >= unseeing;
      EXPECT_EQ(std::isinf(lse[static_cast<size_t>(i)]), !sees) << i;
      EXPECT_EQ(out[static_cast<size_t>(i * 64)] == 0, !sees) << i;
    }
    EXPECT_TRUE(call.wrote_only({args.out, args.lse}));
  }
}

TEST(FlashAttentionOnDevice, EmptyBatches) {
  HSTU_NEEDS_DEVICE();
  expect_case({.batch = 0});
  expect_case({.queries = 0});
  expect_case({.lengths = {0, 0, 0}});
}

TEST(FlashAttentionOnDevice, LargeScoresStayFinite) {
  HSTU_NEEDS_DEVICE();
  expect_case({.queries = 200, .keys = 200, .scale = 40.0f});
}

TEST(FlashAttentionOnDevice, RunsTwiceToTheSameBits) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  const Args args = args_of(memory, {.queries = 300, .keys = 300});
  test::DeviceCall first(memory, Op::flash_attention, &args), second(memory, Op::flash_attention, &args);
  ASSERT_EQ(first.status(), HSTU_OK) << first.error();
  const hstu_tensor a = first.after(args.out), b = second.after(args.out);
  EXPECT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(extent_bytes(a))), 0);
}

}  // namespace
}  // namespace hstujit
