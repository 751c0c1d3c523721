// Sums, paddings, truncations, orders and intervals of sequences as problems: keys, and everything that prepare()
// refuses.
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

constexpr hstu_dtype kBf16 = HSTU_DTYPE_BF16, kI32 = HSTU_DTYPE_I32, kI64 = HSTU_DTYPE_I64;

using Reduce = hstu_jagged_reduce_sum_args;
using Pad = hstu_jagged_to_padded_dense_args;
using Unpad = hstu_dense_to_jagged_args;
using Truncate = hstu_jagged_truncate_history_args;
using Sort = hstu_sort_kv_pairs_args;
using ByLength = hstu_sort_by_length_args;
using Sla = hstu_build_sla_func_args;

Reduce sample_reduce() {
  auto args = sized<Reduce>();
  args.jagged = hstu_matrix(slot(0), kBf16, 50, 64);
  args.seq_offsets = hstu_vector(slot(1), kI64, 4);
  args.out = hstu_matrix(slot(2), kBf16, 3, 64);
  return args;
}
hstu_tensor padded(int index) { return {slot(index), kBf16, 3, 0, {3, 20, 64}, {}}; }
Pad sample_pad() {
  auto args = sized<Pad>();
  args.values = hstu_matrix(slot(0), kBf16, 50, 64);
  args.offsets = hstu_vector(slot(1), kI32, 4);
  args.out = padded(2);
  return args;
}
Unpad sample_unpad() {
  auto args = sized<Unpad>();
  args.dense = padded(0);
  args.offsets = hstu_vector(slot(1), kI32, 4);
  args.out = hstu_matrix(slot(2), kBf16, 50, 64);
  return args;
}
Truncate sample_truncate() {
  auto args = sized<Truncate>();
  args.values = hstu_matrix(slot(0), kBf16, 50, 64);
  args.seq_offsets = hstu_vector(slot(1), kI64, 4);
  args.num_targets = hstu_vector(slot(2), kI32, 3);
  args.out = hstu_matrix(slot(3), kBf16, 40, 64);
  args.out_offsets = hstu_vector(slot(4), kI64, 4);
  args.keep = 10;
  return args;
}
Sort sample_sort() {
  auto args = sized<Sort>();
  args.keys = hstu_vector(slot(0), kI64, 100);
  args.values = hstu_vector(slot(1), kBf16, 100);
  args.out_keys = hstu_vector(slot(2), kI64, 100);
  args.out_values = hstu_vector(slot(3), kBf16, 100);
  return args;
}
ByLength sample_by_length() {
  auto args = sized<ByLength>();
  args.offsets = hstu_vector(slot(0), kI64, 101);
  args.out = hstu_vector(slot(1), kI32, 100);
  return args;
}
Sla sample_sla() {
  auto args = sized<Sla>();
  args.seq_offsets = hstu_vector(slot(0), kI64, 4);
  args.num_targets = hstu_vector(slot(1), kI32, 3);
  args.intervals = {slot(2), kI32, 3, 0, {2, 3, 50}, {}};
  args.last_keys = 5;
  return args;
}

template <class Args>
std::string key(Args args) {
  return text(prepare(args));
}

TEST(PrepareJaggedForms, Keys) {
  EXPECT_EQ(key(sample_reduce()),
            "jagged_reduce_sum dtype=bf16 out_dtype=bf16 offset_dtype=i64 dim=64 vector=8 batch=4 rows=64");
  EXPECT_EQ(key(sample_pad()), "jagged_to_padded_dense access_bytes=16 row_bytes=128 offset_dtype=i32 batch=4 rows=64");
  EXPECT_EQ(key(sample_unpad()), "dense_to_jagged access_bytes=16 row_bytes=128 offset_dtype=i32 batch=4 rows=64");
  EXPECT_EQ(
      key(sample_truncate()),
      "jagged_truncate_history access_bytes=16 row_bytes=128 left_length=i32 right_length=none offset=i64 batch=4 "
      "rows=64");
  auto vector = sample_truncate();
  vector.values = hstu_vector(slot(0), kI64, 50);
  vector.out = hstu_vector(slot(3), kI64, 40);
  vector.num_targets = {};
  EXPECT_EQ(key(vector),
            "jagged_truncate_history access_bytes=8 row_bytes=8 left_length=none right_length=none offset=i64 batch=4 "
            "rows=64");
  EXPECT_EQ(key(sample_sort()), "sort_kv_pairs key_dtype=i64 value_bytes=2 count=128");
  EXPECT_EQ(key(sample_by_length()), "sort_by_length offset_dtype=i64 out_dtype=i32 count=128");
  EXPECT_EQ(key(sample_sla()), "build_sla_func offset_dtype=i64 target_dtype=i32 rows=64");
}

TEST(PrepareJaggedForms, AttributesBeyondAnySequenceMeanAllOfIt) {
  auto sla = sample_sla();
  sla.last_keys = test::kHuge;
  prepare(sla);
  EXPECT_EQ(sla.last_keys, int64_t{1} << 30);
  auto truncate = sample_truncate();
  truncate.keep = test::kHuge;
  prepare(truncate);
  EXPECT_EQ(truncate.keep, int64_t{1} << 40);
}

#define HSTU_REFUSES(Suite, Args, sample, ...)                         \
  class Suite : public testing::TestWithParam<Spoiled<Args>> {};       \
  TEST_P(Suite, Field) { test::expect_refused(sample(), GetParam()); } \
  INSTANTIATE_TEST_SUITE_P(BadInput, Suite, testing::Values(__VA_ARGS__), kNameOf)

HSTU_REFUSES(ReduceRefuses, Reduce, sample_reduce,
             Spoiled<Reduce>{"OtherStructSize", [](Reduce& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
             Spoiled<Reduce>{"Integers", [](Reduce& a) { a.jagged.dtype = kI32; }, kDtype, "jagged.dtype = i32"},
             Spoiled<Reduce>{"OtherDtype", [](Reduce& a) { a.out.dtype = HSTU_DTYPE_F16; }, kDtype, "out.dtype = f16"},
             Spoiled<Reduce>{"OtherBatch", [](Reduce& a) { a.out.shape[0] = 4; }, kShape, "out.shape[0] = 4"},
             Spoiled<Reduce>{"OtherDim", [](Reduce& a) { a.out.shape[1] = 63; }, kShape, "out.shape[1] = 63"},
             Spoiled<Reduce>{"NoOffset", [](Reduce& a) { a.seq_offsets.shape[0] = 0; }, kShape, "seq_offsets"},
             Spoiled<Reduce>{"OutInJagged", [](Reduce& a) { a.out.data = slot(0); }, kInvalid, "out overlaps"});

HSTU_REFUSES(PadRefuses, Pad, sample_pad,
             Spoiled<Pad>{"OtherStructSize", [](Pad& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
             Spoiled<Pad>{"OtherDtype", [](Pad& a) { a.out.dtype = HSTU_DTYPE_F16; }, kDtype, "out.dtype = f16"},
             Spoiled<Pad>{"Matrix", [](Pad& a) { a.out.rank = 2; }, kInvalid, "out.rank = 2"},
             Spoiled<Pad>{"OtherBatch", [](Pad& a) { a.out.shape[0] = 2; }, kShape, "out.shape[0] = 2"},
             Spoiled<Pad>{"OtherDim", [](Pad& a) { a.out.shape[2] = 63; }, kShape, "out.shape[2] = 63"},
             Spoiled<Pad>{"FloatingOffsets", [](Pad& a) { a.offsets.dtype = HSTU_DTYPE_F32; }, kDtype, "offsets.dtype"},
             Spoiled<Pad>{"OutInValues", [](Pad& a) { a.out.data = slot(0); }, kInvalid, "out overlaps"});

HSTU_REFUSES(UnpadRefuses, Unpad, sample_unpad,
             Spoiled<Unpad>{"OtherStructSize", [](Unpad& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
             Spoiled<Unpad>{"OtherBatch", [](Unpad& a) { a.dense.shape[0] = 4; }, kShape, "dense.shape[0] = 4"},
             Spoiled<Unpad>{"OtherDim", [](Unpad& a) { a.out.shape[1] = 65; }, kShape, "out.shape[1] = 65"},
             Spoiled<Unpad>{"OutInOffsets", [](Unpad& a) { a.out.data = slot(1); }, kInvalid, "out overlaps"});

HSTU_REFUSES(TruncateRefuses, Truncate, sample_truncate,
             Spoiled<Truncate>{"OtherStructSize", [](Truncate& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
             Spoiled<Truncate>{"NegativeKeep", [](Truncate& a) { a.keep = -1; }, kInvalid, "keep = -1"},
             Spoiled<Truncate>{"NegativeContext", [](Truncate& a) { a.contextual_seq_len = -2; }, kInvalid,
                               "contextual_seq_len = -2"},
             Spoiled<Truncate>{"OtherRank", [](Truncate& a) { a.out.rank = 1; }, kInvalid, "out.rank = 1"},
             Spoiled<Truncate>{"OtherDim", [](Truncate& a) { a.out.shape[1] = 60; }, kShape, "out.shape[1] = 60"},
             Spoiled<Truncate>{"OtherDtype", [](Truncate& a) { a.out.dtype = kI32; }, kDtype, "out.dtype = i32"},
             Spoiled<Truncate>{"OtherOffsets", [](Truncate& a) { a.out_offsets.dtype = kI32; }, kDtype,
                               "out_offsets.dtype = i32"},
             Spoiled<Truncate>{"FewerOffsets", [](Truncate& a) { a.out_offsets.shape[0] = 3; }, kShape,
                               "out_offsets.shape[0] = 3"},
             Spoiled<Truncate>{"MoreTargets", [](Truncate& a) { a.num_targets.shape[0] = 4; }, kShape,
                               "num_targets.shape[0] = 4"},
             Spoiled<Truncate>{"OutInTargets", [](Truncate& a) { a.out.data = slot(2); }, kInvalid, "out overlaps"},
             Spoiled<Truncate>{"OutputsOverEachOther", [](Truncate& a) { a.out_offsets.data = slot(3); }, kInvalid,
                               "overlaps"});

HSTU_REFUSES(SortRefuses, Sort, sample_sort,
             Spoiled<Sort>{"OtherStructSize", [](Sort& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
             Spoiled<Sort>{"FloatingKeys", [](Sort& a) { a.keys.dtype = HSTU_DTYPE_F32; }, kDtype, "keys.dtype"},
             Spoiled<Sort>{"OtherKeys", [](Sort& a) { a.out_keys.dtype = kI32; }, kDtype, "out_keys.dtype = i32"},
             Spoiled<Sort>{"OtherValues", [](Sort& a) { a.out_values.dtype = kI32; }, kDtype, "out_values.dtype = i32"},
             Spoiled<Sort>{"FewerValues", [](Sort& a) { a.values.shape[0] = 99; }, kShape, "values.shape[0] = 99"},
             Spoiled<Sort>{"ManyBits", [](Sort& a) { a.end_bit = 65; }, kInvalid, "end_bit = 65"},
             Spoiled<Sort>{"NegativeBits", [](Sort& a) { a.end_bit = -1; }, kInvalid, "end_bit = -1"},
             Spoiled<Sort>{"OtherOrder", [](Sort& a) { a.descending = 2; }, kInvalid, "descending = 2"},
             Spoiled<Sort>{"InPlace", [](Sort& a) { a.out_keys.data = slot(0); }, kInvalid, "out_keys overlaps keys"},
             Spoiled<Sort>{"TooMany",
                           [](Sort& a) {
                             for (hstu_tensor* vector : {&a.keys, &a.values, &a.out_keys, &a.out_values}) {
                               vector->shape[0] = (int64_t{1} << 30) + 1;
                               vector->data = reinterpret_cast<void*>(
                                   (reinterpret_cast<uintptr_t>(vector->data) - (uintptr_t{1} << 40) + (1 << 20))
                                   << 20);
                             }
                           },
                           kUnsupported, "keys.shape[0] = 1073741825"});

HSTU_REFUSES(ByLengthRefuses, ByLength, sample_by_length,
             Spoiled<ByLength>{"OtherStructSize", [](ByLength& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
             Spoiled<ByLength>{"OtherBatch", [](ByLength& a) { a.out.shape[0] = 99; }, kShape, "out.shape[0] = 99"},
             Spoiled<ByLength>{"FloatingOut", [](ByLength& a) { a.out.dtype = HSTU_DTYPE_F32; }, kDtype, "out.dtype"},
             Spoiled<ByLength>{"InPlace", [](ByLength& a) { a.out.data = slot(0); }, kInvalid, "out overlaps offsets"});

HSTU_REFUSES(SlaRefuses, Sla, sample_sla,
             Spoiled<Sla>{"OtherStructSize", [](Sla& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
             Spoiled<Sla>{"Negative", [](Sla& a) { a.first_keys = -1; }, kInvalid, "first_keys = -1"},
             Spoiled<Sla>{"NegativeWindow", [](Sla& a) { a.last_keys = -5; }, kInvalid, "last_keys = -5"},
             Spoiled<Sla>{"NegativeContext", [](Sla& a) { a.contextual_seq_len = -2; }, kInvalid,
                          "contextual_seq_len = -2"},
             Spoiled<Sla>{"FiveBounds", [](Sla& a) { a.intervals.shape[1] = 5; }, kShape, "intervals.shape[1] = 5"},
             Spoiled<Sla>{"WideBounds", [](Sla& a) { a.intervals.dtype = kI64; }, kDtype, "intervals.dtype = i64"},
             Spoiled<Sla>{"MoreTargets", [](Sla& a) { a.num_targets.shape[0] = 4; }, kShape,
                          "num_targets.shape[0] = 4"},
             Spoiled<Sla>{"OverOffsets", [](Sla& a) { a.intervals.data = slot(0); }, kInvalid, "intervals overlaps"});

}  // namespace
}  // namespace hstujit
