// Configurations beyond the default: an even spread over the legal space of every family, each compared with the oracle
// on problems with all features. $HSTUJIT_TEST_CANDIDATES sets how many a problem (default 24; 0: all of them).
#include "support/attention_cases.hpp"
#include "support/device_call.hpp"
#include "support/error.hpp"
#include "support/gated_args.hpp"
#include "support/norm_gradients.hpp"
#include "tuner/space.hpp"

#include <atomic>
#include <cstdlib>
#include <thread>

namespace hstujit {
namespace {

using test::HostMemory;

constexpr hstu_dtype kBf16 = HSTU_DTYPE_BF16;

size_t wanted() {
  const char* const text = std::getenv("HSTUJIT_TEST_CANDIDATES");
  return text ? static_cast<size_t>(std::atoll(text)) : 24;
}

/// The default and points evenly spread behind it.
std::vector<Config> spread(const Space& space) {
  const size_t count = wanted() == 0 ? space.size() : std::min(space.size(), wanted());
  std::vector<Config> out;
  for (size_t i = 0; i < count; ++i) out.push_back(space.points()[i * space.size() / count]);
  return out;
}

struct Candidate {
  const Family* family;
  Config config;
  std::shared_ptr<const CompiledKernel> kernel;
  std::string error;
};

std::vector<Candidate> candidates(const Problem& problem, const DeviceFacts& device) {
  std::vector<Candidate> out;
  for (const Family* family : families_for(problem, device))
    for (const Config& config : spread(enumerate(*family, problem, device)))
      out.push_back({family, config, nullptr, {}});
  return out;
}

void compile_all(std::vector<Candidate>& all, const Problem& problem, const DeviceFacts& device) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < all.size();) try {
        all[i].kernel = test::compiled(*all[i].family, problem, all[i].config, device);
      } catch (const Error& error) { all[i].error = error.message(); }
  };
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) threads.emplace_back(work);
}

/// Whether the device is the whole GPU. As if it were older it has some of its own candidates, the very same kernels.
bool whole(const DeviceFacts& device) {
  return !test::gpu() || device.compute_capability == test::gpu()->facts.compute_capability;
}

template <class Args>
void expect_all_correct(HostMemory& memory, const Args& args, const std::vector<test::Expected<Args>>& expected) {
  if (test::test_device()->cpu) GTEST_SKIP() << "the reference has no configurations";
  const DeviceFacts& device = test::test_device()->facts();
  if (!whole(device)) GTEST_SKIP() << "among the candidates of the GPU as it is";
  Args prepared = args;
  const Problem problem = prepare(prepared);
  std::vector<Candidate> all = candidates(problem, device);
  ASSERT_FALSE(all.empty()) << text(problem);
  compile_all(all, problem, device);
  for (const Candidate& candidate : all)
    ASSERT_TRUE(candidate.kernel) << candidate.family->name << " " << text(*candidate.family, candidate.config) << ": "
                                  << candidate.error;
  if (test::test_device()->compile_only) GTEST_SKIP() << "compiled, not run";
  const std::vector<test::Exact> exact = test::exact_results(args, expected);
  for (const Candidate& candidate : all) {
    SCOPED_TRACE(std::string(candidate.family->name) + " " + text(*candidate.family, candidate.config));
    const auto kernel =
        test::loaded(candidate.kernel, candidate.family->resources(problem, candidate.config).smem_bytes);
    test::DeviceCall call(memory, op_of<Args>(), &args,
                          test::launcher_of<Args>(*candidate.family, candidate.config, kernel, device));
    test::expect_correct(call, args, expected, exact);
  }
}

/// Of outputs of one type.
template <class Args>
void expect_all_correct(HostMemory& memory, const Args& args, std::initializer_list<hstu_tensor Args::*> outputs,
                        const test::Tolerance& tolerance) {
  std::vector<test::Expected<Args>> expected;
  for (const auto output : outputs) expected.push_back({output, tolerance});
  expect_all_correct(memory, args, expected);
}

/// A value between two of FP8's may go to either where it is as near to their middle as f32 is exact; scales are exact
/// to a few roundings.
template <class Args>
void expect_all_correct_in_fp8(HostMemory& memory, const Args& args, hstu_tensor Args::*output) {
  test::Tolerance steps = test::rounded_to_fp8((args.*output).dtype);
  steps.ulps_of_row = 400;
  expect_all_correct<Args>(memory, args, {{output, steps}, {&Args::descale, {4e-6, 100}}});
}

class AttentionCandidates : public testing::TestWithParam<test::AttentionCase> {};

TEST_P(AttentionCandidates, AreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = test::attention_args(memory, GetParam());
  expect_all_correct(memory, args, {&hstu_attention_args::out}, test::attention_tolerance(GetParam().dtype));
}

std::vector<test::AttentionCase> attention_problems() {
  // Longer than three of the largest tiles; context and window cross tile edges.
  const std::vector<int64_t> lengths{700, 0, 129, 1, 260, 64, 35};
  std::vector<test::AttentionCase> cases;
  for (const int64_t dim : {32, 64, 128, 256}) {
    cases.push_back({.dim_qk = dim, .dim_v = dim, .lengths = lengths});
    cases.push_back({.dim_qk = dim,
                     .dim_v = dim,
                     .lengths = lengths,
                     .contextual = 33,
                     .max_attn_len = 65,
                     .min_full = 20,
                     .targets = test::Targets::many,
                     .scale = test::Scale::rows});
  }
  cases.push_back({.dtype = HSTU_DTYPE_F16,
                   .dim_qk = 100,
                   .dim_v = 37,
                   .lengths = lengths,
                   .contextual = 130,
                   .max_attn_len = 200,
                   .targets = test::Targets::some});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Problems, AttentionCandidates, testing::ValuesIn(attention_problems()),
                         [](const auto& c) { return test::name_of_case(c.param); });

hstu_addmm_args addmm_args(HostMemory& memory, int64_t m, int64_t k, int64_t n) {
  hstu_addmm_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(kBf16, {m, k});
  args.w = memory.random(kBf16, {k, n}, {}, 0, 1 / std::sqrt(static_cast<double>(k)));
  args.out = memory.poison(kBf16, {m, n});
  return args;
}

TEST(AddmmCandidates, AreAllCorrectWithBiasRowAndPartialActivation) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = addmm_args(memory, 777, 264, 520);
  args.bias = memory.random(HSTU_DTYPE_F32, {520});
  args.activation = HSTU_ACTIVATION_SILU;
  args.activation_columns = 130;
  expect_all_correct(memory, args, {&hstu_addmm_args::out}, test::rounded_once(kBf16));
}

TEST(AddmmCandidates, AreAllCorrectWithResidualAndOddSizes) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = addmm_args(memory, 333, 131, 259);
  args.residual = memory.random(kBf16, {333, 259});
  expect_all_correct(memory, args, {&hstu_addmm_args::out}, test::rounded_once(kBf16));
}

TEST(AddmmCandidates, AreAllCorrectWithBiasRowAndResidual) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t m : {40, 777}) {
    HostMemory memory;
    auto args = addmm_args(memory, m, 264, 520);
    args.bias = memory.random(HSTU_DTYPE_F32, {520});
    args.residual = memory.random(kBf16, {m, 520});
    args.activation = HSTU_ACTIVATION_SILU;
    args.activation_columns = 130;
    expect_all_correct(memory, args, {&hstu_addmm_args::out}, test::rounded_once(kBf16));
  }
}

TEST(AddmmCandidates, AreAllCorrectWithATransposedWeight) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = addmm_args(memory, 300, 512, 256);
  args.w = test::transposed(memory.random(kBf16, {256, 512}, {}, 0, 0.05));
  expect_all_correct(memory, args, {&hstu_addmm_args::out}, test::rounded_once(kBf16));
}

// 192 columns make no whole number of the larger tiles, whose boxes hang over the last part.
TEST(AddmmCandidates, AreAllCorrectWithResultsInTwoParts) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = addmm_args(memory, 300, 256, 128);
  args.w = memory.random(kBf16, {256, 192}, {}, 0, 1.0 / 16);
  args.out1 = memory.poison(kBf16, {300, 64});
  expect_all_correct(memory, args, {&hstu_addmm_args::out, &hstu_addmm_args::out1}, test::rounded_once(kBf16));
}

// Statistics are as if each of four parts had mean 0 and variance 1.
template <class Args>
Args gated_args(HostMemory& memory, int64_t rows, int64_t dim) {
  Args args{};
  args.struct_size = sizeof args;
  args.u = memory.random(kBf16, {rows, dim});
  args.attn = memory.random(kBf16, {rows, dim});
  args.moments = memory.poison(HSTU_DTYPE_F32, {rows, 4, 2});
  auto* const moments = static_cast<float*>(args.moments.data);
  for (int64_t i = 0; i < rows * 4; ++i) moments[2 * i] = 0, moments[2 * i + 1] = static_cast<float>(dim) / 4;
  test::set_norm(memory, kBf16, args);
  return args;
}

enum class LayoutOfW { plain, transposed };
class GatedAddmmCandidates : public testing::TestWithParam<LayoutOfW> {};
class NormAddmmCandidates : public testing::TestWithParam<LayoutOfW> {};
class GatedFp8GemmCandidates : public testing::TestWithParam<bool> {};

hstu_tensor weight(HostMemory& memory, LayoutOfW layout, int64_t rows, int64_t columns, double deviation) {
  if (layout == LayoutOfW::plain) return memory.random(kBf16, {rows, columns}, {}, 0, deviation);
  return test::transposed(memory.random(kBf16, {columns, rows}, {}, 0, deviation));
}

/// What is multiplied is rounded as the oracle has it, but from f32: now and then to a neighbour.
constexpr test::Tolerance kOfRoundedRows{4e-3, 0.35, 0.5};

// More tiles than multiprocessors, of either width.
TEST_P(GatedAddmmCandidates, AreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  constexpr int64_t kRows = 9001, kDim = 128, kColumns = 512;
  auto args = gated_args<hstu_gated_addmm_args>(memory, kRows, kDim);
  args.w = weight(memory, GetParam(), 3 * kDim, kColumns, 0.05);
  args.out = memory.random(kBf16, {kRows, kColumns});
  args.residual = args.out;
  if (!test::device_takes(args)) GTEST_SKIP() << "not on this device";
  expect_all_correct(memory, args, {&hstu_gated_addmm_args::out}, kOfRoundedRows);
}

// More rows than multiprocessors take at a time, in parts whose boxes hang over the tiles.
TEST_P(NormAddmmCandidates, AreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  hstu_norm_addmm_args args{};
  args.struct_size = sizeof args;
  constexpr int64_t kRows = 20001, kDim = 256, kFirst = 64, kColumns = 320;
  args.x = memory.random(kBf16, {kRows, kDim}, {}, 1);
  args.norm_weight = memory.random(kBf16, {kDim}, {}, 1, 0.3);
  args.norm_bias = memory.random(kBf16, {kDim}, {}, 0, 0.3);
  args.w = weight(memory, GetParam(), kDim, kColumns, 0.06);
  args.bias = memory.random(kBf16, {kColumns});
  args.out = memory.poison(kBf16, {kRows, kFirst});
  args.out1 = memory.poison(kBf16, {kRows, kColumns - kFirst});
  args.activation = HSTU_ACTIVATION_SILU;
  args.activation_columns = kFirst;
  if (!test::device_takes(args)) GTEST_SKIP() << "not on this device";
  expect_all_correct(memory, args, {&hstu_norm_addmm_args::out, &hstu_norm_addmm_args::out1}, kOfRoundedRows);
}

const auto kNameOfLayout = [](const auto& info) {
  return info.param == LayoutOfW::plain ? "OfAPlainWeight" : "OfATransposedWeight";
};
constexpr auto kLayoutsOfW = {LayoutOfW::plain, LayoutOfW::transposed};
INSTANTIATE_TEST_SUITE_P(Layouts, GatedAddmmCandidates, testing::ValuesIn(kLayoutsOfW), kNameOfLayout);
INSTANTIATE_TEST_SUITE_P(Layouts, NormAddmmCandidates, testing::ValuesIn(kLayoutsOfW), kNameOfLayout);

// As of the gated product, with and without the residual, whose place slices of 128 k need.
TEST_P(GatedFp8GemmCandidates, AreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  constexpr int64_t kRows = 9001, kDim = 512, kColumns = 512;
  auto args = gated_args<hstu_gated_fp8_gemm_args>(memory, kRows, kDim);
  args.w = memory.random(HSTU_DTYPE_E4M3, {kColumns, 3 * kDim});
  args.w_descale = memory.random(HSTU_DTYPE_F32, {kColumns}, {}, 0.03, 0.003);
  args.out = memory.random(kBf16, {kRows, kColumns});
  if (GetParam()) args.residual = args.out;
  if (!test::device_takes(args)) GTEST_SKIP() << "not on this device";
  expect_all_correct(memory, args, {&hstu_gated_fp8_gemm_args::out}, {5e-3, 1.2, 0.5});
}
INSTANTIATE_TEST_SUITE_P(Residual, GatedFp8GemmCandidates, testing::Bool(),
                         [](const auto& c) { return c.param ? "Added" : "Absent"; });

struct Fp8Way {
  const char* name;
  hstu_fp8_scaling a, b;
  hstu_fp8_accumulation accumulation;
};
constexpr Fp8Way kFp8Ways[] = {{"OfRows", HSTU_FP8_ROW, HSTU_FP8_ROW, HSTU_FP8_ACCUMULATE_128},
                               {"OfRowsWithFastSums", HSTU_FP8_ROW, HSTU_FP8_ROW, HSTU_FP8_ACCUMULATE_FAST},
                               {"OfGroupsAndBlocks", HSTU_FP8_GROUP, HSTU_FP8_BLOCK, HSTU_FP8_ACCUMULATE_128}};
void PrintTo(const Fp8Way& way, std::ostream* out) { *out << way.name; }
class Fp8GemmCandidates : public testing::TestWithParam<Fp8Way> {};

// m: rows enough for every schedule. Without out, which is n columns.
hstu_fp8_gemm_args fp8_gemm_args(HostMemory& memory, const Fp8Way& way, int64_t k, int64_t n, int64_t m = 8460) {
  hstu_fp8_gemm_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(HSTU_DTYPE_E4M3, {m, k});
  args.w = memory.random(HSTU_DTYPE_E4M3, {n, k}, {}, 0, 0.05);
  const auto scales = [&](hstu_fp8_scaling scaling, int64_t rows) {
    if (scaling == HSTU_FP8_ROW) return memory.random(HSTU_DTYPE_F32, {rows}, {}, 1, 0.25);
    return memory.random(HSTU_DTYPE_F32, {scaling == HSTU_FP8_BLOCK ? (rows + 127) / 128 : rows, (k + 127) / 128}, {},
                         1, 0.25);
  };
  args.x_descale = scales(way.a, m);
  args.w_descale = scales(way.b, n);
  args.x_scaling = way.a;
  args.w_scaling = way.b;
  args.accumulation = way.accumulation;
  return args;
}

/// Sums are wrong by what fp8.h says of them, of which six deviations.
test::Tolerance of_sums(const hstu_fp8_gemm_args& args) {
  const bool fast = args.accumulation == HSTU_FP8_ACCUMULATE_FAST;
  const double sums = fast ? 3.3e-4 * std::sqrt(static_cast<double>(args.x.shape[1]) / 512) : 1.2e-4;
  test::Tolerance tolerance = test::rounded_once(kBf16);
  tolerance.ulps_of_row += 6 * sums / test::ulp(kBf16);
  return tolerance;
}

TEST_P(Fp8GemmCandidates, AreAllCorrectWithABiasRow) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = fp8_gemm_args(memory, GetParam(), 384, 504);
  args.bias = memory.random(HSTU_DTYPE_F32, {504});
  args.out = memory.poison(kBf16, {8460, 504});
  expect_all_correct(memory, args, {&hstu_fp8_gemm_args::out}, of_sums(args));
}

TEST_P(Fp8GemmCandidates, AreAllCorrectWhereMostWarpgroupsHaveOneTileOrNone) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = fp8_gemm_args(memory, GetParam(), 512, 504, 4300);
  args.out = memory.poison(kBf16, {4300, 504});
  expect_all_correct(memory, args, {&hstu_fp8_gemm_args::out}, of_sums(args));
}

TEST_P(Fp8GemmCandidates, AreAllCorrectWithResidualAndPartialActivation) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = fp8_gemm_args(memory, GetParam(), 512, 328);
  args.residual = memory.random(kBf16, {8460, 328});
  args.out = memory.poison(kBf16, {8460, 328});
  args.activation = HSTU_ACTIVATION_SILU;
  args.activation_columns = 130;
  expect_all_correct(memory, args, {&hstu_fp8_gemm_args::out}, of_sums(args));
}

TEST_P(Fp8GemmCandidates, AreAllCorrectWithABiasRowAndAResidual) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = fp8_gemm_args(memory, GetParam(), 384, 504);
  args.bias = memory.random(kBf16, {504});
  args.residual = memory.random(kBf16, {8460, 504});
  args.out = memory.poison(kBf16, {8460, 504});
  expect_all_correct(memory, args, {&hstu_fp8_gemm_args::out}, of_sums(args));
}

TEST_P(Fp8GemmCandidates, AreAllCorrectWithResultsInTwoParts) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = fp8_gemm_args(memory, GetParam(), 256, 320);
  args.bias = memory.random(kBf16, {320});
  args.out = memory.poison(kBf16, {8460, 64});
  args.out1 = memory.poison(kBf16, {8460, 256});
  args.activation = HSTU_ACTIVATION_SILU;
  args.activation_columns = 64;
  expect_all_correct(memory, args, {&hstu_fp8_gemm_args::out, &hstu_fp8_gemm_args::out1}, of_sums(args));
}

INSTANTIATE_TEST_SUITE_P(Scales, Fp8GemmCandidates, testing::ValuesIn(kFp8Ways),
                         [](const auto& c) { return c.param.name; });

// Times near and far from each other in one sequence, rows and columns that are no whole tiles.
TEST(RelBiasCandidates, AreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_dtype dtype : {kBf16, HSTU_DTYPE_F32}) {
    HostMemory memory;
    constexpr int64_t kBatch = 2, kHeads = 2, kPositions = 552;
    std::vector<int64_t> times;
    for (int64_t i = 0, time = 0; i < kBatch * kPositions; ++i) {
      time += static_cast<int64_t>(memory.random_numbers().below(i % 300 == 299 ? uint64_t{1} << 34 : 90'000));
      times.push_back(time);
    }
    hstu_rel_bias_args args{};
    args.struct_size = sizeof args;
    args.timestamps = memory.integers(HSTU_DTYPE_I64, times);
    args.timestamps.rank = 2;
    args.timestamps.shape[0] = kBatch, args.timestamps.shape[1] = kPositions;
    args.timestamps.stride[0] = kPositions, args.timestamps.stride[1] = 1;
    args.position_weights = memory.random(HSTU_DTYPE_F32, {kHeads, 2 * kPositions - 1});
    args.time_weights = memory.random(HSTU_DTYPE_F32, {kHeads, 129});
    args.rab = memory.poison(dtype, {kBatch, kHeads, kPositions, kPositions});
    expect_all_correct(memory, args, {&hstu_rel_bias_args::rab}, test::rounded_sum(dtype));
  }
}

class RowNormCandidates : public testing::TestWithParam<int64_t> {};

TEST_P(RowNormCandidates, OfLayerNormAreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  hstu_layer_norm_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(kBf16, {1003, GetParam()});
  args.out = memory.poison(kBf16, {1003, GetParam()});
  args.weight = memory.random(HSTU_DTYPE_F32, {GetParam()});
  args.bias = memory.random(HSTU_DTYPE_F32, {GetParam()});
  expect_all_correct(memory, args, {&hstu_layer_norm_args::out}, test::rounded_once(kBf16));
}

TEST_P(RowNormCandidates, OfLayerNormWithMomentsAreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_dtype dtype : {kBf16, HSTU_DTYPE_F32}) {
    HostMemory memory;
    hstu_layer_norm_args args{};
    args.struct_size = sizeof args;
    args.x = memory.random(dtype, {1003, GetParam()}, {}, 3);
    args.out = memory.poison(dtype, {1003, GetParam()});
    args.moments = memory.poison(HSTU_DTYPE_F32, {1003, 1, 2});
    expect_all_correct<hstu_layer_norm_args>(
        memory, args, {{&hstu_layer_norm_args::out, test::rounded_once(dtype)}, test::expected_moments(args)});
  }
}

TEST_P(RowNormCandidates, OfSwishLayerNormAreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_dtype weight : {kBf16, HSTU_DTYPE_F32}) {
    HostMemory memory;
    hstu_swish_layer_norm_args args{};
    args.struct_size = sizeof args;
    args.x = memory.random(kBf16, {1003, GetParam()});
    args.out = memory.poison(kBf16, {1003, GetParam()});
    args.weight = memory.random(weight, {GetParam()});
    args.bias = memory.random(weight, {GetParam()});
    expect_all_correct(memory, args, {&hstu_swish_layer_norm_args::out}, test::rounded_once(kBf16));
  }
}

/// Of an FP8 result, by rows or by 128 columns.
hstu_tensor room_for_scales(HostMemory& memory, hstu_fp8_scaling scaling, int64_t rows, int64_t columns) {
  if (scaling == HSTU_FP8_ROW) return memory.poison(HSTU_DTYPE_F32, {rows});
  return memory.poison(HSTU_DTYPE_F32, {rows, (columns + 127) / 128});
}

TEST_P(RowNormCandidates, OfLayerNormToFp8AreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_fp8_scaling scaling : {HSTU_FP8_ROW, HSTU_FP8_GROUP}) {
    HostMemory memory;
    hstu_layer_norm_args args{};
    args.struct_size = sizeof args;
    args.x = memory.random(kBf16, {1003, GetParam()});
    args.out = memory.poison(HSTU_DTYPE_E4M3, {1003, GetParam()});
    const hstu_dtype weight = scaling == HSTU_FP8_ROW ? kBf16 : HSTU_DTYPE_F32;
    args.weight = memory.random(weight, {GetParam()});
    args.bias = memory.random(weight, {GetParam()});
    args.scaling = scaling;
    args.descale = room_for_scales(memory, scaling, 1003, GetParam());
    expect_all_correct_in_fp8(memory, args, &hstu_layer_norm_args::out);
  }
}

TEST_P(RowNormCandidates, OfNormMulAreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  for (const int32_t groups : {0, 4}) {
    HostMemory memory;
    hstu_norm_mul_args args{};
    args.struct_size = sizeof args;
    args.attn = memory.random(kBf16, {501, GetParam()});
    args.u = memory.random(kBf16, {501, GetParam()});
    args.weight = memory.random(kBf16, {groups > 0 ? groups : GetParam()});
    args.bias = memory.random(kBf16, {groups > 0 ? groups : GetParam()});
    args.out = memory.poison(kBf16, {501, 3 * GetParam()});
    args.concat_u = args.concat_x = args.silu_u = 1;
    args.num_groups = groups;
    expect_all_correct(memory, args, {&hstu_norm_mul_args::out}, test::rounded_once(kBf16));
  }
}

TEST_P(RowNormCandidates, OfNormMulToFp8AreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_fp8_scaling scaling : {HSTU_FP8_ROW, HSTU_FP8_GROUP})
    for (const int32_t groups : {0, 4}) {
      HostMemory memory;
      hstu_norm_mul_args args{};
      args.struct_size = sizeof args;
      args.attn = memory.random(kBf16, {501, GetParam()});
      args.u = memory.random(kBf16, {501, GetParam()});
      args.weight = memory.random(kBf16, {groups > 0 ? groups : GetParam()});
      args.bias = memory.random(kBf16, {groups > 0 ? groups : GetParam()});
      args.out = memory.poison(HSTU_DTYPE_E4M3, {501, 3 * GetParam()});
      args.scaling = scaling;
      args.descale = room_for_scales(memory, scaling, 501, 3 * GetParam());
      args.concat_u = args.concat_x = 1;
      args.num_groups = groups;
      expect_all_correct_in_fp8(memory, args, &hstu_norm_mul_args::out);
    }
}

TEST_P(RowNormCandidates, OfTurnedRowsToFp8AreAllCorrect) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_fp8_scaling scaling : {HSTU_FP8_ROW, HSTU_FP8_GROUP}) {
    const int64_t head_dim = GetParam() % 64 == 0 ? 64 : 4;
    HostMemory memory;
    hstu_rms_norm_rope_args args{};
    args.struct_size = sizeof args;
    args.x = memory.random(kBf16, {3, 67, GetParam()});
    args.weight = memory.random(kBf16, {GetParam()});
    args.head_dim = head_dim;
    args.cosine = memory.random(kBf16, {67, head_dim});
    args.sine = memory.random(kBf16, {67, head_dim});
    args.out = memory.poison(HSTU_DTYPE_E4M3, {3, 67, GetParam()});
    args.scaling = scaling;
    args.descale = room_for_scales(memory, scaling, 201, GetParam());
    expect_all_correct_in_fp8(memory, args, &hstu_rms_norm_rope_args::out);
  }
}

// In the last of several accesses to a row of 416 half of a warp has a part.
INSTANTIATE_TEST_SUITE_P(Dims, RowNormCandidates, testing::Values(52, 256, 416, 512, 1024, 6000));

}  // namespace
}  // namespace hstujit
