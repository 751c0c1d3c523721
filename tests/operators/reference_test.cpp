// The reference beyond the goldens: forms and layouts they lack, edge cases, and values it must refuse.
#include "operators/reference.hpp"

#include "operators/operators.hpp"
#include "support/error.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace hstujit {
namespace {

using test::Exact;
using test::exact_result;
using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kBf16 = HSTU_DTYPE_BF16, kF16 = HSTU_DTYPE_F16;

/// Prepares and runs into the args' own output.
template <class Args>
void run(Args args) {
  prepare(args);
  reference::run(args);
}

// ---- addmm

struct AddmmForm {
  const char* name;
  bool transposed;
  int added;  ///< bits: 1 a bias row, 2 a residual
  hstu_activation activation;
  int64_t activation_columns;
};

double activated(hstu_activation activation, double x) {
  switch (activation) {
    case HSTU_ACTIVATION_SILU:
      return x / (1 + std::exp(-x));
    case HSTU_ACTIVATION_GELU:
      return x * std::erfc(-x / std::numbers::sqrt2) / 2;
    case HSTU_ACTIVATION_GELU_TANH:  // (1 + tanh t) / 2 = 1 / (1 + e^-2t)
      return x / (1 + std::exp(-2 * std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x)));
    default:
      return x;
  }
}

class ReferenceAddmm : public testing::TestWithParam<AddmmForm> {};

TEST_P(ReferenceAddmm, EqualsItsFormula) {
  const AddmmForm& form = GetParam();
  const int64_t m = 11, k = 7, n = 300;  // more columns than a block of the reference
  HostMemory memory;
  auto args = sized<hstu_addmm_args>();
  args.x = memory.random(kF32, {m, k}, {.row_padding = 3});
  args.w =
      form.transposed ? test::transposed(memory.random(kF32, {n, k}, {.row_padding = 2})) : memory.random(kF32, {k, n});
  if (form.added & 1) args.bias = memory.random(kF32, {n});
  if (form.added & 2) args.residual = memory.random(kF32, {m, n}, {.row_padding = 5});
  args.out = memory.poison(kF32, {m, n});
  args.activation = form.activation;
  args.activation_columns = form.activation_columns;

  const auto at = [](const hstu_tensor& t, int64_t i, int64_t j) {
    return static_cast<double>(static_cast<const float*>(t.data)[i * t.stride[0] + j * t.stride[1]]);
  };
  const Exact exact = exact_result(args, &hstu_addmm_args::out);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      if (form.added & 1) sum += static_cast<double>(static_cast<const float*>(args.bias.data)[j]);
      if (form.added & 2) sum += at(args.residual, i, j);
      for (int64_t l = 0; l < k; ++l) sum += at(args.x, i, l) * at(args.w, l, j);
      const bool active = form.activation_columns == 0 || j < form.activation_columns;
      const double expected = active ? activated(form.activation, sum) : sum;
      EXPECT_NEAR(exact[static_cast<size_t>(i * n + j)], expected, 1e-13);
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, ReferenceAddmm,
                         testing::Values(AddmmForm{"Plain", false, 0, HSTU_ACTIVATION_NONE, 0},
                                         AddmmForm{"BiasRow", false, 1, HSTU_ACTIVATION_NONE, 0},
                                         AddmmForm{"Residual", false, 2, HSTU_ACTIVATION_NONE, 0},
                                         AddmmForm{"BiasRowAndResidual", false, 3, HSTU_ACTIVATION_NONE, 0},
                                         AddmmForm{"SiluOfBoth", true, 3, HSTU_ACTIVATION_SILU, 100},
                                         AddmmForm{"Silu", false, 1, HSTU_ACTIVATION_SILU, 0},
                                         AddmmForm{"SiluOfSomeColumns", false, 2, HSTU_ACTIVATION_SILU, 257},
                                         AddmmForm{"Gelu", false, 1, HSTU_ACTIVATION_GELU, 0},
                                         AddmmForm{"GeluByTanh", false, 2, HSTU_ACTIVATION_GELU_TANH, 0},
                                         AddmmForm{"GeluOfSomeColumns", false, 0, HSTU_ACTIVATION_GELU, 33},
                                         AddmmForm{"Transposed", true, 1, HSTU_ACTIVATION_SILU, 1}),
                         [](const auto& form) { return std::string(form.param.name); });

TEST(ReferenceAddmmEdges, WithoutTermsOnlyTheBiasIsLeft) {
  HostMemory memory;
  auto args = sized<hstu_addmm_args>();
  args.x = memory.poison(kBf16, {3, 0});
  args.w = memory.poison(kBf16, {0, 2});
  args.out = memory.poison(kBf16, {3, 2});
  run(args);
  EXPECT_EQ(test::values(args.out), std::vector<double>(6, 0));
  args.bias = memory.floats({1.5f, -2});
  run(args);
  EXPECT_EQ(test::values(args.out), (std::vector<double>{1.5, -2, 1.5, -2, 1.5, -2}));
}

TEST(ReferenceAddmmEdges, ResidualMayBeTheResult) {
  HostMemory memory;
  auto args = sized<hstu_addmm_args>();
  args.x = memory.random(kF32, {20, 6});
  args.w = memory.random(kF32, {6, 9});
  args.residual = memory.random(kF32, {20, 9});
  args.out = memory.poison(kF32, {20, 9});
  run(args);
  const auto apart = test::values(args.out);
  args.out = args.residual;
  run(args);
  EXPECT_EQ(test::values(args.out), apart);
}

// ---- Norms

hstu_layer_norm_args layer_norm_args(HostMemory& memory, int64_t rows, int64_t dim) {
  auto args = sized<hstu_layer_norm_args>();
  args.x = memory.random(kBf16, {rows, dim});
  args.weight = memory.random(kF32, {dim});
  args.bias = memory.random(kF32, {dim});
  args.out = memory.poison(kBf16, {rows, dim});
  return args;
}

TEST(ReferenceLayerNorm, ConstantRowsAndSingleColumnsBecomeTheBias) {
  HostMemory memory;
  for (const int64_t dim : {1, 5}) {
    auto args = layer_norm_args(memory, 3, dim);
    test::fill(args.x, 7.25);
    const Exact exact = exact_result(args, &hstu_layer_norm_args::out);
    const auto bias = test::values(args.bias);
    for (size_t i = 0; i < exact.size(); ++i) EXPECT_EQ(exact[i], bias[i % bias.size()]);
  }
}

TEST(ReferenceLayerNorm, WithoutWeightRowsHaveMeanZeroAndVarianceOne) {
  HostMemory memory;
  auto args = layer_norm_args(memory, 4, 100);
  args.weight = args.bias = {};
  args.eps = 1e-12f;
  const Exact exact = exact_result(args, &hstu_layer_norm_args::out);
  for (size_t row = 0; row < 4; ++row) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 100; ++i) {
      sum += exact[row * 100 + i];
      squares += exact[row * 100 + i] * exact[row * 100 + i];
    }
    EXPECT_NEAR(sum, 0, 1e-11);
    EXPECT_NEAR(squares, 100, 1e-8);
  }
}

TEST(ReferenceLayerNorm, MayWorkInPlace) {
  HostMemory memory;
  auto args = layer_norm_args(memory, 6, 33);
  run(args);
  const auto apart = test::values(args.out);
  args.out = args.x;
  run(args);
  EXPECT_EQ(test::values(args.out), apart);
}

TEST(ReferenceNormMul, GroupNormIgnoresASingleConcatAndTheActivation) {
  HostMemory memory;
  auto args = sized<hstu_norm_mul_args>();
  args.attn = memory.random(kF32, {5, 12});
  args.u = memory.random(kF32, {5, 12});
  args.weight = memory.random(kF32, {3});
  args.bias = memory.random(kF32, {3});
  args.out = memory.poison(kF32, {5, 12});
  args.num_groups = 3;
  const Exact plain = exact_result(args, &hstu_norm_mul_args::out);
  args.concat_x = 1;
  args.activation = HSTU_ACTIVATION_SIGMOID;
  EXPECT_EQ(exact_result(args, &hstu_norm_mul_args::out), plain);
}

// ---- Attention

/// Sequences of these lengths and, behind them, rows that belong to none.
hstu_attention_args attention_args(HostMemory& memory, const std::vector<int64_t>& lengths, int64_t spare_rows = 0,
                                   hstu_dtype dtype = kF32) {
  const auto offsets = test::offsets_of(lengths);
  const int64_t total = offsets.back() + spare_rows;
  auto args = sized<hstu_attention_args>();
  args.q = memory.random(dtype, {total, 2, 6});
  args.k = memory.random(dtype, {total, 2, 6});
  args.v = memory.random(dtype, {total, 2, 4});
  args.out = memory.poison(dtype, {total, 2, 4});
  args.seq_offsets = memory.integers(HSTU_DTYPE_I64, offsets);
  args.max_seq_len = 16;
  return args;
}

TEST(ReferenceAttention, LeavesRowsOutsideSequencesAlone) {
  HostMemory memory;
  auto args = attention_args(memory, {0, 5, 0, 1}, 3);
  for (hstu_tensor* t : {&args.q, &args.k, &args.v}) test::fill(test::rows_of(*t, 6, 3), std::nan(""));
  const Exact exact = exact_result(args, &hstu_attention_args::out);
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_EQ(std::isnan(exact[i]), i >= 6 * 8) << i;
  run(args);
  EXPECT_TRUE(test::close(args.out, exact, test::rounded_once(kF32)));
}

TEST(ReferenceAttention, OneRowSeesItself) {
  HostMemory memory;
  const auto args = attention_args(memory, {1});
  const Exact exact = exact_result(args, &hstu_attention_args::out);
  const auto q = test::values(args.q), k = test::values(args.k), v = test::values(args.v);
  for (size_t head = 0; head < 2; ++head) {
    double s = 0;
    for (size_t d = 0; d < 6; ++d) s += q[head * 6 + d] * k[head * 6 + d];
    s *= static_cast<double>(static_cast<float>(1 / std::sqrt(6.0)));
    for (size_t d = 0; d < 4; ++d)
      EXPECT_NEAR(exact[head * 4 + d], s / (1 + std::exp(-s)) * v[head * 4 + d] / 16, 1e-15);
  }
}

TEST(ReferenceAttention, ComputesSequencesLongerThanAnnounced) {
  HostMemory memory;
  auto args = attention_args(memory, {20});
  const Exact all = exact_result(args, &hstu_attention_args::out);
  args.max_seq_len = 100;
  args.scaling_seqlen = 16;
  EXPECT_EQ(exact_result(args, &hstu_attention_args::out), all);
}

TEST(ReferenceAttention, AttnScaleReplacesTheDivisor) {
  HostMemory memory;
  auto args = attention_args(memory, {4, 3});
  const Exact divided = exact_result(args, &hstu_attention_args::out);
  args.attn_scale = memory.floats({2});
  const Exact one = exact_result(args, &hstu_attention_args::out);
  args.attn_scale = memory.floats({0, 1, 2, 3, 4, 5, 6});
  const Exact rows = exact_result(args, &hstu_attention_args::out);
  for (size_t i = 0; i < divided.size(); ++i) {
    EXPECT_DOUBLE_EQ(one[i], divided[i] * 16 * 2);
    EXPECT_DOUBLE_EQ(rows[i], divided[i] * 16 * static_cast<double>(i / 8));
  }
}

TEST(ReferenceAttention, TakesColumnsOfOneBuffer) {
  HostMemory memory;
  auto args = attention_args(memory, {7, 9}, 0, kF16);
  const Exact apart = exact_result(args, &hstu_attention_args::out);
  const hstu_tensor uvqk = memory.poison(kF16, {16, 2 * 2 * (6 + 4)});
  const auto place = [&](hstu_tensor& t, int64_t column) {
    const hstu_tensor there = test::as_heads(test::columns_of(uvqk, column, t.shape[1] * t.shape[2]), t.shape[1]);
    for (int64_t row = 0; row < 16; ++row)
      for (int64_t head = 0; head < 2; ++head) {
        std::vector<double> run(static_cast<size_t>(t.shape[2]));
        load(t, row * t.stride[0] + head * t.stride[1], t.shape[2], run.data());
        store(there, row * there.stride[0] + head * there.stride[1], t.shape[2], run.data());
      }
    t = there;
  };
  place(args.v, 8);
  place(args.q, 16);
  place(args.k, 28);
  EXPECT_EQ(exact_result(args, &hstu_attention_args::out), apart);
}

TEST(ReferenceAttention, TypesOfIntegersDoNotMatter) {
  HostMemory memory;
  auto args = attention_args(memory, {7, 9});
  args.mask.num_targets = memory.integers(HSTU_DTYPE_I32, {2, 3});
  const Exact wide = exact_result(args, &hstu_attention_args::out);
  args.seq_offsets = memory.integers(HSTU_DTYPE_I32, {0, 7, 16});
  args.mask.num_targets = memory.integers(HSTU_DTYPE_I64, {2, 3});
  EXPECT_EQ(exact_result(args, &hstu_attention_args::out), wide);
}

TEST(ReferenceAttention, TargetsDoNotSeeOneAnother) {
  HostMemory memory;
  auto args = attention_args(memory, {9});
  args.mask.num_targets = memory.integers(HSTU_DTYPE_I32, {3});
  const Exact before = exact_result(args, &hstu_attention_args::out);
  test::randomise(test::rows_of(args.k, 7, 1), memory.random_numbers());
  test::randomise(test::rows_of(args.v, 7, 1), memory.random_numbers());
  const Exact after = exact_result(args, &hstu_attention_args::out);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i] == after[i], i / 8 != 7) << i;
}

TEST(ReferenceAttention, RefusesImpossibleIntegers) {
  HostMemory memory;
  const auto refused = [&](const std::vector<int64_t>& offsets, const std::vector<int64_t>& targets, const char* text) {
    auto args = attention_args(memory, {4, 4});
    args.seq_offsets = memory.integers(HSTU_DTYPE_I64, offsets);
    if (!targets.empty()) args.mask.num_targets = memory.integers(HSTU_DTYPE_I64, targets);
    prepare(args);
    try {
      reference::run(args);
      ADD_FAILURE() << text << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), HSTU_ERROR_INVALID_ARGUMENT);
      EXPECT_NE(error.message().find(text), std::string::npos) << error.message();
    }
  };
  refused({1, 4, 8}, {}, "seq_offsets[0] = 1");
  refused({0, 5, 4}, {}, "seq_offsets[2] = 4");
  refused({0, 4, 9}, {}, "seq_offsets[2] = 9");
  refused({0, -4, 8}, {}, "seq_offsets[1] = -4");
  refused({0, 4, 8}, {1, -1}, "num_targets[1] = -1");
}

// ---- All

TEST(Reference, RoundsOnceAtTheStore) {
  HostMemory memory;
  for (const hstu_dtype dtype : {kBf16, kF16}) {
    auto args = attention_args(memory, {12, 3}, 0, dtype);
    const Exact exact = exact_result(args, &hstu_attention_args::out);
    run(args);
    const auto got = test::values(args.out);
    for (size_t i = 0; i < exact.size(); ++i)
      EXPECT_EQ(got[i], dtype == kBf16 ? Bf16::widen(Bf16::round(exact[i])) : F16::widen(F16::round(exact[i])));
  }
}

TEST(Reference, ZeroSizesDoNothing) {
  HostMemory memory;
  auto attention = attention_args(memory, {0, 0});
  EXPECT_NO_THROW(run(attention));
  attention = attention_args(memory, {});
  EXPECT_NO_THROW(run(attention));
  EXPECT_NO_THROW(run(layer_norm_args(memory, 0, 8)));
  EXPECT_NO_THROW(run(layer_norm_args(memory, 8, 0)));
}

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (const double operations : {0.0, 1e12}) {
    std::vector<std::atomic<int>> calls(1000);
    reference::parallel_for(1000, operations, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelFor, PassesExceptionsOn) {
  for (const double operations : {0.0, 1e12})
    EXPECT_THROW(reference::parallel_for(100, operations,
                                         [](int64_t i) {
                                           if (i == 40) throw std::runtime_error("forty");
                                         }),
                 std::runtime_error);
}

}  // namespace
}  // namespace hstujit
