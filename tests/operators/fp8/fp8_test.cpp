// What prepare() makes of FP8 operators: keys, defaults, and everything it refuses.
#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kInfinity;
using test::kInvalid;
using test::kNameOf;
using test::kNan;
using test::kShape;
using test::slot;
using test::Spoiled;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kBf16 = HSTU_DTYPE_BF16, kE4m3 = HSTU_DTYPE_E4M3;

/// x, q [300, 520], groups.
hstu_quantize_fp8_args sample_quantize() {
  auto args = sized<hstu_quantize_fp8_args>();
  args.x = hstu_matrix(slot(0), kBf16, 300, 520);
  args.q = hstu_matrix(slot(1), kE4m3, 300, 520);
  args.descale = hstu_matrix(slot(2), kF32, 300, 5);
  args.scaling = HSTU_FP8_GROUP;
  return args;
}

hstu_quantize_fp8_args sample_tensor() {
  auto args = sample_quantize();
  args.scaling = HSTU_FP8_TENSOR;
  args.descale = hstu_vector(slot(2), kF32, 1);
  args.amax = hstu_vector(slot(3), kF32, 256);
  return args;
}

hstu_dequantize_fp8_args sample_dequantize() {
  auto args = sized<hstu_dequantize_fp8_args>();
  args.q = hstu_matrix(slot(1), HSTU_DTYPE_E5M2, 300, 520);
  args.descale = hstu_matrix(slot(2), kF32, 3, 5);
  args.x = hstu_matrix(slot(0), kF32, 300, 520);
  args.scaling = HSTU_FP8_BLOCK;
  return args;
}

hstu_fp8_amax_args sample_amax() {
  auto args = sized<hstu_fp8_amax_args>();
  args.x = hstu_matrix(slot(0), kBf16, 300, 520);
  args.amax = hstu_vector(slot(1), kF32, 256);
  return args;
}

TEST(PrepareFp8, KeyOfQuantize) {
  auto args = sample_quantize();
  EXPECT_EQ(text(prepare(args)),
            "quantize_fp8 dtype=bf16 fp8=e4m3 scaling=2 columns=520 vector=8 static=0 power_of_two=0 rows=512");
  EXPECT_EQ(args.amin, 1e-12f);
  EXPECT_EQ(args.amax_bound, kInfinity);
  args.x.shape[1] = args.q.shape[1] = 512;  // rows of 520 elements apart
  args.descale.shape[1] = 4;
  args.power_of_two = 1;
  EXPECT_EQ(text(prepare(args)),
            "quantize_fp8 dtype=bf16 fp8=e4m3 scaling=2 columns=512 vector=8 static=0 power_of_two=1 rows=512");
  args.x.stride[0] = args.q.stride[0] = 528;
  EXPECT_EQ(text(prepare(args)),
            "quantize_fp8 dtype=bf16 fp8=e4m3 scaling=2 columns=512 vector=16 static=0 power_of_two=1 rows=512");
}

TEST(PrepareFp8, DescalesMayLieTransposed) {
  auto args = sample_quantize();
  args.descale.stride[0] = 1;
  args.descale.stride[1] = 304;
  EXPECT_NO_THROW(prepare(args));
}

TEST(PrepareFp8, TensorWithAGivenScale) {
  auto args = sample_tensor();
  EXPECT_EQ(text(prepare(args)),
            "quantize_fp8 dtype=bf16 fp8=e4m3 scaling=0 columns=520 vector=8 static=0 power_of_two=0 rows=512");
  args.amax = {};
  args.static_descale = args.descale;
  args.power_of_two = 1;  // means nothing then
  EXPECT_EQ(text(prepare(args)),
            "quantize_fp8 dtype=bf16 fp8=e4m3 scaling=0 columns=520 vector=8 static=1 power_of_two=0 rows=512");
}

TEST(PrepareFp8, KeysOfDequantizeAndAmax) {
  auto dequantize = sample_dequantize();
  EXPECT_EQ(text(prepare(dequantize)), "dequantize_fp8 dtype=f32 fp8=e5m2 scaling=3 columns=520 vector=8 rows=512");
  auto amax = sample_amax();
  EXPECT_EQ(text(prepare(amax)), "fp8_amax dtype=bf16 columns=520 vector=8 dense=1 rows=512");
  amax.x.stride[0] = 521;
  EXPECT_EQ(text(prepare(amax)), "fp8_amax dtype=bf16 columns=520 vector=1 dense=0 rows=512");
}

TEST(PrepareFp8, CostIsTheTraffic) {
  auto args = sample_quantize();
  prepare(args);
  EXPECT_EQ(cost_of(args).bytes, 300.0 * 520 * 3 + 300 * 5 * 4);
  auto dequantize = sample_dequantize();
  prepare(dequantize);
  EXPECT_EQ(cost_of(dequantize).bytes, 300.0 * 520 * 5 + 3 * 5 * 4);
}

TEST(PrepareFp8, EdgeCasesKeepDescalesInShape) {
  Integers integers;
  auto args = sample_quantize();
  prepare(args);
  make_edge_case(args, integers);
  EXPECT_EQ(args.x.shape[0] % 2, 1);
  EXPECT_EQ(args.descale.shape[0], args.x.shape[0]);
  EXPECT_NO_THROW(prepare(args));
  auto dequantize = sample_dequantize();
  prepare(dequantize);
  make_edge_case(dequantize, integers);
  EXPECT_EQ(dequantize.descale.shape[0], (dequantize.x.shape[0] + 127) / 128);
  EXPECT_NO_THROW(prepare(dequantize));
}

using Quantize = hstu_quantize_fp8_args;
class QuantizeRefuses : public testing::TestWithParam<Spoiled<Quantize>> {};
TEST_P(QuantizeRefuses, Field) { test::expect_refused(sample_quantize(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, QuantizeRefuses,
    testing::Values(
        Spoiled<Quantize>{"OtherStructSize", [](Quantize& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Quantize>{"AbsentX", [](Quantize& a) { a.x = {}; }, kInvalid, "x is absent"},
        Spoiled<Quantize>{"Fp8X", [](Quantize& a) { a.x.dtype = kE4m3; }, kDtype, "x.dtype = e4m3"},
        Spoiled<Quantize>{"WideQ", [](Quantize& a) { a.q.dtype = kBf16; }, kDtype, "q.dtype = bf16"},
        Spoiled<Quantize>{"RowsOfQ", [](Quantize& a) { a.q.shape[0] = 299; }, kShape, "q.shape[0] = 299"},
        Spoiled<Quantize>{"ColumnsOfQ", [](Quantize& a) { a.q.shape[1] = 519; }, kShape, "q.shape[1] = 519"},
        Spoiled<Quantize>{"QOnX", [](Quantize& a) { a.q.data = slot(0, 64); }, kInvalid, "q overlaps x"},
        Spoiled<Quantize>{"RowsOfQOverlap", [](Quantize& a) { a.q.stride[0] = 519; }, kInvalid, "q.stride[0] = 519"},
        Spoiled<Quantize>{"UnknownScaling", [](Quantize& a) { test::set_code(a.scaling, 4); }, kInvalid, "scaling = 4"},
        Spoiled<Quantize>{"HalfDescale", [](Quantize& a) { a.descale.dtype = kBf16; }, kDtype, "descale.dtype = bf16"},
        Spoiled<Quantize>{"VectorDescale", [](Quantize& a) { a.descale.rank = 1; }, kInvalid, "descale.rank = 1"},
        Spoiled<Quantize>{"FewGroups", [](Quantize& a) { a.descale.shape[1] = 4; }, kShape, "descale.shape[1] = 4"},
        Spoiled<Quantize>{"RowsOfBlocks", [](Quantize& a) { a.scaling = HSTU_FP8_BLOCK; }, kShape,
                          "descale.shape[0] = 300"},
        Spoiled<Quantize>{"DescaleOverlapsItself", [](Quantize& a) { a.descale.stride[0] = 4; }, kInvalid,
                          "descale.stride[0] = 4"},
        Spoiled<Quantize>{"DescaleOnQ", [](Quantize& a) { a.descale.data = slot(1); }, kInvalid, "descale overlaps q"},
        Spoiled<Quantize>{"AmaxOfGroups", [](Quantize& a) { a.amax = hstu_vector(slot(3), kF32, 256); }, kInvalid,
                          "amax is there"},
        Spoiled<Quantize>{"StaticGroups", [](Quantize& a) { a.static_descale = hstu_vector(slot(3), kF32, 1); },
                          kInvalid, "static_descale is there"},
        Spoiled<Quantize>{"TinyAmin", [](Quantize& a) { a.amin = 1e-31f; }, kInvalid, "amin = "},
        Spoiled<Quantize>{"NanAmin", [](Quantize& a) { a.amin = kNan; }, kInvalid, "amin = nan"},
        Spoiled<Quantize>{"InfiniteAmin", [](Quantize& a) { a.amin = kInfinity; }, kInvalid, "amin = inf"},
        Spoiled<Quantize>{"BoundBelowAmin", [](Quantize& a) { a.amax_bound = 1e-13f; }, kInvalid, "amax_bound = "},
        Spoiled<Quantize>{"NegativeBound", [](Quantize& a) { a.amax_bound = -1; }, kInvalid, "amax_bound = -1"},
        Spoiled<Quantize>{"NanBound", [](Quantize& a) { a.amax_bound = kNan; }, kInvalid, "amax_bound = nan"},
        Spoiled<Quantize>{"OtherFlag", [](Quantize& a) { a.power_of_two = 2; }, kInvalid, "power_of_two = 2"}),
    kNameOf);

class QuantizeTensorRefuses : public testing::TestWithParam<Spoiled<Quantize>> {};
TEST_P(QuantizeTensorRefuses, Field) { test::expect_refused(sample_tensor(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, QuantizeTensorRefuses,
    testing::Values(
        Spoiled<Quantize>{"NoScale", [](Quantize& a) { a.amax = {}; }, kInvalid, "amax and static_descale"},
        Spoiled<Quantize>{"BothScales", [](Quantize& a) { a.static_descale = hstu_vector(slot(4), kF32, 1); }, kInvalid,
                          "amax and static_descale"},
        Spoiled<Quantize>{"ShortAmax", [](Quantize& a) { a.amax.shape[0] = 255; }, kShape, "amax.shape[0] = 255"},
        Spoiled<Quantize>{"HalfAmax", [](Quantize& a) { a.amax.dtype = kBf16; }, kDtype, "amax.dtype = bf16"},
        Spoiled<Quantize>{"AmaxOnQ", [](Quantize& a) { a.amax.data = slot(1); }, kInvalid, "q overlaps amax"},
        Spoiled<Quantize>{"AmaxOnDescale", [](Quantize& a) { a.amax.data = slot(2); }, kInvalid,
                          "descale overlaps amax"},
        Spoiled<Quantize>{"TwoDescales", [](Quantize& a) { a.descale.shape[0] = 2; }, kShape, "descale.shape[0] = 2"}),
    kNameOf);

using Dequantize = hstu_dequantize_fp8_args;
class DequantizeRefuses : public testing::TestWithParam<Spoiled<Dequantize>> {};
TEST_P(DequantizeRefuses, Field) { test::expect_refused(sample_dequantize(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, DequantizeRefuses,
    testing::Values(
        Spoiled<Dequantize>{"OtherStructSize", [](Dequantize& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Dequantize>{"WideQ", [](Dequantize& a) { a.q.dtype = kBf16; }, kDtype, "q.dtype = bf16"},
        Spoiled<Dequantize>{"Fp8X", [](Dequantize& a) { a.x.dtype = kE4m3; }, kDtype, "x.dtype = e4m3"},
        Spoiled<Dequantize>{"Rows", [](Dequantize& a) { a.x.shape[0] = 299; }, kShape, "x.shape[0] = 299"},
        Spoiled<Dequantize>{"Scaling", [](Dequantize& a) { a.scaling = -1; }, kInvalid, "scaling = -1"},
        Spoiled<Dequantize>{"Blocks", [](Dequantize& a) { a.descale.shape[0] = 2; }, kShape, "descale.shape[0] = 2"},
        Spoiled<Dequantize>{"XOnQ", [](Dequantize& a) { a.x.data = slot(1); }, kInvalid, "x overlaps q"},
        Spoiled<Dequantize>{"XOnDescale", [](Dequantize& a) { a.descale.data = slot(0, 4); }, kInvalid,
                            "x overlaps descale"}),
    kNameOf);

using Amax = hstu_fp8_amax_args;
class AmaxRefuses : public testing::TestWithParam<Spoiled<Amax>> {};
TEST_P(AmaxRefuses, Field) { test::expect_refused(sample_amax(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, AmaxRefuses,
    testing::Values(Spoiled<Amax>{"OtherStructSize", [](Amax& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
                    Spoiled<Amax>{"Fp8X", [](Amax& a) { a.x.dtype = kE4m3; }, kDtype, "x.dtype = e4m3"},
                    Spoiled<Amax>{"Short", [](Amax& a) { a.amax.shape[0] = 1; }, kShape, "amax.shape[0] = 1"},
                    Spoiled<Amax>{"Half", [](Amax& a) { a.amax.dtype = kBf16; }, kDtype, "amax.dtype = bf16"},
                    Spoiled<Amax>{"AmaxOnX", [](Amax& a) { a.amax.data = slot(0, 512); }, kInvalid, "amax overlaps x"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
