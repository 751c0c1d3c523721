// What scales of 128 rows cost attention in FP8: of the keys that a row sees, those whose scales are small beside
// others' lose bits of their weights. One block of keys has large scales and no values, so that the others make the
// result alone; its error against exact attention of the same e4m3 values, by the ratio of scales, printed and bounded.
#include "support/attention_cases.hpp"
#include "support/element.hpp"

#include <cmath>

namespace hstujit {
namespace {

using test::Exact;
using test::HostMemory;

constexpr int64_t kRows = 512, kHeadDim = 128, kBlocks = kRows / 128;
constexpr float kStored = 64;  ///< deviation of what is stored

struct Case {
  const char* scales;
  int octaves;  ///< by which all blocks but the first have smaller scales
  double bound;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.scales << c.octaves; }

hstu_tensor scales(HostMemory& memory, int octaves) {
  std::vector<float> all(kBlocks, std::ldexp(1 / kStored, -octaves));
  all[0] = 1 / kStored;
  hstu_tensor t = memory.floats(all);
  t.rank = 2, t.shape[1] = 1, t.stride[0] = 1, t.stride[1] = 1;
  return t;
}

hstu_tensor stored(HostMemory& memory, int64_t zeros) {
  const hstu_tensor t = memory.poison(HSTU_DTYPE_E4M3, {kRows, 1, kHeadDim});
  test::randomise(t, memory.random_numbers(), 0, kStored);
  const std::vector<double> nothing(static_cast<size_t>(kHeadDim), 0.0);
  for (int64_t row = 0; row < zeros; ++row) store(t, row * t.stride[0], kHeadDim, nothing.data());
  return t;
}

class AttentionFp8Error : public testing::TestWithParam<Case> {};

TEST_P(AttentionFp8Error, OfKeysWithSmallScales) {
  HSTU_NEEDS_RESULTS();
  const Case& c = GetParam();
  const bool of_values = c.scales[0] == 'v';
  HostMemory memory;
  hstu_attention_fp8_args args{};
  args.struct_size = sizeof args;
  args.q = stored(memory, 0), args.k = stored(memory, 0), args.v = stored(memory, 128);
  args.out = memory.poison(HSTU_DTYPE_BF16, {kRows, 1, kHeadDim});
  args.q_descale = scales(memory, 0);
  args.k_descale = scales(memory, of_values ? 0 : c.octaves);
  args.v_descale = scales(memory, of_values ? c.octaves : 0);
  args.scaling = HSTU_FP8_ATTENTION_BLOCK;
  args.seq_offsets = memory.integers(HSTU_DTYPE_I64, {0, kRows});
  args.mask.kind = HSTU_MASK_FULL;
  args.max_seq_len = kRows;
  args.scaling_seqlen = 1;
  const Exact exact = test::exact_result(args, &hstu_attention_fp8_args::out);
  test::DeviceCall call(memory, Op::attention_fp8, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  const Exact out = test::values(call.after(args.out));
  double errors = 0, squares = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    errors += (out[i] - exact[i]) * (out[i] - exact[i]);
    squares += exact[i] * exact[i];
  }
  const double error = std::sqrt(errors / squares);
  fmt::print("scales of {} 2^-{} of the greatest: error {:.2e}\n", c.scales, c.octaves, error);
  EXPECT_LT(error, c.bound);
}

/// Both runs of keys are longer than sums go without being promoted.
TEST(AttentionFp8Sums, OfTwoLongRunsOfKeysAreAllAdded) {
  HSTU_NEEDS_DEVICE();
  constexpr int64_t kLength = 4900, kDim = 32;
  HostMemory memory;
  hstu_attention_fp8_args args{};
  args.struct_size = sizeof args;
  for (hstu_tensor* const t : {&args.q, &args.k, &args.v}) {
    *t = memory.poison(HSTU_DTYPE_E4M3, {kLength, 1, kDim});
    test::randomise(*t, memory.random_numbers(), 1, 1);
  }
  args.out = memory.poison(HSTU_DTYPE_BF16, {kLength, 1, kDim});
  for (hstu_tensor* const t : {&args.q_descale, &args.k_descale, &args.v_descale}) *t = memory.floats({0.5f});
  args.seq_offsets = memory.integers(HSTU_DTYPE_I64, {0, kLength});
  args.mask.kind = HSTU_MASK_INTERVALS;
  args.mask.intervals = memory.integers(HSTU_DTYPE_I32, std::vector<int64_t>(3 * kLength));
  args.mask.intervals.rank = 3, args.mask.intervals.shape[0] = 1, args.mask.intervals.shape[1] = 3,
  args.mask.intervals.shape[2] = kLength;
  args.mask.intervals.stride[0] = 3 * kLength, args.mask.intervals.stride[1] = kLength,
  args.mask.intervals.stride[2] = 1;
  auto* const bounds = static_cast<int32_t*>(args.mask.intervals.data);
  for (int64_t i = 0; i < kLength; ++i)
    bounds[i] = 2300, bounds[kLength + i] = 2500, bounds[2 * kLength + i] = kLength - static_cast<int32_t>(i % 3);
  args.max_seq_len = kLength;
  test::expect_correct(memory, args, &hstu_attention_fp8_args::out, test::Tolerance{3.5e-2, 8});
}

INSTANTIATE_TEST_SUITE_P(Scales, AttentionFp8Error,
                         testing::Values(Case{"v", 0, 2.8e-2}, Case{"v", 4, 2.8e-2}, Case{"v", 6, 3e-2},
                                         Case{"v", 8, 6.5e-2}, Case{"v", 10, 0.32}, Case{"k", 4, 2.8e-2},
                                         Case{"k", 6, 3.1e-2}, Case{"k", 8, 8e-2}, Case{"k", 10, 0.33}),
                         [](const auto& c) { return fmt::format("{}{}", c.param.scales, c.param.octaves); });

}  // namespace
}  // namespace hstujit
