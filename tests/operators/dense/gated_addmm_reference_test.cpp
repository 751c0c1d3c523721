// The gated product in the reference, against the operators that it stands for.
#include "support/gated_args.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32;
constexpr int64_t kRows = 7, kDim = 12, kColumns = 5, kParts = 3;

class GatedAddmmReference : public testing::TestWithParam<bool> {};

TEST_P(GatedAddmmReference, IsNormMulAndAddmm) {
  HostMemory memory;
  hstu_gated_addmm_args args{};
  args.struct_size = sizeof args;
  args.attn = memory.random(kF32, {kRows, kDim}, {}, 3);  // a mean that must not matter
  args.u = memory.random(kF32, {kRows, kDim});
  args.moments = test::moments_of(memory, args.attn, kParts);
  args.weight = memory.random(kF32, {kDim});
  args.bias = memory.random(kF32, {kDim});
  args.w = memory.random(kF32, {3 * kDim, kColumns});
  if (GetParam()) args.residual = memory.random(kF32, {kRows, kColumns});
  args.out = memory.poison(kF32, {kRows, kColumns});
  args.eps = 0.01f;

  hstu_norm_mul_args gate{};
  gate.struct_size = sizeof gate;
  gate.attn = args.attn;
  gate.u = args.u;
  gate.weight = args.weight;
  gate.bias = args.bias;
  gate.out = memory.poison(kF32, {kRows, 3 * kDim});
  gate.eps = static_cast<float>(args.eps);
  gate.concat_u = gate.concat_x = 1;
  prepare(gate);
  reference::run(gate);
  hstu_addmm_args project{};
  project.struct_size = sizeof project;
  project.x = gate.out;
  project.w = args.w;
  project.residual = args.residual;
  project.out = memory.poison(kF32, {kRows, kColumns});

  const test::Exact got = test::exact_result(args, &hstu_gated_addmm_args::out);
  const test::Exact expected = test::exact_result(project, &hstu_addmm_args::out);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 2e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(Residual, GatedAddmmReference, testing::Bool());

}  // namespace
}  // namespace hstujit
