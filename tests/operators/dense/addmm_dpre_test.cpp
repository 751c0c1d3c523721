// addmm_dpre: what prepare() refuses, its key, and its reference against slopes worked out by hand.
#include "operators/dense/addmm_dpre.hpp"

#include "operators/sample_args.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <cmath>
#include <limits>

namespace hstujit {
namespace {

using test::exact_result;
using test::HostMemory;
using test::kDtype;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::slot;
using test::Spoiled;

using Args = hstu_addmm_dpre_args;
namespace key = addmm_dpre;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kBf16 = HSTU_DTYPE_BF16;

Args sample() {
  auto args = sized<Args>();
  args.pre = hstu_matrix(slot(0), kBf16, 40, 96);
  args.dout = hstu_matrix(slot(1), kBf16, 40, 96);
  args.dpre = hstu_matrix(slot(2), kBf16, 40, 96);
  args.activation = HSTU_ACTIVATION_SILU;
  return args;
}

class AddmmDpreRefuses : public testing::TestWithParam<Spoiled<Args>> {};
TEST_P(AddmmDpreRefuses, Field) { test::expect_refused(sample(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, AddmmDpreRefuses,
    testing::Values(
        Spoiled<Args>{"OtherStructSize", [](Args& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Args>{"AbsentPre", [](Args& a) { a.pre = {}; }, kInvalid, "pre is absent"},
        Spoiled<Args>{"Fp8Pre", [](Args& a) { a.pre.dtype = HSTU_DTYPE_E4M3; }, kDtype, "pre.dtype = e4m3"},
        Spoiled<Args>{"OtherDout", [](Args& a) { a.dout.dtype = kF32; }, kDtype, "dout.dtype = f32"},
        Spoiled<Args>{"RowsOfDout", [](Args& a) { a.dout.shape[0] = 39; }, kShape, "dout.shape[0] = 39"},
        Spoiled<Args>{"OtherDpre", [](Args& a) { a.dpre.dtype = HSTU_DTYPE_F16; }, kDtype, "dpre.dtype = f16"},
        Spoiled<Args>{"ColumnsOfDpre", [](Args& a) { a.dpre.shape[1] = 95; }, kShape, "dpre.shape[1] = 95"},
        Spoiled<Args>{"RowsOfDpreCoincide", [](Args& a) { a.dpre.stride[0] = 0; }, kInvalid, "dpre.stride[0] = 0"},
        Spoiled<Args>{"DpreShiftedAgainstDout", [](Args& a) { a.dpre.data = slot(1, 192); }, kInvalid,
                      "dpre overlaps dout"},
        Spoiled<Args>{"DpreShiftedAgainstPre", [](Args& a) { a.dpre.data = slot(0, 192); }, kInvalid,
                      "dpre overlaps pre"},
        Spoiled<Args>{"NoActivation", [](Args& a) { a.activation = HSTU_ACTIVATION_NONE; }, kInvalid, "activation = 0"},
        Spoiled<Args>{"Sigmoid", [](Args& a) { a.activation = HSTU_ACTIVATION_SIGMOID; }, kInvalid, "activation = 2"},
        Spoiled<Args>{"FewColumns", [](Args& a) { a.activation_columns = -1; }, kInvalid, "activation_columns = -1"},
        Spoiled<Args>{"ManyColumns", [](Args& a) { a.activation_columns = 97; }, kInvalid, "activation_columns = 97"},
        Spoiled<Args>{"Determinism", [](Args& a) { test::set_code(a.determinism, 2); }, kInvalid, "determinism = 2"}),
    kNameOf);

TEST(AddmmDpre, HasWhatShapesCodeInItsKey) {
  Args args = sample();
  EXPECT_EQ(text(prepare(args)), "addmm_dpre dtype=bf16 activation=1 partial=0 flat=1 vector=8 m=64 n=128");
  EXPECT_EQ(args.activation_columns, 96);
  EXPECT_EQ(cost_of(args).bytes, 3 * 2.0 * 40 * 96);
  args.activation_columns = 30;
  const Problem partial = prepare(args);
  EXPECT_EQ(partial[key::kPartial], 1);
  EXPECT_EQ(partial[key::kFlat], 0);
  EXPECT_EQ(cost_of(args).bytes, 2.0 * 40 * (3 * 30 + 2 * 66));
  args.dpre = args.dout;
  EXPECT_NO_THROW(prepare(args));
  EXPECT_EQ(cost_of(args).bytes, 2.0 * 40 * 3 * 30) << "the others stay where they are";
  args.dpre = args.pre;
  EXPECT_NO_THROW(prepare(args));
  args = sample();
  args.dout.stride[0] = 100;
  const Problem apart = prepare(args);
  EXPECT_EQ(apart[key::kFlat], 0);
  EXPECT_EQ(apart[key::kVector], 4);
}

/// At 0 each slope is a half; far away it is 0 or 1, at infinities too.
TEST(ReferenceAddmmDpre, HasTheSlopesOfActivations) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const hstu_activation activation : {HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_GELU, HSTU_ACTIVATION_GELU_TANH}) {
    HostMemory memory;
    auto args = sized<Args>();
    args.pre = memory.poison(kF32, {2, 4});
    args.dout = memory.poison(kF32, {2, 4});
    args.dpre = memory.poison(kF32, {2, 4});
    args.activation = activation;
    const double pre[] = {0, kInfinity, -kInfinity, 1, -90, 90, 0, 1};
    store(args.pre, 0, 8, pre);
    test::fill(args.dout, 3);
    const test::Exact all = exact_result(args, &Args::dpre);
    EXPECT_NEAR(all[0], 1.5, 1e-12);
    EXPECT_EQ(all[1], 3);
    EXPECT_NEAR(all[2], 0, 1e-12);
    const double at_one = activation == HSTU_ACTIVATION_SILU   ? 0.9276705118714867
                          : activation == HSTU_ACTIVATION_GELU ? 1.0833154705876864
                                                               : 1.0829640838457826;
    EXPECT_NEAR(all[3], 3 * at_one, 1e-9);
    EXPECT_NEAR(all[4], 0, 1e-12);
    EXPECT_NEAR(all[5], 3, 1e-12);
    args.activation_columns = 3;
    const test::Exact some = exact_result(args, &Args::dpre);
    EXPECT_EQ(some[3], 3) << "not activated";
    EXPECT_EQ(some[0], all[0]);
  }
}

}  // namespace
}  // namespace hstujit
