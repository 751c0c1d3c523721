// The space of the row-norm families: for every shape it is small enough to search in full, the default is in it, and
// what the host counts is what the kernels' static_asserts will count.
#include "families/norm/row_norm.hpp"

#include "families/families.hpp"
#include "norm/dropout.h"
#include "norm/norm_mul.h"
#include "norm/rms_norm_rope.h"
#include "norm/row_norm.h"
#include "operators/operators.hpp"
#include "support/philox.hpp"
#include "tuner/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

namespace hstujit {
namespace {

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

/// The start of a buffer that is never read; buffers lie a tebibyte apart.
void* buffer(int index, int64_t bytes = 0) {
  return reinterpret_cast<void*>((static_cast<uintptr_t>(index) << 40) + static_cast<uintptr_t>(bytes));
}

hstu_layer_norm_args layer_norm_args(hstu_dtype dtype, hstu_dtype weight_dtype, int64_t rows, int64_t dim) {
  hstu_layer_norm_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_matrix(buffer(1), dtype, rows, dim);
  args.out = hstu_matrix(buffer(2), dtype, rows, dim);
  if (weight_dtype != HSTU_DTYPE_NONE) {
    args.weight = hstu_vector(buffer(3), weight_dtype, dim);
    args.bias = hstu_vector(buffer(4), weight_dtype, dim);
  }
  return args;
}

hstu_norm_mul_args norm_mul_args(hstu_dtype dtype, int64_t rows, int64_t dim, int32_t groups) {
  hstu_norm_mul_args args{};
  args.struct_size = sizeof args;
  args.attn = hstu_matrix(buffer(1), dtype, rows, dim);
  args.u = hstu_matrix(buffer(2), dtype, rows, dim);
  args.weight = hstu_vector(buffer(3), dtype, groups > 0 ? groups : dim);
  args.bias = hstu_vector(buffer(4), dtype, groups > 0 ? groups : dim);
  args.out = hstu_matrix(buffer(5), dtype, rows, 3 * dim);
  args.num_groups = groups;
  args.concat_u = args.concat_x = args.silu_u = 1;
  return args;
}

hstu_norm_mul_args quantised_mul_args(hstu_dtype dtype, int64_t rows, int64_t dim, int32_t groups,
                                      hstu_fp8_scaling scaling) {
  hstu_norm_mul_args args = norm_mul_args(dtype, rows, dim, groups);
  args.out.dtype = HSTU_DTYPE_E4M3;
  args.scaling = scaling;
  args.descale = scaling == HSTU_FP8_ROW ? hstu_vector(buffer(6), kF32, rows)
                                         : hstu_matrix(buffer(6), kF32, rows, (3 * dim + 127) / 128);
  return args;
}

const Family& family_of(const Problem& problem) { return *families_for(problem, *facts_of_target("sm_80")).front(); }

constexpr int64_t kDims[] = {1,    2,    7,    33,   64,   100,   128,   130,   512,   513,    768,
                             1000, 1024, 4096, 8192, 8200, 16384, 16385, 20001, 65536, 1000001};

hstu_rms_norm_args rms_norm_args(hstu_dtype dtype, hstu_dtype weight_dtype, int64_t rows, int64_t dim) {
  const hstu_layer_norm_args norm = layer_norm_args(dtype, weight_dtype, rows, dim);
  return {sizeof(hstu_rms_norm_args), norm.x, norm.weight, norm.out, 0, HSTU_ACTIVATION_SILU, {}, {}};
}

hstu_group_norm_args group_norm_args(hstu_dtype dtype, int64_t rows, int64_t dim, int32_t groups) {
  const hstu_layer_norm_args norm = layer_norm_args(dtype, HSTU_DTYPE_NONE, rows, dim);
  return {sizeof(hstu_group_norm_args), norm.x, {}, {}, norm.out, 0, groups};
}

hstu_softmax_args softmax_args(hstu_dtype dtype, int64_t rows, int64_t dim) {
  const hstu_layer_norm_args norm = layer_norm_args(dtype, HSTU_DTYPE_NONE, rows, dim);
  return {sizeof(hstu_softmax_args), norm.x, norm.out, 0, 0};
}

hstu_rms_norm_rope_args rope_args(hstu_dtype dtype, hstu_dtype other, int64_t rows, int64_t dim, int64_t head_dim) {
  hstu_rms_norm_rope_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_heads(buffer(1), dtype, 2, rows, dim);
  args.out = hstu_heads(buffer(2), dtype, 2, rows, dim);
  args.weight = hstu_vector(buffer(3), other, dim);
  args.cosine = hstu_matrix(buffer(4), other, rows, head_dim);
  args.sine = hstu_matrix(buffer(5), other, rows, head_dim);
  return args;
}

/// Problems of all operators over dims, element types and alignments.
std::vector<Problem> problems() {
  std::vector<Problem> out;
  for (const int64_t dim : kDims) {
    for (const hstu_dtype dtype : {kF32, kF16, kBf16}) {
      for (const hstu_dtype weight : {HSTU_DTYPE_NONE, kF32, kBf16}) {
        hstu_layer_norm_args norm = layer_norm_args(dtype, weight, 1000, dim);
        out.push_back(prepare(norm));
        hstu_layer_norm_args offset = layer_norm_args(dtype, weight, 1000, dim);
        offset.x.data = buffer(1, size_of(dtype));
        out.push_back(prepare(offset));
        hstu_rms_norm_args rms = rms_norm_args(dtype, weight, 1000, dim);
        out.push_back(prepare(rms));
      }
      for (const int32_t groups : {0, 1, 4}) {
        hstu_norm_mul_args mul = norm_mul_args(dtype, 1000, dim * std::max(groups, 1), groups);
        out.push_back(prepare(mul));
        hstu_norm_mul_args dropped = norm_mul_args(dtype, 1000, dim * std::max(groups, 1), groups);
        dropped.norm = HSTU_NORM_SWISH;
        dropped.dropout_ratio = 0.5f;
        out.push_back(prepare(dropped));
        for (const hstu_fp8_scaling scaling : {HSTU_FP8_ROW, HSTU_FP8_GROUP}) {
          hstu_norm_mul_args quantised = quantised_mul_args(dtype, 1000, dim * std::max(groups, 1), groups, scaling);
          const Problem problem = prepare(quantised);
          if (kNormMulSm80.covers(problem, *facts_of_target("sm_80"))) out.push_back(problem);
        }
        hstu_group_norm_args group = group_norm_args(dtype, 1000, dim * std::max(groups, 1), std::max(groups, 1));
        out.push_back(prepare(group));
      }
      hstu_softmax_args softmax = softmax_args(dtype, 1000, dim);
      out.push_back(prepare(softmax));
      for (const int64_t head_dim : {2, 64})
        for (const hstu_dtype other : {kF32, kBf16}) {
          hstu_rms_norm_rope_args rope = rope_args(dtype, other, 1000, (dim + 1) / 2 * head_dim, head_dim);
          out.push_back(prepare(rope));
        }
      for (const int64_t head_dim : {64, 128, 256})
        for (const hstu_fp8_scaling scaling : {HSTU_FP8_ROW, HSTU_FP8_GROUP}) {
          const int64_t hidden = (dim + 1) / 2 * head_dim;
          if (hidden > 16384) continue;  // is not held
          hstu_rms_norm_rope_args rope = rope_args(dtype, kBf16, 1000, hidden, head_dim);
          rope.out.dtype = HSTU_DTYPE_E4M3;
          rope.scaling = scaling;
          rope.descale = hstu_matrix(buffer(6), kF32, 2000, (hidden + 127) / 128);
          if (scaling == HSTU_FP8_ROW) rope.descale = hstu_vector(buffer(6), kF32, 2000);
          out.push_back(prepare(rope));
        }
    }
  }
  return out;
}

TEST(RowNorm, SpaceIsSmallAndHoldsTheDefault) {
  for (const std::string_view target : {"sm_80", "sm_86", "sm_89", "sm_90a"}) {
    const DeviceFacts device = *facts_of_target(target);
    for (const Problem& problem : problems()) {
      const Family& family = family_of(problem);
      ASSERT_TRUE(family.covers(problem, device)) << text(problem);
      std::string_view why;
      const Config standard = family.default_config(problem, device);
      EXPECT_TRUE(legal(family, problem, standard, device, &why)) << text(problem) << ": " << why;
      EXPECT_EQ(misfit(family.resources(problem, standard), device), "") << text(problem);
      const Space space = enumerate(family, problem, device);
      EXPECT_LE(space.size(), 256u) << text(problem);
      EXPECT_EQ(std::ranges::count(space.points(), standard), 1) << text(problem);
    }
  }
}

TEST(RowNorm, RowsAreCoveredOnceAndTeamsFillWarps) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  for (const Problem& problem : problems()) {
    const row_norm::Facts facts = row_norm::facts_of(problem);
    const Space space = enumerate(family_of(problem), problem, device);
    for (const Config& config : space.points()) {
      const row_norm::Shape shape = row_norm::shape_of(facts, config);
      EXPECT_GE(shape.accesses * config[row_norm::kThreadsPerRow] * facts.vector, facts.length);
      EXPECT_EQ(config[row_norm::kThreads] % 32, 0);
      if (shape.looped) {
        EXPECT_EQ(shape.rows_per_block, 1) << text(problem);
        EXPECT_EQ(config[row_norm::kWeights], row_norm::kWeightsLate) << text(problem);
      }
    }
  }
}

TEST(RowNorm, SharedMemoryIsExchangePlusSharedWeights) {
  hstu_layer_norm_args args = layer_norm_args(kBf16, kBf16, 1000, 512);
  const Problem problem = prepare(args);
  Config config;
  config[row_norm::kThreads] = 256;
  config[row_norm::kThreadsPerRow] = 32;
  config[row_norm::kRowsPerThread] = 2;
  EXPECT_EQ(row_norm::resources(problem, config).smem_bytes, 0);
  config[row_norm::kThreadsPerRow] = 64;  // eight warps exchange the shares of two rows, 16 bytes each
  EXPECT_EQ(row_norm::resources(problem, config).smem_bytes, 256);
  config[row_norm::kWeights] = row_norm::kWeightsShared;
  EXPECT_EQ(row_norm::resources(problem, config).smem_bytes, 256 + 2 * 512 * 2);
}

TEST(LayerNormSm80, BindsPointersStridesAndGrid) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_layer_norm_args args = layer_norm_args(kBf16, kF32, 1001, 512);
  args.x.stride[0] = 2048;
  args.x.stride[1] = 1;
  args.eps = 1e-6f;
  const Problem problem = prepare(args);
  Config config = kLayerNormSm80.default_config(problem, device);
  config[row_norm::kThreads] = 128;
  config[row_norm::kThreadsPerRow] = 32;
  config[row_norm::kRowsPerThread] = 2;
  Launch launch;
  kLayerNormSm80.bind(&args, problem, config, device, launch);
  EXPECT_EQ(launch.grid[0], 126u);  // eight rows a block
  EXPECT_EQ(launch.block[0], 128u);
  const auto& p = *reinterpret_cast<const hstu::RowNormParams*>(launch.params);
  EXPECT_EQ(p.x, args.x.data);
  EXPECT_EQ(p.weight, args.weight.data);
  EXPECT_EQ(p.bias, args.bias.data);
  EXPECT_EQ(p.y, args.out.data);
  EXPECT_EQ(p.rows, 1001);
  EXPECT_EQ(p.x_row_stride, 2048);
  EXPECT_EQ(p.y_row_stride, 512);
  EXPECT_EQ(p.eps, 1e-6f);
}

TEST(LayerNormSm80, BindsMoments) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  for (const bool there : {false, true}) {
    hstu_layer_norm_args args = layer_norm_args(kBf16, kBf16, 100, 512);
    if (there) args.moments = hstu_heads(buffer(5), kF32, 100, 1, 2);
    const Problem problem = prepare(args);
    const Config config = kLayerNormSm80.default_config(problem, device);
    Launch launch;
    kLayerNormSm80.bind(&args, problem, config, device, launch);
    EXPECT_EQ(reinterpret_cast<const hstu::SavingNormParams*>(launch.params)->moments, args.moments.data);
    ConfigText members;
    kLayerNormSm80.write_config(members, problem, config);
    EXPECT_EQ(members.str().find("kMoments = true") != std::string::npos, there) << members.str();
  }
}

TEST(LayerNormSm80, LaunchesNothingWithoutRows) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_layer_norm_args args = layer_norm_args(kBf16, kBf16, 0, 512);
  const Problem problem = prepare(args);
  Launch launch;
  kLayerNormSm80.bind(&args, problem, kLayerNormSm80.default_config(problem, device), device, launch);
  EXPECT_EQ(launch.grid[0], 0u);
}

TEST(LayerNormSm80, ConfigWithoutWeightsNamesSomeWeightType) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_layer_norm_args args = layer_norm_args(kF16, HSTU_DTYPE_NONE, 10, 64);
  const Problem problem = prepare(args);
  ConfigText members;
  kLayerNormSm80.write_config(members, problem, kLayerNormSm80.default_config(problem, device));
  EXPECT_NE(members.str().find("using Weight = f16;"), std::string::npos);
  EXPECT_NE(members.str().find("kHasWeight = false"), std::string::npos);
  EXPECT_NE(members.str().find("kHasBias = false"), std::string::npos);
}

TEST(RowNorm, RmsNormSharesItsWeightAlone) {
  hstu_rms_norm_args args = rms_norm_args(kBf16, kBf16, 1000, 512);
  const Problem problem = prepare(args);
  Config config;
  config[row_norm::kThreads] = 64;
  config[row_norm::kThreadsPerRow] = 32;
  config[row_norm::kRowsPerThread] = 1;
  config[row_norm::kWeights] = row_norm::kWeightsShared;
  EXPECT_EQ(row_norm::resources(problem, config).smem_bytes, 512 * 2);
}

TEST(RowNorm, RopeHoldsLongerRowsAsStored) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  for (const auto& [dtype, dim, held] :
       {std::tuple{kBf16, 32768, true}, {kBf16, 65536, false}, {kF32, 16384, true}, {kF32, 32768, false}}) {
    hstu_rms_norm_rope_args args = rope_args(dtype, dtype, 100, dim, 64);
    const Problem problem = prepare(args);
    const Config config = kRmsNormRopeSm80.default_config(problem, device);
    EXPECT_EQ(row_norm::shape_of(row_norm::facts_of(problem), config).looped, !held) << text(problem);
  }
}

TEST(RmsNormRopeSm80, BindsRowsOfAllBatches) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_rms_norm_rope_args args = rope_args(kBf16, kF32, 100, 512, 64);
  const Problem problem = prepare(args);
  const Config config = kRmsNormRopeSm80.default_config(problem, device);
  Launch launch;
  kRmsNormRopeSm80.bind(&args, problem, config, device, launch);
  const auto& p = *reinterpret_cast<const hstu::RmsNormRopeParams*>(launch.params);
  EXPECT_EQ(p.rows, 200);
  EXPECT_EQ(p.length, 100);
  EXPECT_EQ(p.x_batch_stride, 100 * 512);
  EXPECT_EQ(p.cosine_row_stride, 64);
  EXPECT_EQ(launch.grid[0],
            200u / static_cast<uint32_t>(config[row_norm::kThreads] / config[row_norm::kThreadsPerRow]));
}

TEST(RmsNormRopeSm80, QuantisesWhereScalesFitHeads) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  const auto covered = [&](hstu_fp8_scaling scaling, int64_t hidden, int64_t head_dim) {
    hstu_rms_norm_rope_args args = rope_args(kBf16, kF32, 100, hidden, head_dim);
    args.out.dtype = HSTU_DTYPE_E4M3;
    args.scaling = scaling;
    args.descale = scaling == HSTU_FP8_ROW ? hstu_vector(buffer(6), kF32, 200)
                                           : hstu_matrix(buffer(6), kF32, 200, (hidden + 127) / 128);
    return kRmsNormRopeSm80.covers(prepare(args), device);
  };
  for (const int64_t head_dim : {8, 64, 128, 256, 512})
    EXPECT_TRUE(covered(HSTU_FP8_GROUP, 1024, head_dim)) << head_dim;
  for (const int64_t head_dim : {48, 192, 384}) {
    EXPECT_FALSE(covered(HSTU_FP8_GROUP, 1152, head_dim)) << head_dim;
    EXPECT_TRUE(covered(HSTU_FP8_ROW, 1152, head_dim)) << head_dim;
  }
  EXPECT_FALSE(covered(HSTU_FP8_ROW, 1152, 4)) << "half a head is an access";
  EXPECT_FALSE(covered(HSTU_FP8_ROW, 32768, 64)) << "rows are held";
}

TEST(DropoutSm80, BindsSeedAndThreshold) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  const hstu_layer_norm_args norm = layer_norm_args(kBf16, HSTU_DTYPE_NONE, 1001, 512);
  hstu_dropout_args args{sizeof args, norm.x, norm.out, 0.5f, 0, 0x123456789abcdef};
  const Problem problem = prepare(args);
  Launch launch;
  kDropoutSm80.bind(&args, problem, {{128, 1}}, device, launch);  // 8 elements an access
  const auto& p = *reinterpret_cast<const hstu::DropoutParams*>(launch.params);
  EXPECT_EQ(p.elements, 1001 * 512);
  EXPECT_EQ(p.rate.seed_low, 0x89abcdefu);
  EXPECT_EQ(p.rate.seed_high, 0x01234567u);
  EXPECT_EQ(p.rate.threshold, dropout_threshold(0.5f));
  EXPECT_EQ(p.rate.scale, 2.0f);
  EXPECT_EQ(launch.grid[0], (1001u * 512 + 1023) / 1024);
}

TEST(NormMulSm80, GroupsBecomeRowsOfTheirOwn) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_norm_mul_args args = norm_mul_args(kBf16, 100, 512, 4);
  const Problem problem = prepare(args);
  Config config = kNormMulSm80.default_config(problem, device);
  config[row_norm::kThreads] = 128;
  config[row_norm::kThreadsPerRow] = 16;
  config[row_norm::kRowsPerThread] = 1;
  Launch launch;
  kNormMulSm80.bind(&args, problem, config, device, launch);
  EXPECT_EQ(launch.grid[0], 50u);  // 400 rows of 128, eight a block
  const auto& p = *reinterpret_cast<const hstu::NormMulParams*>(launch.params);
  EXPECT_EQ(p.rows, 100);
  EXPECT_EQ(p.attn_row_stride, 512);
  EXPECT_EQ(p.u_row_stride, 512);
  EXPECT_EQ(p.out_row_stride, 1536);

  ConfigText members;
  kNormMulSm80.write_config(members, problem, config);
  for (const std::string_view expected : {"kDim = 128", "kGroups = 4", "kGroupNorm = true", "Copy = tile::Silu",
                                          "Multiplier = tile::Silu", "kConcatU = true", "kConcatX = true"})
    EXPECT_NE(members.str().find(expected), std::string::npos) << expected;
}

TEST(NormMulSm80, QuantisesWhereATeamHasTheUnit) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  const auto covered = [&](hstu_fp8_scaling scaling, int64_t dim, int32_t groups) {
    hstu_norm_mul_args args = quantised_mul_args(kBf16, 100, dim, groups, scaling);
    return kNormMulSm80.covers(prepare(args), device);
  };
  for (const int64_t dim : {4, 100, 512, 1000, 8192}) EXPECT_TRUE(covered(HSTU_FP8_ROW, dim, 0)) << dim;
  EXPECT_FALSE(covered(HSTU_FP8_ROW, 102, 0)) << "accesses are of 4";
  EXPECT_FALSE(covered(HSTU_FP8_ROW, 16384, 0)) << "rows are held";
  EXPECT_TRUE(covered(HSTU_FP8_ROW, 512, 1));
  EXPECT_FALSE(covered(HSTU_FP8_ROW, 512, 4)) << "a scale for four groups";
  EXPECT_TRUE(covered(HSTU_FP8_GROUP, 512, 4));
  EXPECT_FALSE(covered(HSTU_FP8_GROUP, 256, 4)) << "a scale for two groups";
  EXPECT_FALSE(covered(HSTU_FP8_GROUP, 100, 0)) << "a scale for two segments";
}

TEST(NormMulSm80, BindsScales) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_norm_mul_args args = quantised_mul_args(kBf16, 100, 512, 0, HSTU_FP8_GROUP);
  const Problem problem = prepare(args);
  Config config = kNormMulSm80.default_config(problem, device);
  Launch launch;
  kNormMulSm80.bind(&args, problem, config, device, launch);
  const auto& p = *reinterpret_cast<const hstu::NormMulParams*>(launch.params);
  EXPECT_EQ(p.descale, args.descale.data);
  EXPECT_EQ(p.descale_row_stride, 12);
  EXPECT_EQ(p.descale_column_stride, 1);
  hstu_norm_mul_args rows = quantised_mul_args(kBf16, 100, 512, 0, HSTU_FP8_ROW);
  const Problem of_rows = prepare(rows);
  config[row_norm::kThreads] = config[row_norm::kThreadsPerRow] = 64;
  config[row_norm::kWeights] = row_norm::kWeightsLate;
  EXPECT_EQ(row_norm::resources(of_rows, config).smem_bytes, 2 * 16 + 2 * 4);  // moments of two warps, and greatest
}

TEST(NormMulSm80, SiluOfUActsOnTheCopyOnlyUnderLayerNorm) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  hstu_norm_mul_args args = norm_mul_args(kF32, 100, 512, 0);
  args.activation = HSTU_ACTIVATION_SIGMOID;
  const Problem problem = prepare(args);
  ConfigText members;
  kNormMulSm80.write_config(members, problem, kNormMulSm80.default_config(problem, device));
  for (const std::string_view expected :
       {"Copy = tile::Silu", "Multiplier = tile::Sigmoid", "kGroupNorm = false", "kGroups = 1"})
    EXPECT_NE(members.str().find(expected), std::string::npos) << expected;
}

}  // namespace
}  // namespace hstujit
