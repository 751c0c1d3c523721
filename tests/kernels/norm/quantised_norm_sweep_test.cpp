// Norms whose results are quantised to FP8 as they are written, on the device against the oracle: scales of rows and of
// 128 columns, rows of no element and of more than are held, ragged last groups, gaps between rows, any alignment.
#include "support/large.hpp"
#include "support/norm_gradients.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kE4m3 = HSTU_DTYPE_E4M3,
                     kE5m2 = HSTU_DTYPE_E5M2;
constexpr auto kRow = HSTU_FP8_ROW, kGroup = HSTU_FP8_GROUP;

struct Case {
  hstu_dtype dtype, fp8;
  hstu_fp8_scaling scaling;
  int64_t rows, dim;
  bool weighted = true;
  Layout x{}, y{}, weights{};
  double mean = 0.25;  ///< of x
};

std::string name_of_case(const Case& c) {
  return fmt::format("{}_{}_{}_{}x{}_weighted{}_pad{}_{}_shift{}_{}_{}_mean{}", name_of(c.dtype), name_of(c.fp8),
                     c.scaling == kRow ? "rows" : "groups", c.rows, c.dim, int{c.weighted}, c.x.row_padding,
                     c.y.row_padding, c.x.shift, c.y.shift, c.weights.shift, static_cast<int>(c.mean));
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

/// What the norms share.
template <class Args>
Args args_of(HostMemory& memory, const Case& c) {
  Args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {c.rows, c.dim}, c.x, c.mean, 2);
  args.out = memory.poison(c.fp8, {c.rows, c.dim}, c.y);
  args.scaling = c.scaling;
  args.descale = c.scaling == kRow ? memory.poison(kF32, {c.rows})
                                   : memory.poison(kF32, {c.rows, (c.dim + 127) / 128}, {.row_padding = 2});
  if (c.weighted) args.weight = memory.random(kBf16, {c.dim}, c.weights, 1, 0.3);
  return args;
}

/// How exact what is quantised is: sums in f32; with one special function of bf16, wrong by 2^-12; and that of few
/// elements, of which the greatest, a result of SiLU of a negative number, is smaller than what it is made of.
enum class Precision { sums, special, special_of_few };

/// A value between two of FP8's may go to either only where it lies as near to their middle as it is exact.
test::Tolerance steps(hstu_dtype fp8, Precision precision) {
  test::Tolerance tolerance = test::rounded_to_fp8(fp8);
  if (precision == Precision::sums) tolerance.ulps_of_row = 400;
  if (precision == Precision::special_of_few) tolerance.ulps_of_row = 4e4;
  return tolerance;
}

/// Scales are of the greatest value, which is positive where there are many.
test::Tolerance scale(Precision precision) {
  if (precision == Precision::sums) return {4e-6, 100};
  return precision == Precision::special ? test::Tolerance{2.5e-4, 4300} : test::Tolerance{5e-4, 1e4};
}

/// Elements of a row's smallest unit.
int64_t least_unit(hstu_fp8_scaling scaling, int64_t columns) {
  return scaling == kRow ? columns : (columns + 127) % 128 + 1;
}

/// Of a norm with an activation: f16 and f32 take no special function that is wrong by more than sums are.
Precision of_activated(hstu_dtype dtype, hstu_fp8_scaling scaling, int64_t columns) {
  if (dtype != kBf16) return Precision::sums;
  return least_unit(scaling, columns) < 32 ? Precision::special_of_few : Precision::special;
}

class QuantisedNormSweep : public testing::TestWithParam<Case> {};

TEST_P(QuantisedNormSweep, LayerNormEqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = args_of<hstu_layer_norm_args>(memory, GetParam());
  if (GetParam().weighted) args.bias = memory.random(kBf16, {GetParam().dim}, GetParam().weights);
  test::expect_correct(memory, args,
                       {{&hstu_layer_norm_args::out, steps(GetParam().fp8, Precision::sums)},
                        {&hstu_layer_norm_args::descale, scale(Precision::sums)}});
}

TEST_P(QuantisedNormSweep, LayerNormLeavesItsMoments) {
  HSTU_NEEDS_DEVICE();
  if (GetParam().dim == 0) GTEST_SKIP() << "a row of nothing has no mean";
  HostMemory memory;
  auto args = args_of<hstu_layer_norm_args>(memory, GetParam());
  if (GetParam().weighted) args.bias = memory.random(kBf16, {GetParam().dim}, GetParam().weights);
  args.moments = memory.poison(kF32, {GetParam().rows, 1, 2});
  test::expect_correct<hstu_layer_norm_args>(memory, args,
                                             {{&hstu_layer_norm_args::out, steps(GetParam().fp8, Precision::sums)},
                                              {&hstu_layer_norm_args::descale, scale(Precision::sums)},
                                              test::expected_moments(args)});
}

TEST_P(QuantisedNormSweep, RmsNormEqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = args_of<hstu_rms_norm_args>(memory, GetParam());
  args.activation = HSTU_ACTIVATION_SILU;
  const Case& c = GetParam();
  // tanh(x / 2) of the greatest of many x is 1 to more bits than its error has.
  const Precision values = of_activated(c.dtype, c.scaling, c.dim),
                  greatest = least_unit(c.scaling, c.dim) < 8 ? values : Precision::sums;
  test::expect_correct(
      memory, args,
      {{&hstu_rms_norm_args::out, steps(c.fp8, values)}, {&hstu_rms_norm_args::descale, scale(greatest)}});
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto scaling : {kRow, kGroup}) {
    for (const int64_t dim : {8, 64, 128, 136, 256, 512, 1000, 1024, 2048, 4096})
      all.push_back({kBf16, kE4m3, scaling, 67, dim});
    for (const int64_t dim : {4, 100, 512, 1028}) all.push_back({kF32, kE5m2, scaling, 35, dim, false});
    for (const int64_t dim : {8192, 16384}) all.push_back({kF16, kE4m3, scaling, 3, dim});
    all.push_back({kF16, kE5m2, scaling, 129, 776, true, {.row_padding = 8}, {.row_padding = 8}});
    all.push_back({kBf16, kE4m3, scaling, 1, 512});
    all.push_back({kBf16, kE4m3, scaling, 0, 512});
  }
  all.push_back({kBf16, kE4m3, kRow, 40, 516, true, {}, {.row_padding = 4}});
  return all;
}

/// What takes narrow accesses, or rows read several times.
std::vector<Case> odd_cases() {
  std::vector<Case> all;
  for (const auto scaling : {kRow, kGroup}) {
    for (const int64_t dim : {1, 2, 3, 7, 33, 127, 129, 130, 257, 999, 1026, 1537, 4099, 8190, 16382})
      all.push_back({kBf16, kE4m3, scaling, dim > 1000 ? 7 : 41, dim});
    for (const int64_t dim : {6, 131, 1023, 2050}) all.push_back({kF32, kE5m2, scaling, 9, dim, false});
    for (const int64_t dim : {16385, 16386, 16388, 20000, 32769, 70001}) all.push_back({kF16, kE4m3, scaling, 3, dim});
    all.push_back({kF32, kE4m3, scaling, 2, 40002, true, {}, {}, {}, 20});
    all.push_back({kBf16, kE4m3, scaling, 5, 301, true, {}, {}, {}, 20});
    all.push_back({kBf16, kE4m3, scaling, 1, 513});
    all.push_back({kBf16, kE4m3, scaling, 0, 513});
    const Case base{kBf16, kE4m3, scaling, 21, 520};
    for (const Layout& layout :
         {Layout{.row_padding = 1}, {.row_padding = 2}, {.row_padding = 500}, {.shift = 1}, {.shift = 2}, {3, 1}})
      for (Layout Case::*place : {&Case::x, &Case::y}) {
        all.push_back(base);
        all.back().*place = layout;
      }
    all.push_back(base);
    all.back().weights.shift = 1;
    all.push_back({kF16, kE4m3, scaling, 3, 17000, true, {.shift = 2}, {.row_padding = 2}, {.shift = 2}});
  }
  all.push_back({kBf16, kE4m3, kRow, 5, 0});  // has scales all the same
  return all;
}

const auto kNameOf = [](const auto& info) { return name_of_case(info.param); };
INSTANTIATE_TEST_SUITE_P(Rows, QuantisedNormSweep, testing::ValuesIn(cases()), kNameOf);
INSTANTIATE_TEST_SUITE_P(OddRows, QuantisedNormSweep, testing::ValuesIn(odd_cases()), kNameOf);

struct RopeCase {
  Case norm;
  int64_t batch, head_dim;
  Layout angles{};
};

std::string name_of_case(const RopeCase& c) {
  return fmt::format("{}_b{}_d{}_angles{}_{}", name_of_case(c.norm), c.batch, c.head_dim, c.angles.row_padding,
                     c.angles.shift);
}
void PrintTo(const RopeCase& c, std::ostream* out) { *out << name_of_case(c); }

/// [batch * rows, dim] as [batch, rows, dim].
hstu_tensor batched(hstu_tensor t, int64_t batch) {
  t.rank = 3;
  t.shape[2] = t.shape[1], t.shape[1] = batch > 0 ? t.shape[0] / batch : 5, t.shape[0] = batch;
  t.stride[2] = 1, t.stride[1] = t.stride[0], t.stride[0] = t.shape[1] * t.stride[1];
  return t;
}

class QuantisedRopeSweep : public testing::TestWithParam<RopeCase> {};

TEST_P(QuantisedRopeSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto& [norm, batch, head_dim, angles] = GetParam();
  using Args = hstu_rms_norm_rope_args;
  const auto plain = args_of<hstu_rms_norm_args>(memory, norm);
  Args args{};
  args.struct_size = sizeof args;
  args.x = batched(plain.x, batch), args.out = batched(plain.out, batch);
  args.weight = plain.weight, args.scaling = plain.scaling, args.descale = plain.descale;
  args.head_dim = head_dim;
  args.cosine = memory.random(kF32, {args.x.shape[1], head_dim}, angles);
  args.sine = memory.random(kF32, {args.x.shape[1], head_dim / 2}, angles);
  test::expect_correct(memory, args,
                       {{&Args::out, steps(norm.fp8, Precision::sums)}, {&Args::descale, scale(Precision::sums)}});
}

std::vector<RopeCase> rope_cases() {
  std::vector<RopeCase> all;
  for (const auto scaling : {kRow, kGroup}) {
    for (const int64_t head_dim : {16, 32, 64, 128})
      for (const int64_t dim : {128, 640, 1024, 4096}) all.push_back({{kBf16, kE4m3, scaling, 34, dim}, 2, head_dim});
    for (const int64_t head_dim : {256, 512}) {
      all.push_back({{kBf16, kE4m3, scaling, 34, 1536}, 2, head_dim});
      all.push_back({{kF32, kE5m2, scaling, 9, 512}, 3, head_dim});
    }
    for (const int64_t dim : {64, 512, 768}) all.push_back({{kF32, kE4m3, scaling, 35, dim}, 5, 64});
    all.push_back({{kF16, kE5m2, scaling, 6, 8192}, 2, 64});
    all.push_back({{kF16, kE4m3, scaling, 4, 16384}, 2, 128});
    all.push_back({{kBf16, kE4m3, scaling, 129, 768, true, {.row_padding = 8}, {.row_padding = 8}}, 1, 64});
    all.push_back({{kBf16, kE4m3, scaling, 40, 512, true, {.row_padding = 4}, {.row_padding = 4}}, 2, 64});
    all.push_back({{kBf16, kE4m3, scaling, 1, 512}, 1, 64});
    all.push_back({{kBf16, kE4m3, scaling, 0, 512}, 0, 64});
  }
  for (const int64_t head_dim : {48, 96, 192}) all.push_back({{kBf16, kE4m3, kRow, 34, 1152}, 2, head_dim});
  return all;
}

/// Heads that share spans of 128 columns or end within them, narrow accesses, rows read several times.
std::vector<RopeCase> odd_rope_cases() {
  std::vector<RopeCase> all;
  for (const auto scaling : {kRow, kGroup}) {
    for (const int64_t head_dim : {2, 4, 6, 10, 48, 80, 96, 192, 320, 384, 1152}) {
      const int64_t dim = 1152 / head_dim * head_dim;
      all.push_back({{kBf16, kE4m3, scaling, 10, dim}, 2, head_dim});
      all.push_back({{kF32, kE5m2, scaling, 3, head_dim}, 1, head_dim});
    }
    for (const auto& [dim, head_dim] :
         {std::pair<int64_t, int64_t>{20002, 2}, {24576, 128}, {24576, 192}, {17010, 126}, {33000, 33000}})
      all.push_back({{kF16, kE4m3, scaling, 4, dim}, 2, head_dim});
    all.push_back({{kBf16, kE4m3, scaling, 1, 390}, 1, 78});
    all.push_back({{kBf16, kE4m3, scaling, 0, 390}, 0, 78});
    const RopeCase base{{kBf16, kE4m3, scaling, 14, 512}, 2, 64};
    for (const Layout& layout : {Layout{.row_padding = 1}, {.row_padding = 2}, {.shift = 1}, {.shift = 2}, {3, 1}}) {
      for (Layout Case::*place : {&Case::x, &Case::y}) {
        all.push_back(base);
        all.back().norm.*place = layout;
      }
      all.push_back(base);
      all.back().angles = layout;
    }
    all.push_back(base);
    all.back().norm.weights.shift = 1;
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Rows, QuantisedRopeSweep, testing::ValuesIn(rope_cases()), kNameOf);
INSTANTIATE_TEST_SUITE_P(OddRows, QuantisedRopeSweep, testing::ValuesIn(odd_rope_cases()), kNameOf);

struct MulCase {
  hstu_dtype dtype, fp8;
  hstu_fp8_scaling scaling;
  int64_t rows, dim;
  int32_t groups = 0;
  int32_t concat_u = 1, concat_x = 1, silu_u = 0;
  hstu_activation activation = HSTU_ACTIVATION_NONE;
  hstu_norm norm = HSTU_NORM_LAYER;
  float dropout = 0;
  hstu_dropout_stream stream = HSTU_DROPOUT_COMPAT;
  Layout attn{}, u{}, out{}, weights{};
};

std::string name_of_case(const MulCase& c) {
  const auto layout = [](const Layout& l) { return fmt::format("p{}s{}", l.row_padding, l.shift); };
  return fmt::format("{}_{}_{}_{}x{}_g{}_u{}x{}s{}a{}n{}_drop{}{}_{}_{}_{}_{}", name_of(c.dtype), name_of(c.fp8),
                     c.scaling == kRow ? "rows" : "groups", c.rows, c.dim, c.groups, c.concat_u, c.concat_x, c.silu_u,
                     static_cast<int>(c.activation), static_cast<int>(c.norm), static_cast<int>(100 * c.dropout),
                     static_cast<int>(c.stream), layout(c.attn), layout(c.u), layout(c.out), layout(c.weights));
}
void PrintTo(const MulCase& c, std::ostream* out) { *out << name_of_case(c); }

hstu_norm_mul_args args_of(HostMemory& memory, const MulCase& c) {
  hstu_norm_mul_args args{};
  args.struct_size = sizeof args;
  args.attn = memory.random(c.dtype, {c.rows, c.dim}, c.attn, 0.1);
  args.u = memory.random(c.dtype, {c.rows, c.dim}, c.u);
  const int64_t weights = c.groups > 0 ? c.groups : c.dim;
  args.weight = memory.random(kBf16, {weights}, c.weights, 1, 0.3);
  if (c.norm != HSTU_NORM_RMS) args.bias = memory.random(kBf16, {weights}, c.weights);
  const bool one_segment = c.groups > 0 && !(c.concat_u && c.concat_x);
  const int64_t columns = (one_segment ? 1 : 1 + c.concat_u + c.concat_x) * c.dim;
  args.out = memory.poison(c.fp8, {c.rows, columns}, c.out);
  args.scaling = c.scaling;
  args.descale = c.scaling == kRow ? memory.poison(kF32, {c.rows})
                                   : memory.poison(kF32, {c.rows, (columns + 127) / 128}, {.row_padding = 3});
  args.num_groups = c.groups;
  args.concat_u = c.concat_u, args.concat_x = c.concat_x, args.silu_u = c.silu_u;
  args.activation = c.activation, args.norm = c.norm;
  args.dropout_ratio = c.dropout, args.dropout_stream = c.stream, args.seed = 77;
  return args;
}

class QuantisedMulSweep : public testing::TestWithParam<MulCase> {};

TEST_P(QuantisedMulSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  using Args = hstu_norm_mul_args;
  const MulCase& c = GetParam();
  const Args args = args_of(memory, c);
  const bool activated = c.silu_u || c.activation != HSTU_ACTIVATION_NONE || c.norm == HSTU_NORM_SWISH;
  const Precision precision = activated ? of_activated(c.dtype, c.scaling, args.out.shape[1]) : Precision::sums;
  test::expect_correct(memory, args, {{&Args::out, steps(c.fp8, precision)}, {&Args::descale, scale(precision)}});
}

std::vector<MulCase> mul_cases() {
  std::vector<MulCase> all;
  for (const auto scaling : {kRow, kGroup}) {
    all.push_back({kBf16, kE4m3, scaling, 67, 512});  // DLRM-v3's
    for (const int64_t dim : {128, 256, 384, 1024, 1280, 4096, 8192}) all.push_back({kBf16, kE4m3, scaling, 13, dim});
    for (const int32_t u : {0, 1})
      for (const int32_t x : {0, 1})
        for (const hstu_activation activation : {HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_SIGMOID})
          all.push_back({kF16, kE5m2, scaling, 21, 256, 0, u, x, u, activation, HSTU_NORM_SWISH});
    for (const hstu_dropout_stream stream :
         {HSTU_DROPOUT_COMPAT, HSTU_DROPOUT_FAST, HSTU_DROPOUT_MASKS, HSTU_DROPOUT_ROWS})
      all.push_back({kBf16, kE4m3, scaling, 21, 512, 0, 1, 1, 0, {}, HSTU_NORM_RMS, 0.3f, stream});
    all.push_back({kF32, kE4m3, scaling, 35, 512, 0, 1, 0, 1, HSTU_ACTIVATION_SILU});
    all.push_back({kF32, kE5m2, scaling, 35, 1024, 1, 1, 1, 1});
    all.push_back({kBf16, kE4m3, scaling, 1, 512});
    all.push_back({kBf16, kE4m3, scaling, 0, 512});
    MulCase padded{kBf16, kE4m3, scaling, 40, 512};
    padded.attn.row_padding = padded.out.row_padding = 8, padded.u.row_padding = 1536;
    all.push_back(padded);
  }
  for (const int64_t dim : {4, 8, 100, 516, 1000, 5000}) all.push_back({kBf16, kE4m3, kRow, 23, dim});
  for (const int32_t silu : {0, 1}) all.push_back({kBf16, kE4m3, kGroup, 23, 512, 4, 1, 1, silu});
  return all;
}

/// Units of several groups or segments, narrow accesses, rows that are not held.
std::vector<MulCase> odd_mul_cases() {
  std::vector<MulCase> all;
  for (const auto scaling : {kRow, kGroup}) {
    for (const int64_t dim : {1, 3, 7, 33, 99, 127, 129, 257, 1001, 4099, 8196, 20001})
      all.push_back({kBf16, kE4m3, scaling, dim > 1000 ? 5 : 41, dim, 0, 1, 1, 1, HSTU_ACTIVATION_SIGMOID});
    for (const int32_t groups : {2, 3, 4, 7, 300, 1024})
      for (const int32_t both : {0, 1})
        for (const int64_t length : {1, 64, 65}) {
          all.push_back({kBf16, kE4m3, scaling, 9, groups * length, groups, both, both, length == 64});
          if (groups < 8)
            all.push_back({kF32,
                           kE5m2,
                           scaling,
                           5,
                           groups * length,
                           groups,
                           both,
                           both,
                           0,
                           {},
                           HSTU_NORM_LAYER,
                           0.5f,
                           HSTU_DROPOUT_MASKS});
        }
    for (const hstu_dropout_stream stream :
         {HSTU_DROPOUT_COMPAT, HSTU_DROPOUT_FAST, HSTU_DROPOUT_MASKS, HSTU_DROPOUT_ROWS})
      all.push_back({kF16, kE4m3, scaling, 21, 99, 0, 1, 1, 0, {}, HSTU_NORM_RMS, 0.3f, stream});
    all.push_back({kBf16, kE4m3, scaling, 7, 16384});
    all.push_back({kBf16, kE4m3, scaling, 3, 70001, 0, 0, 1});
    all.push_back({kF32, kE4m3, scaling, 2, 3 * 20000, 3});
    all.push_back({kBf16, kE4m3, scaling, 0, 99});
    for (const Layout& layout : {Layout{.row_padding = 1}, {.row_padding = 2}, {.shift = 1}, {.shift = 2}, {3, 1}})
      for (Layout MulCase::*place : {&MulCase::attn, &MulCase::u, &MulCase::out}) {
        all.push_back({kBf16, kE4m3, scaling, 21, 520});
        all.back().*place = layout;
      }
    all.push_back({kBf16, kE4m3, scaling, 21, 512});
    all.back().weights.shift = 1;
  }
  all.push_back({kBf16, kE4m3, kRow, 5, 0});  // has scales all the same
  return all;
}
INSTANTIATE_TEST_SUITE_P(Rows, QuantisedMulSweep, testing::ValuesIn(mul_cases()), kNameOf);
INSTANTIATE_TEST_SUITE_P(OddRows, QuantisedMulSweep, testing::ValuesIn(odd_mul_cases()), kNameOf);

TEST(QuantisedMul, NanTakesItsUnit) {
  HSTU_NEEDS_DEVICE();
  for (const auto scaling : {kRow, kGroup})
    for (const int64_t dim : {512, 511}) {
      HostMemory memory;
      const auto args = args_of(memory, MulCase{kBf16, kE4m3, scaling, 9, dim});
      test::fill(test::rows_of(args.attn, 4, 1), std::nan(""));
      test::expect_correct(memory, args,
                           {{&hstu_norm_mul_args::out, steps(kE4m3, Precision::sums)},
                            {&hstu_norm_mul_args::descale, scale(Precision::sums)}});
    }
}

TEST(QuantisedNorm, ConstantRowsGiveTheirBias) {
  HSTU_NEEDS_DEVICE();
  for (const auto scaling : {kRow, kGroup})
    for (const int64_t dim : {512, 515, 1001, 20000, 40001})
      for (const bool weighted : {false, true}) {
        HostMemory memory;
        auto args = args_of<hstu_layer_norm_args>(memory, {kBf16, kE4m3, scaling, 3, dim, weighted});
        test::fill(args.x, 2.4);
        if (weighted) args.bias = memory.random(kBf16, {dim});
        test::expect_correct(memory, args,
                             {{&hstu_layer_norm_args::out, steps(kE4m3, Precision::sums)},
                              {&hstu_layer_norm_args::descale, scale(Precision::sums)}});
      }
}

// What the comparisons above rest on: nothing written, and zeros, are far from every oracle.
TEST(QuantisedMul, NothingAndZerosAreNoAnswer) {
  for (const auto& all : {mul_cases(), odd_mul_cases()})
    for (const MulCase& c : all) {
      HostMemory memory;
      const auto args = args_of(memory, c);
      const test::Exact out = test::exact_result(args, &hstu_norm_mul_args::out);
      const test::Exact descale = test::exact_result(args, &hstu_norm_mul_args::descale);
      if (out.empty()) continue;
      EXPECT_FALSE(test::close(args.out, out, steps(c.fp8, Precision::special_of_few))) << name_of_case(c);
      EXPECT_FALSE(test::close(args.descale, descale, scale(Precision::special_of_few))) << name_of_case(c);
      for (const hstu_tensor& t : {args.out, args.descale}) test::fill(t, 0);
      EXPECT_FALSE(test::close(args.out, out, steps(c.fp8, Precision::special_of_few))) << name_of_case(c);
      EXPECT_FALSE(test::close(args.descale, descale, scale(Precision::special_of_few))) << name_of_case(c);
    }
}

TEST(QuantisedNorm, NothingAndZerosAreNoAnswer) {
  for (const auto& all : {cases(), odd_cases()})
    for (const Case& c : all) {
      HostMemory memory;
      auto args = args_of<hstu_rms_norm_args>(memory, c);
      const test::Exact y = test::exact_result(args, &hstu_rms_norm_args::out);
      const test::Exact descale = test::exact_result(args, &hstu_rms_norm_args::descale);
      if (y.empty()) continue;
      EXPECT_FALSE(test::close(args.out, y, steps(c.fp8, Precision::special_of_few))) << name_of_case(c);
      EXPECT_FALSE(test::close(args.descale, descale, scale(Precision::special_of_few))) << name_of_case(c);
      for (const hstu_tensor& t : {args.out, args.descale}) test::fill(t, 0);
      EXPECT_FALSE(test::close(args.out, y, steps(c.fp8, Precision::special_of_few))) << name_of_case(c);
      EXPECT_FALSE(test::close(args.descale, descale, scale(Precision::special_of_few))) << name_of_case(c);
    }
}

TEST(QuantisedNorm, SaysWhatFitsNoOutputInFp8) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = args_of<hstu_layer_norm_args>(memory, {kBf16, kE4m3, kRow, 4, 512, false});
  args.scaling = HSTU_FP8_BLOCK;
  EXPECT_EQ(test::DeviceCall(memory, Op::layer_norm, &args).status(), HSTU_ERROR_INVALID_ARGUMENT);
  args.scaling = kRow;
  args.out = memory.poison(kBf16, {4, 512});  // takes no descale
  EXPECT_EQ(test::DeviceCall(memory, Op::layer_norm, &args).status(), HSTU_ERROR_INVALID_ARGUMENT);
}

/// From 128 MB on a warp takes four rows: the same ones over and over.
template <class Args>
void expect_many_rows(hstu_fp8_scaling scaling) {
  constexpr int64_t kPeriod = 99, kRows = 1361 * kPeriod;
  HostMemory host;
  test::LargeMemory memory;
  Args args = args_of<Args>(host, {kF16, kE4m3, scaling, kPeriod, 512});
  if (scaling == kGroup) args.descale = host.poison(kF32, {kPeriod, 4});
  if constexpr (requires { args.bias; }) args.bias = host.random(kBf16, {512});
  Args large = args;
  large.x = test::repeated(memory, args.x, kRows);
  large.weight = test::repeated(memory, args.weight, 512);
  if constexpr (requires { args.bias; }) large.bias = test::repeated(memory, args.bias, 512);
  large.out = test::repeated(memory, args.out, kRows);
  large.descale = test::repeated(memory, args.descale, kRows);
  EXPECT_NE(test::choice_for(large).find(" rows_per_thread=4 "), std::string::npos) << test::choice_for(large);
  test::expect_large(memory, large, args,
                     {{&Args::out, steps(kE4m3, Precision::sums)}, {&Args::descale, scale(Precision::sums)}});
}

TEST(QuantisedNormOnDevice, OfManyRows) {
  HSTU_NEEDS_LARGE_DEVICE();
  expect_many_rows<hstu_layer_norm_args>(kRow);
  expect_many_rows<hstu_rms_norm_args>(kGroup);
}

}  // namespace
}  // namespace hstujit
