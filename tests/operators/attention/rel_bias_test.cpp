// The relative bias: its key and cost, and everything that prepare() refuses.
#include "operators/attention/rel_bias.hpp"

#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::kUnsupported;
using test::slot;
using test::Spoiled;
using Args = hstu_rel_bias_args;

/// Three sequences of 40, two heads.
Args sample() {
  auto args = sized<Args>();
  args.timestamps = hstu_matrix(slot(0), HSTU_DTYPE_I64, 3, 40);
  args.position_weights = hstu_matrix(slot(1), HSTU_DTYPE_F32, 2, 79);
  args.time_weights = hstu_matrix(slot(2), HSTU_DTYPE_F32, 1, 129);
  args.rab.data = slot(3);
  args.rab.dtype = HSTU_DTYPE_BF16;
  args.rab.rank = 4;
  args.rab.shape[0] = 3, args.rab.shape[1] = 2, args.rab.shape[2] = args.rab.shape[3] = 40;
  return args;
}

TEST(PrepareRelBias, Key) {
  Args args = sample();
  EXPECT_EQ(text(prepare(args)), "rel_bias dtype=bf16 table_dtype=f32 num_heads=2 vector=8 batch=4 positions=64");
  args = sample();
  args.rab.dtype = HSTU_DTYPE_F32;
  EXPECT_EQ(prepare(args)[rel_bias::kVector], 4);
  args = sample();
  args.rab.data = slot(3, 2);
  EXPECT_EQ(prepare(args)[rel_bias::kVector], 1);
}

TEST(PrepareRelBias, CostIsWhatIsWritten) {
  Args args = sample();
  prepare(args);
  const Cost cost = operator_of(Op::rel_bias).cost(&args);
  EXPECT_EQ(cost.flops, 3.0 * 2 * 40 * 40);
  EXPECT_EQ(cost.bytes, 2.0 * 3 * 2 * 40 * 40 + 8 * 3 * 40 + 4 * (2 * 79 + 129));
}

class RelBiasRefuses : public testing::TestWithParam<Spoiled<Args>> {};
TEST_P(RelBiasRefuses, Field) { test::expect_refused(sample(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, RelBiasRefuses,
    testing::Values(
        Spoiled<Args>{"OtherStructSize", [](Args& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Args>{"NarrowTimes", [](Args& a) { a.timestamps.dtype = HSTU_DTYPE_I32; }, kDtype,
                      "timestamps.dtype = i32"},
        Spoiled<Args>{"OtherBatch", [](Args& a) { a.timestamps.shape[0] = 2; }, kShape, "timestamps.shape[0] = 2"},
        Spoiled<Args>{"OtherPositions", [](Args& a) { a.timestamps.shape[1] = 39; }, kShape,
                      "timestamps.shape[1] = 39"},
        Spoiled<Args>{"NotSquare", [](Args& a) { a.rab.shape[2] = 30; }, kShape, "rab.shape[2] = 30"},
        Spoiled<Args>{
            "TooManyPositions",
            [](Args& a) { a.rab.shape[2] = a.rab.shape[3] = 200000, std::fill_n(a.rab.stride, 4, 0), a.rab.flags = 0; },
            kUnsupported, "rab.shape[3] = 200000"},
        Spoiled<Args>{"IntegerBias", [](Args& a) { a.rab.dtype = HSTU_DTYPE_I32; }, kDtype, "rab.dtype = i32"},
        Spoiled<Args>{"PositionsNotTwice", [](Args& a) { a.position_weights.shape[1] = 80; }, kShape,
                      "position_weights.shape[1] = 80"},
        Spoiled<Args>{"HeadsOfPositions", [](Args& a) { a.position_weights.shape[0] = 3; }, kShape,
                      "position_weights.shape[0] = 3"},
        Spoiled<Args>{"HeadsOfTimes", [](Args& a) { a.time_weights.shape[0] = 3; }, kShape,
                      "time_weights.shape[0] = 3"},
        Spoiled<Args>{"OtherTable", [](Args& a) { a.time_weights.dtype = HSTU_DTYPE_F16; }, kDtype,
                      "time_weights.dtype = f16"},
        Spoiled<Args>{"NoBucket", [](Args& a) { a.time_weights.shape[1] = 0; }, kShape, "time_weights.shape[1] = 0"},
        Spoiled<Args>{"BiasOverTimes", [](Args& a) { a.rab.data = slot(0); }, kInvalid, "rab overlaps timestamps"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
