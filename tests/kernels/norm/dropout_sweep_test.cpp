// Dropout on the device against the oracle, alone and in the output stage: which elements are kept is compared bit by
// bit, since a wrong decision is an error of the element's own size.
#include "support/device_call.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

struct Case {
  hstu_dtype dtype;
  int64_t rows, dim;
  float ratio = 0.3f;
  int32_t words = 1;
  int64_t seed = 0x123456789abcdef;
  Layout x{}, y{};
};

std::string name_of_case(const Case& c) {
  return fmt::format("{}_{}x{}_{}_w{}_seed{}_pad{}_{}_shift{}_{}", name_of(c.dtype), c.rows, c.dim, c.ratio, c.words,
                     c.seed, c.x.row_padding, c.y.row_padding, c.x.shift, c.y.shift);
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_dropout_args args_of(HostMemory& memory, const Case& c) {
  hstu_dropout_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {c.rows, c.dim}, c.x);
  args.out = memory.poison(c.dtype, {c.rows, c.dim}, c.y);
  args.ratio = c.ratio;
  args.words_per_counter = c.words;
  args.seed = c.seed;
  return args;
}

class DropoutSweep : public testing::TestWithParam<Case> {};

TEST_P(DropoutSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Case& c = GetParam();
  test::expect_correct(memory, args_of(memory, c), &hstu_dropout_args::out, test::rounded_once(c.dtype));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int32_t words : {1, 4}) {
    for (const hstu_dtype dtype : {kF32, kF16, kBf16})
      for (const auto& [rows, dim] : {std::pair<int64_t, int64_t>{1, 1}, {1, 7}, {5, 33}, {40, 512}, {300, 1000}})
        all.push_back({dtype, rows, dim, 0.3f, words});
    for (const Layout& layout : {Layout{.row_padding = 512},
                                 {.row_padding = 4},
                                 {.row_padding = 2},
                                 {.row_padding = 1},
                                 {.shift = 1},
                                 {.shift = 2},
                                 {.shift = 4}}) {
      all.push_back({kBf16, 40, 512, 0.5f, words, 1, layout});
      all.push_back({kF32, 40, 512, 0.5f, words, 1, {}, layout});
    }
    for (const float ratio : {0.0f, 1e-6f, 0.1f, 0.9f, 0.99999994f}) all.push_back({kBf16, 40, 512, ratio, words});
    for (const int64_t seed : {int64_t{0}, int64_t{123}, int64_t{-1}, int64_t{1} << 61})
      all.push_back({kBf16, 40, 512, 0.5f, words, seed});
  }
  return all;
}

const auto kNameOf = [](const auto& info) {
  std::string name = fmt::format("{}_{}", info.index, name_of_case(info.param));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
};
INSTANTIATE_TEST_SUITE_P(Cases, DropoutSweep, testing::ValuesIn(cases()), kNameOf);

TEST(DropoutOnDevice, KeepsWhatTheSpecificationKeeps) {
  HSTU_NEEDS_RESULTS();
  constexpr int kKept[] = {0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1};
  HostMemory memory;
  const auto args = args_of(memory, {kF32, 2, 8, 0.5f, 1, 123});
  test::fill(args.x, 3);
  test::DeviceCall call(memory, Op::dropout, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  const auto y = test::values(call.after(args.out));
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(y[i], 6.0 * kKept[i]) << i;
}

TEST(DropoutOnDevice, DroppedNanIsGoneAndKeptNanStays) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  const auto args = args_of(memory, {kBf16, 2, 8, 0.5f, 1, 123});
  test::fill(args.x, std::nan(""));
  test::DeviceCall call(memory, Op::dropout, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  const auto y = test::values(call.after(args.out));
  EXPECT_EQ(y[0], 0);
  EXPECT_TRUE(std::isnan(y[1]));
}

TEST(DropoutOnDevice, MayWorkInPlaceAndOnNothing) {
  HSTU_NEEDS_DEVICE();
  for (const auto& [rows, dim] : {std::pair<int64_t, int64_t>{37, 1001}, {0, 512}, {5, 0}}) {
    HostMemory memory;
    auto args = args_of(memory, {kBf16, rows, dim});
    args.out = args.x;
    test::expect_correct(memory, args, &hstu_dropout_args::out, test::rounded_once(kBf16));
  }
}

// ---- In the output stage

struct MulCase {
  hstu_dtype dtype;
  int64_t rows, dim;
  hstu_dropout_stream stream;
  int32_t groups = 0, concat_u = 1, concat_x = 1;
  hstu_norm norm = HSTU_NORM_LAYER;
  float ratio = 0.3f;
};

std::string name_of_case(const MulCase& c) {
  return fmt::format("{}_{}x{}_stream{}_g{}_u{}x{}_norm{}_ratio{}", name_of(c.dtype), c.rows, c.dim,
                     static_cast<int>(c.stream), c.groups, c.concat_u, c.concat_x, static_cast<int>(c.norm),
                     c.ratio * 10);
}

void PrintTo(const MulCase& c, std::ostream* out) { *out << name_of_case(c); }

class NormMulDropoutSweep : public testing::TestWithParam<MulCase> {};

TEST_P(NormMulDropoutSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  const MulCase& c = GetParam();
  HostMemory memory;
  hstu_norm_mul_args args{};
  args.struct_size = sizeof args;
  args.attn = memory.random(c.dtype, {c.rows, c.dim}, {.row_padding = 8});
  args.u = memory.random(c.dtype, {c.rows, c.dim});
  const int64_t weights = c.groups > 0 ? c.groups : c.dim;
  args.weight = memory.random(c.dtype, {weights}, {}, 1, 0.3);
  if (c.norm != HSTU_NORM_RMS) args.bias = memory.random(c.dtype, {weights});
  const bool one = c.groups > 0 && !(c.concat_u && c.concat_x);
  args.out = memory.poison(c.dtype, {c.rows, (one ? 1 : 1 + c.concat_u + c.concat_x) * c.dim});
  args.num_groups = c.groups;
  args.concat_u = c.concat_u;
  args.concat_x = c.concat_x;
  args.silu_u = c.concat_u;
  args.activation = HSTU_ACTIVATION_SIGMOID;
  args.norm = c.norm;
  args.dropout_stream = c.stream;
  args.dropout_ratio = c.ratio;
  args.seed = 0x123456789abcdef;
  test::expect_correct(memory, args, &hstu_norm_mul_args::out, test::rounded_once(c.dtype));
}

std::vector<MulCase> streams() {
  std::vector<MulCase> all;
  for (const hstu_dropout_stream stream :
       {HSTU_DROPOUT_COMPAT, HSTU_DROPOUT_FAST, HSTU_DROPOUT_MASKS, HSTU_DROPOUT_ROWS}) {
    for (const int32_t u : {0, 1})
      for (const int32_t x : {0, 1}) all.push_back({kBf16, 45, 256, stream, 0, u, x});
    for (const int64_t dim : {5, 96, 200, 1024, 20001}) all.push_back({kBf16, dim > 5000 ? 5 : 45, dim, stream});
    for (const hstu_dtype dtype : {kF32, kF16}) all.push_back({dtype, 45, 512, stream});
    for (const int32_t both : {0, 1}) all.push_back({kBf16, 45, 512, stream, 4, both, both});
    all.push_back({kF32, 45, 60, stream, 3});
  }
  return all;
}

std::vector<MulCase> norms() {
  std::vector<MulCase> all;
  for (const hstu_norm norm : {HSTU_NORM_RMS, HSTU_NORM_SWISH})
    for (const float ratio : {0.0f, 0.3f}) {
      for (const int64_t dim : {5, 512, 20001})
        all.push_back({kBf16, dim > 5000 ? 5 : 45, dim, HSTU_DROPOUT_COMPAT, 0, 1, 1, norm, ratio});
      for (const hstu_dtype dtype : {kF32, kF16})
        all.push_back({dtype, 45, 256, HSTU_DROPOUT_COMPAT, 0, 0, 1, norm, ratio});
      all.push_back({kBf16, 45, 512, HSTU_DROPOUT_COMPAT, 4, 1, 1, norm, ratio});
    }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Streams, NormMulDropoutSweep, testing::ValuesIn(streams()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Norms, NormMulDropoutSweep, testing::ValuesIn(norms()), kNameOf);

}  // namespace
}  // namespace hstujit
