// The normalising operators' keys, defaults and costs, and what they refuse.
#include "operators/norm/dropout.hpp"
#include "operators/norm/group_norm.hpp"
#include "operators/norm/norm_mul.hpp"
#include "operators/norm/rms_norm_rope.hpp"
#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kInvalid;
using test::kNan;
using test::kShape;
using test::kUnsupported;
using test::slot;
using test::Spoiled;

/// x, y [40, 96] bf16 and, where the operator has them, weight and bias [96] f32.
template <class Args>
Args sample() {
  auto args = sized<Args>();
  args.x = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 40, 96);
  args.out = hstu_matrix(slot(3), HSTU_DTYPE_BF16, 40, 96);
  if constexpr (requires { args.weight; }) args.weight = hstu_vector(slot(1), HSTU_DTYPE_F32, 96);
  if constexpr (requires { args.bias; }) args.bias = hstu_vector(slot(2), HSTU_DTYPE_F32, 96);
  return args;
}

using Rms = hstu_rms_norm_args;
using Swish = hstu_swish_layer_norm_args;
using Group = hstu_group_norm_args;
using Rope = hstu_rms_norm_rope_args;
using Softmax = hstu_softmax_args;
using Dropout = hstu_dropout_args;
using Mul = hstu_norm_mul_args;

Group sample_group() {
  Group args = sample<Group>();
  args.weight.shape[0] = args.bias.shape[0] = args.num_groups = 4;
  return args;
}

/// x [3, 20, 96] bf16 with heads of 24; angles f32.
Rope sample_rope() {
  auto args = sized<Rope>();
  args.x = hstu_heads(slot(0), HSTU_DTYPE_BF16, 3, 20, 96);
  args.weight = hstu_vector(slot(1), HSTU_DTYPE_BF16, 96);
  args.cosine = hstu_matrix(slot(2), HSTU_DTYPE_F32, 20, 24);
  args.sine = hstu_matrix(slot(4), HSTU_DTYPE_F32, 20, 24);
  args.out = hstu_heads(slot(3), HSTU_DTYPE_BF16, 3, 20, 96);
  return args;
}

Dropout sample_dropout() {
  Dropout args = sample<Dropout>();
  args.ratio = 0.25f;
  return args;
}

Mul sample_layer_mul() {
  Mul args = test::sample_norm_mul();
  args.num_groups = 0;
  args.weight.shape[0] = args.bias.shape[0] = 96;
  return args;
}

TEST(PrepareNorms, Keys) {
  auto rms = sample<Rms>();
  rms.activation = HSTU_ACTIVATION_SILU;
  EXPECT_EQ(
      text(prepare(rms)),
      "rms_norm dtype=bf16 weight_dtype=f32 has_weight=1 fp8=none scaling=0 dim=96 activation=1 vector=8 rows=64");
  rms.weight = {};
  EXPECT_EQ(
      text(prepare(rms)),
      "rms_norm dtype=bf16 weight_dtype=none has_weight=0 fp8=none scaling=0 dim=96 activation=1 vector=8 rows=64");
  auto swish = sample<Swish>();
  EXPECT_EQ(text(prepare(swish)),
            "swish_layer_norm dtype=bf16 weight_dtype=f32 has_weight=1 fp8=none scaling=0 dim=96 vector=8 rows=64");
  auto group = sample_group();
  EXPECT_EQ(text(prepare(group)),
            "group_norm dtype=bf16 weight_dtype=f32 has_weight=1 dim=96 groups=4 vector=8 rows=64");
  auto rope = sample_rope();
  EXPECT_EQ(text(prepare(rope)),
            "rms_norm_rope dtype=bf16 weight_dtype=bf16 angle_dtype=f32 fp8=none scaling=0 dim=96 head_dim=24 vector=4 "
            "batch=4 length=32");
  auto softmax = sample<Softmax>();
  softmax.log = 1;
  EXPECT_EQ(text(prepare(softmax)), "softmax dtype=bf16 dim=96 log=1 zero_empty=0 vector=8 rows=64");
  auto dropout = sample_dropout();
  EXPECT_EQ(text(prepare(dropout)), "dropout dtype=bf16 active=1 flat=1 words=1 vector=8 rows=64 dim=128");
}

/// y in FP8 with a scale a row.
Rope quantised_rope() {
  Rope args = sample_rope();
  args.out.dtype = HSTU_DTYPE_E4M3;
  args.scaling = HSTU_FP8_ROW;
  args.descale = hstu_vector(slot(8), HSTU_DTYPE_F32, args.x.shape[0] * args.x.shape[1]);
  return args;
}

TEST(PrepareNorms, RopeTakesScalesOfAllRows) {
  auto rope = quantised_rope();
  const Problem rows = prepare(rope);
  EXPECT_EQ(rows[rms_norm_rope::kFp8], HSTU_DTYPE_E4M3);
  EXPECT_EQ(rows[rms_norm_rope::kScaling], HSTU_FP8_ROW);
  rope = quantised_rope();
  rope.scaling = HSTU_FP8_GROUP;
  rope.descale = hstu_matrix(slot(8), HSTU_DTYPE_F32, rope.x.shape[0] * rope.x.shape[1], 1);
  EXPECT_EQ(prepare(rope)[rms_norm_rope::kScaling], HSTU_FP8_GROUP);
}

TEST(PrepareNorms, Defaults) {
  auto rms = sample<Rms>();
  prepare(rms);
  EXPECT_EQ(rms.eps, 1e-5f);
  auto rope = sample_rope();
  prepare(rope);
  EXPECT_EQ(rope.eps, 1e-6f);
  EXPECT_EQ(rope.head_dim, 24);
  auto dropout = sample_dropout();
  prepare(dropout);
  EXPECT_EQ(dropout.words_per_counter, 1);
}

TEST(PrepareNorms, HalvesOfAnglesNeedTheHeadDim) {
  auto args = sample_rope();
  args.cosine.shape[1] = args.sine.shape[1] = 12;
  args.cosine.stride[0] = args.sine.stride[0] = 12;
  args.head_dim = 24;
  EXPECT_EQ(prepare(args)[rms_norm_rope::kHeadDim], 24);
}

TEST(PrepareNorms, GroupsLimitTheAccess) {
  auto args = sample_group();
  args.weight.shape[0] = args.bias.shape[0] = args.num_groups = 24;  // groups of 4
  EXPECT_EQ(prepare(args)[group_norm::kVector], 4);
}

TEST(PrepareNorms, DropoutOfGapFreeRowsNeedsOnlyAlignedAddresses) {
  auto args = sample_dropout();
  args.x = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 40, 95);
  args.out = hstu_matrix(slot(3), HSTU_DTYPE_BF16, 40, 95);
  EXPECT_EQ(prepare(args)[dropout::kVector], 8);
  args.x.stride[0] = 96;
  EXPECT_EQ(prepare(args)[dropout::kVector], 1);
  EXPECT_EQ(prepare(args)[dropout::kFlat], 0);
}

TEST(PrepareNorms, DropoutOfRatioZeroIsACopyOfAnyKind) {
  auto args = sample_dropout();
  args.ratio = 0;
  args.words_per_counter = 4;
  const Problem problem = prepare(args);
  EXPECT_EQ(problem[dropout::kActive], 0);
  EXPECT_EQ(problem[dropout::kWords], 1);
}

TEST(PrepareNorms, NormMulKnowsItsNormAndStream) {
  auto args = sample_layer_mul();
  EXPECT_EQ(prepare(args)[norm_mul::kDropout], 0);
  args.dropout_stream = HSTU_DROPOUT_MASKS;
  EXPECT_EQ(prepare(args)[norm_mul::kDropout], 0);  // no ratio
  args.dropout_ratio = 0.5f;
  args.norm = HSTU_NORM_SWISH;
  const Problem problem = prepare(args);
  EXPECT_EQ(problem[norm_mul::kDropout], 1 + HSTU_DROPOUT_MASKS);
  EXPECT_EQ(problem[norm_mul::kNorm], HSTU_NORM_SWISH);
  args.norm = HSTU_NORM_RMS;
  args.bias = {};
  EXPECT_EQ(prepare(args)[norm_mul::kNorm], HSTU_NORM_RMS);
}

/// As sample_layer_mul(), with an out in FP8.
Mul sample_quantised_mul() {
  Mul args = sample_layer_mul();
  args.out.dtype = HSTU_DTYPE_E4M3;
  args.scaling = HSTU_FP8_ROW;
  args.descale = hstu_vector(slot(8), HSTU_DTYPE_F32, args.out.shape[0]);
  return args;
}

TEST(PrepareNorms, NormMulInFp8HasItsScalingInTheKey) {
  auto args = sample_quantised_mul();
  const Problem rows = prepare(args);
  EXPECT_EQ(rows[norm_mul::kFp8], HSTU_DTYPE_E4M3);
  EXPECT_EQ(rows[norm_mul::kScaling], HSTU_FP8_ROW);
  const double elements = static_cast<double>(args.attn.shape[0] * args.attn.shape[1]);
  EXPECT_EQ(cost_of(args).bytes, elements * (2 * 4 + 3 * 1) + 2 * 96 * 4);
  auto groups = sample_quantised_mul();
  groups.scaling = HSTU_FP8_GROUP;
  groups.descale = hstu_matrix(slot(8), HSTU_DTYPE_F32, groups.out.shape[0], 3);  // of 288 columns
  EXPECT_EQ(prepare(groups)[norm_mul::kScaling], HSTU_FP8_GROUP);
}

TEST(PrepareNorms, CostIsTheirTraffic) {
  auto rms = sample<Rms>();
  prepare(rms);
  EXPECT_EQ(cost_of(rms).bytes, 2.0 * 2 * 40 * 96 + 4 * 96);
  auto group = sample_group();
  prepare(group);
  EXPECT_EQ(cost_of(group).bytes, 2.0 * 2 * 40 * 96 + 2 * 4 * 4);
  auto rope = sample_rope();
  prepare(rope);
  EXPECT_EQ(cost_of(rope).bytes, 2.0 * 2 * 60 * 96 + 2 * 96 + 4.0 * 20 * 24);
  auto softmax = sample<Softmax>();
  prepare(softmax);
  EXPECT_EQ(cost_of(softmax).bytes, 2.0 * 2 * 40 * 96);
}

TEST(PrepareNorms, EdgeCasesAreOfTheSameProblem) {
  const auto check = [](auto args) {
    args.x.shape[0] = args.out.shape[0] = 64;  // three quarters of which are in the same bucket
    const Problem problem = prepare(args);
    Integers integers(8);
    make_edge_case(args, integers);
    EXPECT_LT(args.x.shape[0], 64);
    EXPECT_EQ(prepare(args), problem) << text(problem);
  };
  check(sample<Rms>());
  check(sample<Swish>());
  check(sample_group());
  check(sample_rope());
  check(sample<Softmax>());
  check(sample_dropout());
}

// ---- Bad input. What all of them check alike is tried on one.

template <class Args>
void refuses(Args (*make)(), std::initializer_list<Spoiled<Args>> all) {
  for (const Spoiled<Args>& spoiled : all) {
    SCOPED_TRACE(spoiled.name);
    test::expect_refused(make(), spoiled);
  }
}

TEST(NormsRefuse, BadRmsNorm) {
  refuses<Rms>(sample<Rms>,
               {{"StructSize", [](Rms& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
                {"AbsentX", [](Rms& a) { a.x = {}; }, kInvalid, "x is absent"},
                {"IntegerX", [](Rms& a) { a.x.dtype = HSTU_DTYPE_I32; }, kDtype, "x.dtype = i32"},
                {"NarrowX", [](Rms& a) { a.x.dtype = HSTU_DTYPE_E4M3; }, kDtype, "x.dtype"},
                {"OtherY", [](Rms& a) { a.out.dtype = HSTU_DTYPE_F16; }, kDtype, "out.dtype = f16"},
                {"OtherRows", [](Rms& a) { a.out.shape[0] = 39; }, kShape, "out.shape[0] = 39"},
                {"OtherDim", [](Rms& a) { a.out.shape[1] = 95; }, kShape, "out.shape[1] = 95"},
                {"Overlap", [](Rms& a) { a.out.data = slot(0, 192); }, kInvalid, "out overlaps x"},
                {"SelfOverlap", [](Rms& a) { a.out.stride[0] = 95; }, kInvalid, "out.stride[0] = 95"},
                {"ShortWeight", [](Rms& a) { a.weight.shape[0] = 95; }, kShape, "weight.shape[0] = 95"},
                {"IntegerWeight", [](Rms& a) { a.weight.dtype = HSTU_DTYPE_I64; }, kDtype, "weight.dtype = i64"},
                {"WeightUnderY", [](Rms& a) { a.weight.data = slot(3, 64); }, kInvalid, "out overlaps weight"},
                {"Eps", [](Rms& a) { a.eps = kNan; }, kInvalid, "eps = nan"},
                {"Sigmoid", [](Rms& a) { a.activation = HSTU_ACTIVATION_SIGMOID; }, kInvalid, "activation = 2"},
                {"UnknownActivation", [](Rms& a) { test::set_code(a.activation, 9); }, kInvalid, "activation = 9"},
                {"HugeDim",
                 [](Rms& a) {
                   a.x = a.out = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 1, int64_t{1} << 31);
                   a.weight = {};
                 },
                 kUnsupported, "x.shape[1] = 2147483648"}});
}

TEST(NormsRefuse, BadSwishLayerNorm) {
  refuses<Swish>(sample<Swish>, {{"StructSize", [](Swish& a) { a.struct_size = 0; }, kInvalid, "struct_size = 0"},
                                 {"BiasAlone", [](Swish& a) { a.weight = {}; }, kInvalid, "weight is absent"},
                                 {"OtherBias", [](Swish& a) { a.bias.dtype = HSTU_DTYPE_BF16; }, kDtype, "bias.dtype"},
                                 {"ShortBias", [](Swish& a) { a.bias.shape[0] = 9; }, kShape, "bias.shape[0] = 9"},
                                 {"Eps", [](Swish& a) { a.eps = -1; }, kInvalid, "eps = -1"}});
}

TEST(NormsRefuse, BadGroupNorm) {
  refuses<Group>(sample_group,
                 {{"StructSize", [](Group& a) { a.struct_size = 0; }, kInvalid, "struct_size = 0"},
                  {"NoGroups", [](Group& a) { a.num_groups = 0; }, kInvalid, "num_groups = 0"},
                  {"NegativeGroups", [](Group& a) { a.num_groups = -4; }, kInvalid, "num_groups = -4"},
                  {"GroupsThatDoNotDivide", [](Group& a) { a.num_groups = 5; }, kInvalid, "num_groups = 5"},
                  {"WeightPerColumn", [](Group& a) { a.weight.shape[0] = 96; }, kShape, "weight.shape[0] = 96"},
                  {"WeightAlone", [](Group& a) { a.bias = {}; }, kInvalid, "bias is absent"}});
}

TEST(NormsRefuse, BadRmsNormRopeInFp8) {
  refuses<Rope>(quantised_rope,
                {{"ScalesOfBatches", [](Rope& a) { a.descale.shape[0] = 3; }, kShape, "descale.shape[0] = 3"},
                 {"NoScales", [](Rope& a) { a.descale = {}; }, kInvalid, "descale is absent"},
                 {"BlockScales", [](Rope& a) { a.scaling = HSTU_FP8_BLOCK; }, kInvalid, "scaling = 3"},
                 {"ScalesOfBf16", [](Rope& a) { a.out.dtype = HSTU_DTYPE_BF16; }, kInvalid, "descale"},
                 {"InPlace", [](Rope& a) { a.out.data = a.x.data; }, kInvalid, "out overlaps x"},
                 {"ScalesInX", [](Rope& a) { a.descale.data = a.x.data; }, kInvalid, "descale overlaps x"}});
}

TEST(NormsRefuse, BadRmsNormRope) {
  refuses<Rope>(
      sample_rope,
      {{"StructSize", [](Rope& a) { a.struct_size = 0; }, kInvalid, "struct_size = 0"},
       {"MatrixX", [](Rope& a) { a.x = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 60, 96); }, kInvalid, "x.rank = 2"},
       {"AbsentWeight", [](Rope& a) { a.weight = {}; }, kInvalid, "weight is absent"},
       {"AbsentSine", [](Rope& a) { a.sine = {}; }, kInvalid, "sine is absent"},
       {"OtherSine", [](Rope& a) { a.sine.dtype = HSTU_DTYPE_BF16; }, kDtype, "sine.dtype"},
       {"ShortCosine", [](Rope& a) { a.cosine.shape[0] = 19; }, kShape, "cosine.shape[0] = 19"},
       {"NarrowSine", [](Rope& a) { a.sine.shape[1] = 11; }, kShape, "sine.shape[1] = 11"},
       {"OddHeads", [](Rope& a) { a.head_dim = 3; }, kInvalid, "head_dim = 3"},
       {"HeadsThatDoNotDivide", [](Rope& a) { a.head_dim = 36; }, kInvalid, "head_dim = 36"},
       {"NegativeHeads", [](Rope& a) { a.head_dim = -24; }, kInvalid, "head_dim = -24"},
       {"OtherBatch", [](Rope& a) { a.out.shape[0] = 2; }, kShape, "out.shape[0] = 2"},
       {"OtherLength", [](Rope& a) { a.out.shape[1] = 19; }, kShape, "out.shape[1] = 19"},
       {"AnglesUnderY", [](Rope& a) { a.cosine.data = slot(3); }, kInvalid, "out overlaps cosine"},
       {"Eps", [](Rope& a) { a.eps = -1; }, kInvalid, "eps = -1"}});
}

TEST(NormsRefuse, BadSoftmax) {
  refuses<Softmax>(sample<Softmax>,
                   {{"StructSize", [](Softmax& a) { a.struct_size = 0; }, kInvalid, "struct_size = 0"},
                    {"EmptyRows", [](Softmax& a) { a.x.shape[1] = a.out.shape[1] = 0; }, kInvalid, "x.shape[1] = 0"},
                    {"Log", [](Softmax& a) { a.log = 2; }, kInvalid, "log = 2"},
                    {"ZeroEmptyRows", [](Softmax& a) { a.zero_empty_rows = -1; }, kInvalid, "zero_empty_rows = -1"},
                    {"OtherY", [](Softmax& a) { a.out.dtype = HSTU_DTYPE_F32; }, kDtype, "out.dtype"}});
}

TEST(NormsRefuse, BadDropout) {
  refuses<Dropout>(sample_dropout,
                   {{"StructSize", [](Dropout& a) { a.struct_size = 0; }, kInvalid, "struct_size = 0"},
                    {"RatioOne", [](Dropout& a) { a.ratio = 1; }, kInvalid, "ratio = 1"},
                    {"NegativeRatio", [](Dropout& a) { a.ratio = -0.5f; }, kInvalid, "ratio = -0.5"},
                    {"NanRatio", [](Dropout& a) { a.ratio = kNan; }, kInvalid, "ratio = nan"},
                    {"TwoWords", [](Dropout& a) { a.words_per_counter = 2; }, kInvalid, "words_per_counter = 2"},
                    {"OtherDim", [](Dropout& a) { a.out.shape[1] = 95; }, kShape, "out.shape[1] = 95"}});
}

TEST(NormsRefuse, BadOptionsOfNormMul) {
  refuses<Mul>(sample_layer_mul, {{"UnknownNorm", [](Mul& a) { test::set_code(a.norm, 3); }, kInvalid, "norm = 3"},
                                  {"UnknownStream", [](Mul& a) { test::set_code(a.dropout_stream, -1); }, kInvalid,
                                   "dropout_stream = -1"},
                                  {"RatioOne", [](Mul& a) { a.dropout_ratio = 1; }, kInvalid, "dropout_ratio = 1"},
                                  {"BiasOfRms", [](Mul& a) { a.norm = HSTU_NORM_RMS; }, kInvalid, "bias is there"},
                                  {"NoBias", [](Mul& a) { a.bias = {}; }, kInvalid, "bias is absent"},
                                  {"ScalingOfF32", [](Mul& a) { a.scaling = HSTU_FP8_ROW; }, kInvalid,
                                   "out.dtype = f32: they belong to out in e4m3 or e5m2"}});
}

TEST(NormsRefuse, BadNormMulInFp8) {
  refuses<Mul>(sample_quantised_mul,
               {{"ScalesOfOtherRows", [](Mul& a) { a.descale.shape[0] = 3; }, kShape, "descale.shape[0] = 3"},
                {"NoScales", [](Mul& a) { a.descale = {}; }, kInvalid, "descale is absent"},
                {"Blocks", [](Mul& a) { a.scaling = HSTU_FP8_BLOCK; }, kInvalid, "scaling = 3"},
                {"NoScaling", [](Mul& a) { a.scaling = HSTU_FP8_TENSOR; }, kInvalid, "scaling = 0"},
                {"ScalesInU", [](Mul& a) { a.descale.data = a.u.data; }, kInvalid, "descale overlaps u"},
                {"ScalesInOut", [](Mul& a) { a.descale.data = a.out.data; }, kInvalid, "descale overlaps out"},
                {"Integers", [](Mul& a) { a.out.dtype = HSTU_DTYPE_I32; }, HSTU_ERROR_UNSUPPORTED_DTYPE, "out.dtype"}});
}

TEST(NormsRefuse, MoreGroupsThanKernelsQuantise) {
  Mul args = sample_quantised_mul();
  args.attn = hstu_matrix(slot(0), HSTU_DTYPE_F32, 4, 4096);
  args.u = hstu_matrix(slot(1), HSTU_DTYPE_F32, 4, 4096);
  args.out = hstu_matrix(slot(4), HSTU_DTYPE_E4M3, 4, 3 * 4096);
  args.descale.shape[0] = 4;
  args.weight.shape[0] = args.bias.shape[0] = args.num_groups = 2048;
  try {
    prepare(args);
    FAIL() << "2048 groups";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_UNSUPPORTED);
    EXPECT_NE(error.message().find("num_groups = 2048"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace hstujit
