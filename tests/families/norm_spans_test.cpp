// The families that quantise norms of any row: they cover what the others leave, and what the host counts is what the
// kernels will.
#include "families/norm/norm_spans.hpp"

#include "families/families.hpp"
#include "norm/rms_norm_rope.h"
#include "norm/row_norm.h"
#include "operators/operators.hpp"
#include "tuner/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit {
namespace {

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kBf16 = HSTU_DTYPE_BF16, kE4m3 = HSTU_DTYPE_E4M3;

/// The start of a buffer that is never read; buffers lie a tebibyte apart.
void* buffer(int index, int64_t bytes = 0) {
  return reinterpret_cast<void*>((static_cast<uintptr_t>(index) << 40) + static_cast<uintptr_t>(bytes));
}

hstu_tensor descale_of(hstu_fp8_scaling scaling, int64_t rows, int64_t columns) {
  return scaling == HSTU_FP8_ROW ? hstu_vector(buffer(6), kF32, rows)
                                 : hstu_matrix(buffer(6), kF32, rows, (columns + 127) / 128);
}

hstu_layer_norm_args layer_norm_args(hstu_fp8_scaling scaling, int64_t rows, int64_t dim) {
  hstu_layer_norm_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_matrix(buffer(1), kBf16, rows, dim);
  args.weight = hstu_vector(buffer(2), kF32, dim);
  args.bias = hstu_vector(buffer(3), kF32, dim);
  args.out = hstu_matrix(buffer(4), kE4m3, rows, dim);
  args.scaling = scaling;
  args.descale = descale_of(scaling, rows, dim);
  return args;
}

hstu_rms_norm_args rms_norm_args(hstu_fp8_scaling scaling, int64_t rows, int64_t dim) {
  const hstu_layer_norm_args norm = layer_norm_args(scaling, rows, dim);
  return {sizeof(hstu_rms_norm_args), norm.x, {}, norm.out, 0, HSTU_ACTIVATION_SILU, scaling, norm.descale};
}

hstu_rms_norm_rope_args rope_args(hstu_fp8_scaling scaling, int64_t length, int64_t hidden, int64_t head_dim) {
  hstu_rms_norm_rope_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_heads(buffer(1), kBf16, 2, length, hidden);
  args.weight = hstu_vector(buffer(2), kF32, hidden);
  args.cosine = hstu_matrix(buffer(3), kF32, length, head_dim);
  args.sine = hstu_matrix(buffer(5), kF32, length, head_dim);
  args.out = hstu_heads(buffer(4), kE4m3, 2, length, hidden);
  args.scaling = scaling;
  args.descale = descale_of(scaling, 2 * length, hidden);
  return args;
}

hstu_norm_mul_args mul_args(hstu_fp8_scaling scaling, int64_t rows, int64_t dim, int32_t groups) {
  hstu_norm_mul_args args{};
  args.struct_size = sizeof args;
  args.attn = hstu_matrix(buffer(1), kBf16, rows, dim);
  args.u = hstu_matrix(buffer(2), kBf16, rows, dim);
  args.weight = hstu_vector(buffer(3), kF32, groups > 0 ? groups : dim);
  args.bias = hstu_vector(buffer(5), kF32, groups > 0 ? groups : dim);
  args.out = hstu_matrix(buffer(4), kE4m3, rows, 3 * dim);
  args.num_groups = groups;
  args.concat_u = args.concat_x = 1;
  args.scaling = scaling;
  args.descale = descale_of(scaling, rows, 3 * dim);
  return args;
}

std::vector<Problem> problems() {
  std::vector<Problem> out;
  for (const hstu_fp8_scaling scaling : {HSTU_FP8_ROW, HSTU_FP8_GROUP}) {
    for (const int64_t dim : {0, 1, 2, 7, 100, 128, 129, 1024, 1025, 4096, 8191, 16384, 16385, 65536, 1000001}) {
      hstu_layer_norm_args norm = layer_norm_args(scaling, 1000, dim);
      out.push_back(prepare(norm));
      hstu_rms_norm_args shifted = rms_norm_args(scaling, 1000, dim);
      shifted.out.data = buffer(4, 1);
      out.push_back(prepare(shifted));
    }
    for (const int32_t groups : {0, 1, 3, 1024})
      for (const int64_t length : {0, 1, 100, 512, 1025, 40000}) {
        hstu_norm_mul_args mul = mul_args(scaling, 100, length * std::max(groups, 1), groups);
        out.push_back(prepare(mul));
      }
    for (const int64_t head_dim : {2, 6, 64, 96, 192, 256, 4098})
      for (const int64_t heads : {1, 3, 8, 300}) {
        hstu_rms_norm_rope_args rope = rope_args(scaling, 100, heads * head_dim, head_dim);
        out.push_back(prepare(rope));
      }
  }
  return out;
}

const Family& last_family_of(const Problem& problem, const DeviceFacts& device) {
  return *families_for(problem, device).back();
}

TEST(NormSpans, CoverEveryRowWithAConfigurationOfAFewThatFits) {
  for (const std::string_view target : {"sm_80", "sm_86", "sm_89", "sm_90a"}) {
    const DeviceFacts device = *facts_of_target(target);
    for (const Problem& problem : problems()) {
      ASSERT_FALSE(families_for(problem, device).empty()) << text(problem);
      const Family& family = last_family_of(problem, device);
      EXPECT_TRUE(family.name.ends_with("_fp8_sm80")) << text(problem);
      std::string_view why;
      const Config standard = family.default_config(problem, device);
      EXPECT_TRUE(legal(family, problem, standard, device, &why)) << text(problem) << ": " << why;
      EXPECT_EQ(misfit(family.resources(problem, standard), device), "") << text(problem);
      EXPECT_LE(enumerate(family, problem, device).size(), 6u) << text(problem);
    }
  }
}

TEST(NormSpans, LeaveToOthersWhatIsNotQuantised) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_layer_norm_args args = layer_norm_args(HSTU_FP8_ROW, 10, 512);
  args.out.dtype = kBf16;
  args.scaling = HSTU_FP8_TENSOR;
  args.descale = {};
  EXPECT_FALSE(kLayerNormFp8Sm80.covers(prepare(args), device));
}

TEST(NormSpans, ComeBehindTheFamiliesThatHoldAlignedRows) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  for (const auto& [dim, first] : {std::pair<int64_t, const Family*>{512, &kLayerNormSm80},
                                   {510, &kLayerNormFp8Sm80},
                                   {16384, &kLayerNormSm80},
                                   {16388, &kLayerNormFp8Sm80}}) {
    hstu_layer_norm_args args = layer_norm_args(HSTU_FP8_GROUP, 10, dim);
    EXPECT_EQ(families_for(prepare(args), device).front(), first) << dim;
  }
  hstu_rms_norm_rope_args rope = rope_args(HSTU_FP8_GROUP, 10, 768, 96);
  EXPECT_EQ(families_for(prepare(rope), device).front(), &kRmsNormRopeFp8Sm80);
}

TEST(NormSpans, ShareABlockWhereAWarpTakesARow) {
  hstu_layer_norm_args args = layer_norm_args(HSTU_FP8_ROW, 1001, 999);
  const Problem problem = prepare(args);
  const DeviceFacts device = *facts_of_target("sm_90a");
  Config config;
  Launch launch;
  config[norm_spans::kThreadsPerRow] = 32;
  kLayerNormFp8Sm80.bind(&args, problem, config, device, launch);
  EXPECT_EQ(launch.grid[0], 251u);
  EXPECT_EQ(launch.block[0], 128u);
  EXPECT_EQ(launch.smem_bytes, 0u);
  config[norm_spans::kThreadsPerRow] = 256;
  kLayerNormFp8Sm80.bind(&args, problem, config, device, launch);
  EXPECT_EQ(launch.grid[0], 1001u);
  EXPECT_EQ(launch.block[0], 256u);
  EXPECT_EQ(launch.smem_bytes, 128u);  // eight warps, four words each
}

TEST(LayerNormFp8Sm80, BindsPointersStridesAndScales) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_layer_norm_args args = layer_norm_args(HSTU_FP8_GROUP, 33, 300);
  args.x.stride[0] = 777;
  args.x.stride[1] = 1;
  const Problem problem = prepare(args);
  Launch launch;
  kLayerNormFp8Sm80.bind(&args, problem, kLayerNormFp8Sm80.default_config(problem, device), device, launch);
  const auto& p = *reinterpret_cast<const hstu::RowNormParams*>(launch.params);
  EXPECT_EQ(p.x, args.x.data);
  EXPECT_EQ(p.weight, args.weight.data);
  EXPECT_EQ(p.bias, args.bias.data);
  EXPECT_EQ(p.y, args.out.data);
  EXPECT_EQ(p.rows, 33);
  EXPECT_EQ(p.x_row_stride, 777);
  EXPECT_EQ(p.y_row_stride, 300);
  EXPECT_EQ(p.descale, args.descale.data);
  EXPECT_EQ(p.descale_row_stride, 3);
  EXPECT_EQ(p.descale_column_stride, 1);
}

TEST(LayerNormFp8Sm80, BindsMoments) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_layer_norm_args args = layer_norm_args(HSTU_FP8_GROUP, 33, 300);
  args.moments = hstu_heads(buffer(9), HSTU_DTYPE_F32, 33, 1, 2);
  const Problem problem = prepare(args);
  Launch launch;
  kLayerNormFp8Sm80.bind(&args, problem, kLayerNormFp8Sm80.default_config(problem, device), device, launch);
  EXPECT_EQ(reinterpret_cast<const hstu::SavingNormParams*>(launch.params)->moments, args.moments.data);
}

TEST(RmsNormRopeFp8Sm80, BindsRowsOfAllBatches) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_rms_norm_rope_args args = rope_args(HSTU_FP8_ROW, 50, 1152, 96);
  const Problem problem = prepare(args);
  Launch launch;
  kRmsNormRopeFp8Sm80.bind(&args, problem, kRmsNormRopeFp8Sm80.default_config(problem, device), device, launch);
  const auto& p = *reinterpret_cast<const hstu::RmsNormRopeParams*>(launch.params);
  EXPECT_EQ(p.rows, 100);
  EXPECT_EQ(p.length, 50);
  EXPECT_EQ(p.descale, args.descale.data);
  EXPECT_EQ(p.descale_column_stride, 0);
  EXPECT_EQ(launch.grid[0], 100u);
  ConfigText members;
  kRmsNormRopeFp8Sm80.write_config(members, problem, kRmsNormRopeFp8Sm80.default_config(problem, device));
  for (const std::string_view expected : {"kHalf = 48", "kVector = 4", "kHeldSpans = 0", "kCentred = false"})
    EXPECT_NE(members.str().find(expected), std::string::npos) << expected;
}

TEST(NormMulFp8Sm80, KeepsTheMomentsOfItsGroups) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  Config config;
  config[norm_spans::kThreadsPerRow] = 32;
  for (const int32_t groups : {0, 1, 5}) {
    hstu_norm_mul_args args = mul_args(HSTU_FP8_ROW, 10, 500, groups);
    const Problem problem = prepare(args);
    Launch launch;
    kNormMulFp8Sm80.bind(&args, problem, config, device, launch);
    EXPECT_EQ(launch.grid[0], 3u);  // four rows a block, a warp each
    EXPECT_EQ(launch.smem_bytes, groups == 5 ? 4u * 5 * 16 : 0u);
    EXPECT_EQ(static_cast<uint32_t>(kNormMulFp8Sm80.resources(problem, config).smem_bytes), launch.smem_bytes);
    ConfigText members;
    kNormMulFp8Sm80.write_config(members, problem, config);
    for (const std::string_view expected :
         {groups == 5 ? "kDim = 100" : "kDim = 500", groups == 5 ? "kGroups = 5" : "kGroups = 1", "kHeldSpans = 0"})
      EXPECT_NE(members.str().find(expected), std::string::npos) << expected;
  }
}

TEST(NormSpans, LaunchNothingWithoutRows) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  for (const int64_t dim : {100, 5000}) {
    hstu_rms_norm_args args = rms_norm_args(HSTU_FP8_ROW, 0, dim);
    const Problem problem = prepare(args);
    Launch launch;
    kRmsNormFp8Sm80.bind(&args, problem, kRmsNormFp8Sm80.default_config(problem, device), device, launch);
    EXPECT_EQ(launch.grid[0], 0u);
  }
}

}  // namespace
}  // namespace hstujit
