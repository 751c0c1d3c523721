// Jagged vectors as problems: keys, and everything that prepare() refuses.
#include "operators/jagged/complete_cumsum.hpp"
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

using Concat = hstu_concat_1d_jagged_args;
using Split = hstu_split_1d_jagged_args;
using Remove = hstu_jagged_remove_first_or_last_1d_args;
using Replace = hstu_replace_last_n_with_jagged_args;
using Transpose = hstu_jagged_transpose_1d_args;
using Sum = hstu_complete_cumsum_args;
using Expand = hstu_expand_1d_jagged_to_dense_args;

Concat sample_concat() {
  auto args = sized<Concat>();
  args.lengths_left = hstu_vector(slot(0), HSTU_DTYPE_I64, 3);
  args.lengths_right = hstu_vector(slot(1), HSTU_DTYPE_I32, 3);
  args.left = hstu_vector(slot(2), HSTU_DTYPE_F32, 40);
  args.right = hstu_vector(slot(3), HSTU_DTYPE_F32, 24);
  args.out = hstu_vector(slot(4), HSTU_DTYPE_F32, 64);
  return args;
}

Split sample_split() {
  const Concat concat = sample_concat();
  auto args = sized<Split>();
  args.lengths_left = concat.lengths_left;
  args.lengths_right = concat.lengths_right;
  args.values = concat.out;
  args.left = concat.left;
  args.right = concat.right;
  return args;
}

Remove sample_remove() {
  auto args = sized<Remove>();
  args.lengths = hstu_vector(slot(0), HSTU_DTYPE_I64, 3);
  args.values = hstu_vector(slot(1), HSTU_DTYPE_BF16, 40);
  args.without_first = hstu_vector(slot(2), HSTU_DTYPE_BF16, 37);
  args.without_last = hstu_vector(slot(3), HSTU_DTYPE_BF16, 37);
  return args;
}

Replace sample_replace() {
  const Concat concat = sample_concat();
  auto args = sized<Replace>();
  args.lengths_left = concat.lengths_left;
  args.lengths_right = concat.lengths_right;
  args.left = hstu_matrix(slot(2), HSTU_DTYPE_BF16, 40, 64);
  args.right = hstu_matrix(slot(3), HSTU_DTYPE_BF16, 24, 64);
  args.out = hstu_matrix(slot(4), HSTU_DTYPE_BF16, 40, 64);
  return args;
}

Transpose sample_transpose() {
  auto args = sized<Transpose>();
  args.values = hstu_vector(slot(0), HSTU_DTYPE_I64, 50);
  args.out = hstu_vector(slot(1), HSTU_DTYPE_I64, 50);
  args.offsets = hstu_vector(slot(2), HSTU_DTYPE_I64, 7);
  args.out_offsets = hstu_vector(slot(3), HSTU_DTYPE_I64, 7);
  args.lengths = hstu_vector(slot(4), HSTU_DTYPE_I32, 6);
  args.out_lengths = hstu_vector(slot(5), HSTU_DTYPE_I32, 6);
  args.rows = 2;
  args.columns = 3;
  return args;
}

Sum sample_sum() {
  auto args = sized<Sum>();
  args.values = hstu_vector(slot(0), HSTU_DTYPE_I32, 50);
  args.out = hstu_vector(slot(1), HSTU_DTYPE_I32, 51);
  return args;
}

Expand sample_expand() {
  auto args = sized<Expand>();
  args.values = hstu_vector(slot(0), HSTU_DTYPE_BF16, 50);
  args.offsets = hstu_vector(slot(1), HSTU_DTYPE_I32, 4);
  args.out = hstu_matrix(slot(2), HSTU_DTYPE_BF16, 3, 20);
  return args;
}

TEST(PrepareJaggedVectors, Keys) {
  auto concat = sample_concat();
  EXPECT_EQ(text(prepare(concat)),
            "concat_1d_jagged access_bytes=4 row_bytes=4 left_length=i64 right_length=i32 offset=none batch=4 rows=64");
  auto split = sample_split();
  EXPECT_EQ(text(prepare(split)),
            "split_1d_jagged access_bytes=4 row_bytes=4 left_length=i64 right_length=i32 offset=none batch=4 rows=64");
  auto remove = sample_remove();
  EXPECT_EQ(text(prepare(remove)),
            "jagged_remove_first_or_last_1d access_bytes=2 row_bytes=2 left_length=i64 right_length=none offset=none "
            "batch=4 rows=64");
  auto replace = sample_replace();
  EXPECT_EQ(text(prepare(replace)),
            "replace_last_n_with_jagged access_bytes=16 row_bytes=128 left_length=i64 right_length=i32 offset=none "
            "batch=4 rows=64");
  auto transpose = sample_transpose(), by_offsets = transpose;
  by_offsets.lengths = {};
  EXPECT_EQ(prepare(by_offsets), prepare(transpose)) << "the type of lengths is that of the new ones";
  EXPECT_EQ(text(prepare(transpose)),
            "jagged_transpose_1d access_bytes=8 row_bytes=8 left_length=i32 right_length=none offset=i64 batch=8 "
            "rows=64");
  auto sum = sample_sum();
  EXPECT_EQ(text(prepare(sum)), "complete_cumsum dtype=i32 out_dtype=i32 count=64");
  sum.out.dtype = HSTU_DTYPE_I64;
  EXPECT_EQ(prepare(sum)[cumsum::kOutDtype], HSTU_DTYPE_I64);
  auto expand = sample_expand();
  EXPECT_EQ(text(prepare(expand)), "expand_1d_jagged_to_dense element_bytes=2 offset_dtype=i32 batch=4 max_len=32");
}

class Concat1dRefuses : public testing::TestWithParam<Spoiled<Concat>> {};
TEST_P(Concat1dRefuses, Field) { test::expect_refused(sample_concat(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, Concat1dRefuses,
    testing::Values(
        Spoiled<Concat>{"OtherStructSize", [](Concat& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Concat>{"FloatingLengths", [](Concat& a) { a.lengths_left.dtype = HSTU_DTYPE_F32; }, kDtype,
                        "lengths_left.dtype"},
        Spoiled<Concat>{"OtherBatch", [](Concat& a) { a.lengths_right.shape[0] = 4; }, kShape,
                        "lengths_right.shape[0] = 4"},
        Spoiled<Concat>{"OtherDtype", [](Concat& a) { a.right.dtype = HSTU_DTYPE_I32; }, kDtype, "right.dtype = i32"},
        Spoiled<Concat>{"OtherSize", [](Concat& a) { a.out.shape[0] = 63; }, kShape, "out.shape[0] = 63"},
        Spoiled<Concat>{"Strided", [](Concat& a) { a.left.stride[0] = 2; }, kInvalid, "left.stride[0] = 2"},
        Spoiled<Concat>{"OutOverLeft", [](Concat& a) { a.out.data = slot(2); }, kInvalid, "out overlaps left"},
        Spoiled<Concat>{"OutOverLengths", [](Concat& a) { a.out.data = slot(1); }, kInvalid,
                        "out overlaps lengths_right"}),
    kNameOf);

class Split1dRefuses : public testing::TestWithParam<Spoiled<Split>> {};
TEST_P(Split1dRefuses, Field) { test::expect_refused(sample_split(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, Split1dRefuses,
    testing::Values(
        Spoiled<Split>{"OtherStructSize", [](Split& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Split>{"FloatingLengths", [](Split& a) { a.lengths_right.dtype = HSTU_DTYPE_F32; }, kDtype,
                       "lengths_right.dtype"},
        Spoiled<Split>{"OtherBatch", [](Split& a) { a.lengths_right.shape[0] = 4; }, kShape,
                       "lengths_right.shape[0] = 4"},
        Spoiled<Split>{"OtherDtype", [](Split& a) { a.left.dtype = HSTU_DTYPE_I32; }, kDtype, "left.dtype = i32"},
        Spoiled<Split>{"OtherSize", [](Split& a) { a.values.shape[0] = 63; }, kShape, "values.shape[0] = 63"},
        Spoiled<Split>{"PartsOverEachOther", [](Split& a) { a.right.data = slot(2); }, kInvalid,
                       "left overlaps right"}),
    kNameOf);

class RemoveRefuses : public testing::TestWithParam<Spoiled<Remove>> {};
TEST_P(RemoveRefuses, Field) { test::expect_refused(sample_remove(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, RemoveRefuses,
    testing::Values(Spoiled<Remove>{"OtherStructSize", [](Remove& a) { a.struct_size = 8; }, kInvalid,
                                    "struct_size = 8"},
                    Spoiled<Remove>{"FloatingLengths", [](Remove& a) { a.lengths.dtype = HSTU_DTYPE_F32; }, kDtype,
                                    "lengths.dtype"},
                    Spoiled<Remove>{"OtherDtype", [](Remove& a) { a.without_last.dtype = HSTU_DTYPE_F16; }, kDtype,
                                    "without_last.dtype = f16"},
                    Spoiled<Remove>{"OtherSize", [](Remove& a) { a.without_first.shape[0] = 40; }, kShape,
                                    "without_first.shape[0] = 40"},
                    Spoiled<Remove>{"MoreSequencesThanElements", [](Remove& a) { a.lengths.shape[0] = 41; }, kShape,
                                    "without_first.shape[0] = 37"},
                    Spoiled<Remove>{"OutputOverValues", [](Remove& a) { a.without_last.data = slot(1); }, kInvalid,
                                    "without_last overlaps values"},
                    Spoiled<Remove>{"OutputsOverEachOther", [](Remove& a) { a.without_last.data = slot(2); }, kInvalid,
                                    "overlaps"}),
    kNameOf);

class ReplaceRefuses : public testing::TestWithParam<Spoiled<Replace>> {};
TEST_P(ReplaceRefuses, Field) { test::expect_refused(sample_replace(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, ReplaceRefuses,
    testing::Values(
        Spoiled<Replace>{"OtherStructSize", [](Replace& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Replace>{"FloatingLengths", [](Replace& a) { a.lengths_left.dtype = HSTU_DTYPE_F32; }, kDtype,
                         "lengths_left.dtype"},
        Spoiled<Replace>{"OtherBatch", [](Replace& a) { a.lengths_right.shape[0] = 4; }, kShape,
                         "lengths_right.shape[0] = 4"},
        Spoiled<Replace>{"OtherDtype", [](Replace& a) { a.right.dtype = HSTU_DTYPE_F16; }, kDtype, "right.dtype = f16"},
        Spoiled<Replace>{"OutOverLeft", [](Replace& a) { a.out.data = slot(2); }, kInvalid, "out overlaps left"},
        Spoiled<Replace>{"OtherDim", [](Replace& a) { a.right.shape[1] = 60; }, kShape, "right.shape[1] = 60"},
        Spoiled<Replace>{"OtherRows", [](Replace& a) { a.out.shape[0] = 39; }, kShape, "out.shape[0] = 39"}),
    kNameOf);

class TransposeRefuses : public testing::TestWithParam<Spoiled<Transpose>> {};
TEST_P(TransposeRefuses, Field) { test::expect_refused(sample_transpose(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, TransposeRefuses,
    testing::Values(
        Spoiled<Transpose>{"OtherStructSize", [](Transpose& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Transpose>{"NegativeRows", [](Transpose& a) { a.rows = -2; }, kInvalid, "rows = -2"},
        Spoiled<Transpose>{"TooManySegments", [](Transpose& a) { a.rows = int64_t{1} << 40; }, kUnsupported,
                           "rows = 1099511627776"},
        Spoiled<Transpose>{"OtherLengths", [](Transpose& a) { a.lengths.shape[0] = 5; }, kShape,
                           "lengths.shape[0] = 5: it must be rows * columns = 6"},
        Spoiled<Transpose>{"OtherOffsetsOfResults", [](Transpose& a) { a.out_offsets.shape[0] = 6; }, kShape,
                           "out_offsets.shape[0] = 6"},
        Spoiled<Transpose>{"WithoutOffsets", [](Transpose& a) { a.offsets = {}; }, kInvalid, "offsets is absent"},
        Spoiled<Transpose>{"OtherSegments", [](Transpose& a) { a.columns = 4; }, kShape, "offsets.shape[0] = 7"},
        Spoiled<Transpose>{"NegativeColumns", [](Transpose& a) { a.columns = -3; }, kInvalid, "columns = -3"},
        Spoiled<Transpose>{"FloatingOffsets", [](Transpose& a) { a.offsets.dtype = HSTU_DTYPE_F32; }, kDtype,
                           "offsets.dtype = f32"},
        Spoiled<Transpose>{"FewerOffsets", [](Transpose& a) { a.offsets.shape[0] = 6; }, kShape,
                           "offsets.shape[0] = 6"},
        Spoiled<Transpose>{"OtherDtypeOfValues", [](Transpose& a) { a.out.dtype = HSTU_DTYPE_F32; }, kDtype,
                           "out.dtype = f32"},
        Spoiled<Transpose>{"OtherDtypeOfOffsets", [](Transpose& a) { a.out_offsets.dtype = HSTU_DTYPE_I32; }, kDtype,
                           "out_offsets.dtype = i32"},
        Spoiled<Transpose>{"OutputsOverEachOther", [](Transpose& a) { a.out_lengths.data = slot(3); }, kInvalid,
                           "overlaps"}),
    kNameOf);

class SumRefuses : public testing::TestWithParam<Spoiled<Sum>> {};
TEST_P(SumRefuses, Field) { test::expect_refused(sample_sum(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, SumRefuses,
    testing::Values(Spoiled<Sum>{"OtherStructSize", [](Sum& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
                    Spoiled<Sum>{"NarrowFloats", [](Sum& a) { a.values.dtype = HSTU_DTYPE_BF16; }, kDtype,
                                 "values.dtype = bf16"},
                    Spoiled<Sum>{"OtherDtype", [](Sum& a) { a.out.dtype = HSTU_DTYPE_F32; }, kDtype, "out.dtype = f32"},
                    Spoiled<Sum>{"NoRoomForTheLast", [](Sum& a) { a.out.shape[0] = 50; }, kShape, "out.shape[0] = 50"}),
    kNameOf);

class ExpandRefuses : public testing::TestWithParam<Spoiled<Expand>> {};
TEST_P(ExpandRefuses, Field) { test::expect_refused(sample_expand(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, ExpandRefuses,
    testing::Values(
        Spoiled<Expand>{"OtherStructSize", [](Expand& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Expand>{"FloatingOffsets", [](Expand& a) { a.offsets.dtype = HSTU_DTYPE_F32; }, kDtype,
                        "offsets.dtype = f32"},
        Spoiled<Expand>{"OtherBatch", [](Expand& a) { a.out.shape[0] = 4; }, kShape, "out.shape[0] = 4"},
        Spoiled<Expand>{"OtherDtype", [](Expand& a) { a.out.dtype = HSTU_DTYPE_F16; }, kDtype, "out.dtype = f16"},
        Spoiled<Expand>{"OutOverValues", [](Expand& a) { a.out.data = slot(0); }, kInvalid, "out overlaps values"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
