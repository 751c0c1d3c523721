// Layer norm and product in one in the reference, against the operators that it stands for.
#include "support/oracle.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

using test::HostMemory;

constexpr int64_t kRows = 7, kDim = 12, kColumns = 10, kFirst = 6;

struct Case {
  const char* name;
  hstu_dtype dtype;
  bool bias, parts;
  hstu_activation activation = HSTU_ACTIVATION_SILU;
};

class NormAddmmReference : public testing::TestWithParam<Case> {};

TEST_P(NormAddmmReference, IsLayerNormAndAddmm) {
  const Case& c = GetParam();
  HostMemory memory;
  hstu_norm_addmm_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {kRows, kDim}, {.row_padding = 4}, 3);  // a mean that must not matter
  args.norm_weight = memory.random(HSTU_DTYPE_F32, {kDim});
  args.norm_bias = memory.random(HSTU_DTYPE_F32, {kDim});
  args.w = memory.random(c.dtype, {kDim, kColumns});
  if (c.bias) args.bias = memory.random(HSTU_DTYPE_F32, {kColumns});
  args.out = memory.poison(c.dtype, {kRows, c.parts ? kFirst : kColumns});
  if (c.parts) args.out1 = memory.poison(c.dtype, {kRows, kColumns - kFirst});
  args.activation = c.activation;
  args.activation_columns = 5;
  args.eps = 0.01f;

  hstu_layer_norm_args norm{};
  norm.struct_size = sizeof norm;
  norm.x = args.x;
  norm.weight = args.norm_weight;
  norm.bias = args.norm_bias;
  norm.out = memory.poison(c.dtype, {kRows, kDim});
  norm.eps = args.eps;
  prepare(norm);
  reference::run(norm);
  hstu_addmm_args project{};
  project.struct_size = sizeof project;
  project.x = norm.out;
  project.w = args.w;
  project.bias = args.bias;
  project.out = args.out;
  project.out1 = args.out1;
  project.activation = args.activation;
  project.activation_columns = args.activation_columns;

  EXPECT_EQ(test::exact_result(args, &hstu_norm_addmm_args::out), test::exact_result(project, &hstu_addmm_args::out));
  if (c.parts) {
    EXPECT_EQ(test::exact_result(args, &hstu_norm_addmm_args::out1),
              test::exact_result(project, &hstu_addmm_args::out1));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, NormAddmmReference,
                         testing::Values(Case{"F32", HSTU_DTYPE_F32, true, false},
                                         Case{"Bf16", HSTU_DTYPE_BF16, true, false},
                                         Case{"Parts", HSTU_DTYPE_F16, true, true},
                                         Case{"Plain", HSTU_DTYPE_BF16, false, false, HSTU_ACTIVATION_NONE}),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace hstujit
