// Jagged copies as problems: keys and defaults of good input, and everything that prepare() refuses.
#include "operators/jagged/jagged_copy.hpp"

#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kHuge;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::kUnsupported;
using test::slot;
using test::Spoiled;

using Concat = hstu_concat_2d_jagged_args;
using Split = hstu_split_2d_jagged_args;

/// left [40, 96], right [24, 96], out [64, 96] bf16 in 3 sequences.
Concat sample_concat() {
  auto args = sized<Concat>();
  args.left = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 40, 96);
  args.right = hstu_matrix(slot(1), HSTU_DTYPE_BF16, 24, 96);
  args.out = hstu_matrix(slot(2), HSTU_DTYPE_BF16, 64, 96);
  args.offsets_left = hstu_vector(slot(3), HSTU_DTYPE_I64, 4);
  args.offsets_right = hstu_vector(slot(4), HSTU_DTYPE_I32, 4);
  args.n_prefix_from_right = 2;
  return args;
}

Split sample_split() {
  const Concat concat = sample_concat();
  auto args = sized<Split>();
  args.values = concat.out;
  args.left = concat.left;
  args.right = concat.right;
  args.offsets_left = concat.offsets_left;
  args.offsets_right = concat.offsets_right;
  return args;
}

TEST(PrepareJaggedCopy, Keys) {
  auto concat = sample_concat();
  EXPECT_EQ(text(prepare(concat)),
            "concat_2d_jagged access_bytes=16 row_bytes=192 left_offset=i64 right_offset=i32 prefix=1 replace=0 "
            "batch=4 rows=64");
  auto split = sample_split();
  EXPECT_EQ(text(prepare(split)),
            "split_2d_jagged access_bytes=16 row_bytes=192 left_offset=i64 right_offset=i32 prefix=0 replace=0 batch=4 "
            "rows=64");
}

TEST(PrepareJaggedCopy, ElementsOfOneSizeShareAKey) {
  auto f16 = sample_concat(), bf16 = sample_concat();
  f16.left.dtype = f16.right.dtype = f16.out.dtype = HSTU_DTYPE_F16;
  EXPECT_EQ(prepare(f16), prepare(bf16));
}

TEST(PrepareJaggedCopy, AccessesAreAsWideAsEveryTensorAllows) {
  auto args = sample_concat();
  args.left.data = slot(0, 8);
  EXPECT_EQ(prepare(args)[jagged_copy::kAccessBytes], 8);
  args = sample_concat();
  args.out.stride[0] = 97;
  EXPECT_EQ(prepare(args)[jagged_copy::kAccessBytes], 2);
  args = sample_concat();
  args.right.stride[0] = 98;
  EXPECT_EQ(prepare(args)[jagged_copy::kAccessBytes], 4);
}

TEST(PrepareJaggedCopy, DensePartsAreOfRank2Or3) {
  auto args = sample_concat();
  args.offsets_left = {};
  args.left = hstu_heads(slot(0), HSTU_DTYPE_BF16, 3, 6, 96);
  args.left.stride[0] = 1000;
  args.out.shape[0] = 18 + 24;
  EXPECT_EQ(prepare(args)[jagged_copy::kLeftOffset], HSTU_DTYPE_NONE);
  EXPECT_EQ(args.max_len_left, 6);
  args.left = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 18, 96);
  EXPECT_EQ(prepare(args)[jagged_copy::kLeftOffset], HSTU_DTYPE_NONE);
}

TEST(PrepareJaggedCopy, TwoDensePartsConcatenate) {
  auto args = sample_concat();
  args.offsets_left = args.offsets_right = {};
  args.max_len_left = 5;
  args.max_len_right = 3;
  EXPECT_EQ(prepare(args)[jagged_copy::kBatch], 8);
}

TEST(PrepareJaggedCopy, NothingAtAllIsLegal) {
  auto args = sample_concat();
  args.left.shape[0] = args.right.shape[0] = args.out.shape[0] = 0;
  args.offsets_left.shape[0] = args.offsets_right.shape[0] = 1;
  EXPECT_EQ(prepare(args)[jagged_copy::kRows], 0);
}

TEST(PrepareJaggedCopy, ReplacementHasTheShapeOfLeft) {
  auto args = sample_concat();
  args.is_replace = 1;
  args.n_prefix_from_right = 0;
  args.out.shape[0] = 40;
  EXPECT_EQ(prepare(args)[jagged_copy::kReplace], 1);
}

class ConcatRefuses : public testing::TestWithParam<Spoiled<Concat>> {};
TEST_P(ConcatRefuses, Field) { test::expect_refused(sample_concat(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, ConcatRefuses,
    testing::Values(
        Spoiled<Concat>{"OtherStructSize", [](Concat& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Concat>{"AbsentLeft", [](Concat& a) { a.left = {}; }, kInvalid, "left is absent"},
        Spoiled<Concat>{"AbsentRight", [](Concat& a) { a.right = {}; }, kInvalid, "right is absent"},
        Spoiled<Concat>{"AbsentOut", [](Concat& a) { a.out = {}; }, kInvalid, "out is absent"},
        Spoiled<Concat>{"OtherDtypeOfRight", [](Concat& a) { a.right.dtype = HSTU_DTYPE_F16; }, kDtype, "right.dtype"},
        Spoiled<Concat>{"OtherDtypeOfOut", [](Concat& a) { a.out.dtype = HSTU_DTYPE_F16; }, kDtype, "out.dtype"},
        Spoiled<Concat>{"OtherDim", [](Concat& a) { a.right.shape[1] = 95; }, kShape, "right.shape[1] = 95"},
        Spoiled<Concat>{"OtherDimOfOut", [](Concat& a) { a.out.shape[1] = 95; }, kShape, "out.shape[1] = 95"},
        Spoiled<Concat>{"TooFewRowsOfOut", [](Concat& a) { a.out.shape[0] = 63; }, kShape, "out.shape[0] = 63"},
        Spoiled<Concat>{"LastStride", [](Concat& a) { a.left.stride[1] = 2; }, kInvalid, "left.stride[1] = 2"},
        Spoiled<Concat>{"JaggedPartOfRank3", [](Concat& a) { a.left = hstu_heads(slot(0), HSTU_DTYPE_BF16, 3, 6, 96); },
                        kInvalid, "left.rank = 3"},
        Spoiled<Concat>{"FloatingOffsets", [](Concat& a) { a.offsets_left.dtype = HSTU_DTYPE_F32; }, kDtype,
                        "offsets_left.dtype"},
        Spoiled<Concat>{"NoOffsetAtAll", [](Concat& a) { a.offsets_left.shape[0] = 0; }, kShape,
                        "offsets_left.shape[0] = 0"},
        Spoiled<Concat>{"OtherBatch", [](Concat& a) { a.offsets_right.shape[0] = 5; }, kShape,
                        "offsets_right.shape[0] = 5"},
        Spoiled<Concat>{"NegativeMaxLen",
                        [](Concat& a) {
                          a.offsets_left = {};
                          a.max_len_left = -1;
                        },
                        kInvalid, "max_len_left = -1"},
        Spoiled<Concat>{"NegativeMaxLenOfRight",
                        [](Concat& a) {
                          a.offsets_right = {};
                          a.max_len_right = -1;
                        },
                        kInvalid, "max_len_right = -1"},
        Spoiled<Concat>{"PartOfASequence",
                        [](Concat& a) {
                          a.offsets_left = {};
                          a.max_len_left = 13;
                        },
                        kShape, "left.shape[0] = 40"},
        Spoiled<Concat>{"OtherMaxLenThanExtent",
                        [](Concat& a) {
                          a.offsets_left = {};
                          a.left = hstu_heads(slot(0), HSTU_DTYPE_BF16, 3, 6, 96);
                          a.max_len_left = 7;
                        },
                        kShape, "left.shape[1] = 6"},
        Spoiled<Concat>{"OtherBatchOfDensePart",
                        [](Concat& a) {
                          a.offsets_left = {};
                          a.left = hstu_heads(slot(0), HSTU_DTYPE_BF16, 4, 6, 96);
                        },
                        kShape, "left.shape[0] = 4"},
        Spoiled<Concat>{"NegativePrefix", [](Concat& a) { a.n_prefix_from_right = -1; }, kInvalid,
                        "n_prefix_from_right = -1"},
        Spoiled<Concat>{"FlagOutOfRange", [](Concat& a) { a.is_replace = 2; }, kInvalid, "is_replace = 2"},
        Spoiled<Concat>{"PrefixOfAReplacement", [](Concat& a) { a.is_replace = 1; }, kInvalid,
                        "n_prefix_from_right = 2"},
        Spoiled<Concat>{"OutOverLeft", [](Concat& a) { a.out.data = slot(0, 192); }, kInvalid, "out overlaps left"},
        Spoiled<Concat>{"OutOverRight", [](Concat& a) { a.out.data = slot(1); }, kInvalid, "out overlaps right"},
        Spoiled<Concat>{"OutOverOffsets", [](Concat& a) { a.out.data = slot(3); }, kInvalid,
                        "out overlaps offsets_left"},
        Spoiled<Concat>{"OutOverItself", [](Concat& a) { a.out.stride[0] = 95; }, kInvalid, "out.stride[0] = 95"},
        Spoiled<Concat>{"OverflowingRows", [](Concat& a) { a.left.shape[0] = kHuge; }, kInvalid, "left: its extents"},
        Spoiled<Concat>{"RowBeyond32Bits",
                        [](Concat& a) {
                          a.left.shape[1] = a.right.shape[1] = a.out.shape[1] = int64_t{1} << 31;
                          a.left.stride[0] = a.right.stride[0] = a.out.stride[0] = int64_t{1} << 31;
                          a.right.data = slot(1 << 20);
                          a.out.data = slot(1 << 21);
                        },
                        kUnsupported, "left: a row of 4294967296 bytes"}),
    kNameOf);

class SplitRefuses : public testing::TestWithParam<Spoiled<Split>> {};
TEST_P(SplitRefuses, Field) { test::expect_refused(sample_split(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, SplitRefuses,
    testing::Values(
        Spoiled<Split>{"OtherStructSize", [](Split& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Split>{"AbsentValues", [](Split& a) { a.values = {}; }, kInvalid, "values is absent"},
        Spoiled<Split>{"OtherRows", [](Split& a) { a.values.shape[0] = 65; }, kShape, "values.shape[0] = 65"},
        Spoiled<Split>{"OtherDtype", [](Split& a) { a.values.dtype = HSTU_DTYPE_I64; }, kDtype, "values.dtype"},
        Spoiled<Split>{"BothDense", [](Split& a) { a.offsets_left = a.offsets_right = {}; }, kInvalid,
                       "offsets_left is absent"},
        Spoiled<Split>{"PartOfASequence",
                       [](Split& a) {
                         a.offsets_right = {};
                         a.max_len_right = 13;
                       },
                       kShape, "right.shape[0] = 24"},
        Spoiled<Split>{"NegativePrefix", [](Split& a) { a.n_prefix_to_right = -3; }, kInvalid,
                       "n_prefix_to_right = -3"},
        Spoiled<Split>{"LeftOverValues", [](Split& a) { a.left.data = slot(2); }, kInvalid, "left overlaps values"},
        Spoiled<Split>{"RightOverValues", [](Split& a) { a.right.data = slot(2); }, kInvalid, "right overlaps values"},
        Spoiled<Split>{"PartsOverEachOther", [](Split& a) { a.right.data = slot(0); }, kInvalid, "left overlaps right"},
        Spoiled<Split>{"LeftOverItself", [](Split& a) { a.left.stride[0] = 1; }, kInvalid, "left.stride[0] = 1"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
