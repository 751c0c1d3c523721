// Positions, times, broadcast rows and products of jagged rows: keys, defaults, and what prepare() refuses.
#include "operators/jagged/added_rows.hpp"
#include "operators/jagged/jagged_dense_bmm_broadcast_add.hpp"
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

using Times = hstu_add_timestamp_positional_embeddings_args;
using Places = hstu_add_positional_embeddings_args;
using Broadcast = hstu_jagged_dense_broadcast_add_args;
using Product = hstu_jagged_dense_bmm_broadcast_add_args;

/// x, out [50, 64] bf16 in 3 sequences; f32 tables of 30 and 40 rows; targets.
Times sample_times() {
  auto args = sized<Times>();
  args.x = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 50, 64);
  args.out = hstu_matrix(slot(1), HSTU_DTYPE_BF16, 50, 64);
  args.position_embeddings = hstu_matrix(slot(2), HSTU_DTYPE_F32, 30, 64);
  args.timestamp_embeddings = hstu_matrix(slot(3), HSTU_DTYPE_F32, 40, 64);
  args.seq_offsets = hstu_vector(slot(4), HSTU_DTYPE_I64, 4);
  args.timestamps = hstu_vector(slot(5), HSTU_DTYPE_I64, 50);
  args.num_targets = hstu_vector(slot(6), HSTU_DTYPE_I32, 3);
  return args;
}

Places sample_places() {
  const Times times = sample_times();
  auto args = sized<Places>();
  args.x = times.x;
  args.out = times.out;
  args.position_embeddings = times.position_embeddings;
  args.seq_offsets = times.seq_offsets;
  return args;
}

Broadcast sample_broadcast() {
  auto args = sized<Broadcast>();
  args.jagged = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 50, 64);
  args.out = hstu_matrix(slot(1), HSTU_DTYPE_BF16, 50, 64);
  args.dense = hstu_matrix(slot(2), HSTU_DTYPE_BF16, 3, 64);
  args.seq_offsets = hstu_vector(slot(4), HSTU_DTYPE_I64, 4);
  return args;
}

/// jagged [50, 64], dense [3, 64, 96], bias [3, 96], out [50, 96], bf16.
Product sample_product() {
  auto args = sized<Product>();
  args.jagged = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 50, 64);
  args.dense = hstu_heads(slot(1), HSTU_DTYPE_BF16, 3, 64, 96);
  args.bias = hstu_matrix(slot(2), HSTU_DTYPE_BF16, 3, 96);
  args.seq_offsets = hstu_vector(slot(4), HSTU_DTYPE_I64, 4);
  args.out = hstu_matrix(slot(5), HSTU_DTYPE_BF16, 50, 96);
  return args;
}

TEST(PreparePositions, KeysAndDefaults) {
  auto times = sample_times();
  EXPECT_EQ(text(prepare(times)),
            "add_timestamp_positional_embeddings dtype=bf16 table_dtype=f32 offset_dtype=i64 target_dtype=i32 dim=64 "
            "vector=8 logarithm=0 batch=4 rows=64");
  EXPECT_EQ(times.alpha, 1.0f);
  EXPECT_EQ(times.time_bucket_increments, 60.0f);
  auto places = sample_places();
  EXPECT_EQ(text(prepare(places)),
            "add_positional_embeddings dtype=bf16 table_dtype=f32 offset_dtype=i64 target_dtype=none dim=64 vector=8 "
            "logarithm=0 batch=4 rows=64");
  auto broadcast = sample_broadcast();
  EXPECT_EQ(text(prepare(broadcast)),
            "jagged_dense_broadcast_add dtype=bf16 table_dtype=bf16 offset_dtype=i64 target_dtype=none dim=64 vector=8 "
            "logarithm=0 batch=4 rows=64");
  auto product = sample_product();
  EXPECT_EQ(text(prepare(product)),
            "jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=96 k=64 bias=1 bias_dtype=bf16 "
            "dense_transposed=0 vector_x=8 vector_w=8 vector_z=8 batch=4 rows=64");
}

TEST(PreparePositions, VectorsFitTables) {
  auto args = sample_times();
  args.position_embeddings.data = slot(2, 8);
  EXPECT_EQ(prepare(args)[added_rows::kVector], 2);
  args = sample_times();
  args.timestamp_embeddings.stride[0] = 65;
  EXPECT_EQ(prepare(args)[added_rows::kVector], 1);
}

TEST(PreparePositions, OutMayBeX) {
  auto args = sample_times();
  args.out = args.x;
  EXPECT_NO_THROW(prepare(args));
}

TEST(PrepareJaggedProduct, TransposedMatricesAndOneForAll) {
  auto args = sample_product();
  args.dense.stride[0] = 0;
  args.dense.stride[1] = 1;
  args.dense.stride[2] = 64;
  EXPECT_EQ(prepare(args)[jagged_bmm::kDenseTransposed], 1);
}

TEST(PrepareJaggedProduct, MatricesWhoseElementsLieApartAreGatheredAlongTheirColumns) {
  auto args = sample_product();
  args.dense.stride[1] = 2 * args.dense.shape[2];
  args.dense.stride[2] = 2;
  args.dense.stride[0] = args.dense.shape[1] * args.dense.stride[1];
  const Problem problem = prepare(args);
  EXPECT_EQ(problem[jagged_bmm::kVectorW], 0);
  EXPECT_EQ(problem[jagged_bmm::kDenseTransposed], 1);
}

class TimesRefuse : public testing::TestWithParam<Spoiled<Times>> {};
TEST_P(TimesRefuse, Field) { test::expect_refused(sample_times(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, TimesRefuse,
    testing::Values(
        Spoiled<Times>{"OtherStructSize", [](Times& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Times>{"AbsentX", [](Times& a) { a.x = {}; }, kInvalid, "x is absent"},
        Spoiled<Times>{"AbsentOut", [](Times& a) { a.out = {}; }, kInvalid, "out is absent"},
        Spoiled<Times>{"AbsentTable", [](Times& a) { a.timestamp_embeddings = {}; }, kInvalid,
                       "timestamp_embeddings is absent"},
        Spoiled<Times>{"IntegerX", [](Times& a) { a.x.dtype = HSTU_DTYPE_I32; }, kDtype, "x.dtype = i32"},
        Spoiled<Times>{"OtherDtypeOfOut", [](Times& a) { a.out.dtype = HSTU_DTYPE_F16; }, kDtype, "out.dtype = f16"},
        Spoiled<Times>{"TablesOfTwoTypes", [](Times& a) { a.timestamp_embeddings.dtype = HSTU_DTYPE_BF16; }, kDtype,
                       "timestamp_embeddings.dtype = bf16"},
        Spoiled<Times>{"OtherRowsOfOut", [](Times& a) { a.out.shape[0] = 49; }, kShape, "out.shape[0] = 49"},
        Spoiled<Times>{"OtherDimOfTable", [](Times& a) { a.position_embeddings.shape[1] = 63; }, kShape,
                       "position_embeddings.shape[1] = 63"},
        Spoiled<Times>{"TableWithoutRows", [](Times& a) { a.position_embeddings.shape[0] = 0; }, kShape,
                       "position_embeddings.shape[0] = 0"},
        Spoiled<Times>{"NarrowTimes", [](Times& a) { a.timestamps.dtype = HSTU_DTYPE_I32; }, kDtype,
                       "timestamps.dtype = i32"},
        Spoiled<Times>{"TooFewTimes", [](Times& a) { a.timestamps.shape[0] = 49; }, kShape, "timestamps.shape[0] = 49"},
        Spoiled<Times>{"OtherBatchOfTargets", [](Times& a) { a.num_targets.shape[0] = 4; }, kShape,
                       "num_targets.shape[0] = 4"},
        Spoiled<Times>{"OtherBatchOfQueryTime",
                       [](Times& a) { a.query_time = hstu_vector(slot(7), HSTU_DTYPE_I64, 4); }, kShape,
                       "query_time.shape[0] = 4"},
        Spoiled<Times>{"UnknownFunction", [](Times& a) { test::set_code(a.time_bucket_fn, 2); }, kInvalid,
                       "time_bucket_fn = 2"},
        Spoiled<Times>{"NegativeIncrements", [](Times& a) { a.time_bucket_increments = -1; }, kInvalid,
                       "time_bucket_increments = -1"},
        Spoiled<Times>{"InfiniteIncrements", [](Times& a) { a.time_bucket_increments = kInfinity; }, kInvalid,
                       "time_bucket_increments"},
        Spoiled<Times>{"NanAlpha", [](Times& a) { a.alpha = kNan; }, kInvalid, "alpha"},
        Spoiled<Times>{"NegativeContext", [](Times& a) { a.max_contextual_seq_len = -1; }, kInvalid,
                       "max_contextual_seq_len = -1"},
        Spoiled<Times>{"FlagOutOfRange", [](Times& a) { a.interleave_targets = 2; }, kInvalid,
                       "interleave_targets = 2"},
        Spoiled<Times>{"OutOverX", [](Times& a) { a.out.data = slot(0, 128); }, kInvalid, "out overlaps x"},
        Spoiled<Times>{"OutOverTable", [](Times& a) { a.out.data = slot(2); }, kInvalid,
                       "out overlaps position_embeddings"},
        Spoiled<Times>{"OutOverTimes", [](Times& a) { a.out.data = slot(5); }, kInvalid, "out overlaps timestamps"}),
    kNameOf);

class PlacesRefuse : public testing::TestWithParam<Spoiled<Places>> {};
TEST_P(PlacesRefuse, Field) { test::expect_refused(sample_places(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, PlacesRefuse,
    testing::Values(
        Spoiled<Places>{"OtherStructSize", [](Places& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Places>{"AbsentTable", [](Places& a) { a.position_embeddings = {}; }, kInvalid,
                        "position_embeddings is absent"},
        Spoiled<Places>{"FloatingOffsets", [](Places& a) { a.seq_offsets.dtype = HSTU_DTYPE_F32; }, kDtype,
                        "seq_offsets.dtype"},
        Spoiled<Places>{"OtherDtypeOfOut", [](Places& a) { a.out.dtype = HSTU_DTYPE_F16; }, kDtype, "out.dtype = f16"},
        Spoiled<Places>{"OtherRowsOfOut", [](Places& a) { a.out.shape[0] = 49; }, kShape, "out.shape[0] = 49"},
        Spoiled<Places>{"OtherDimOfTable", [](Places& a) { a.position_embeddings.shape[1] = 63; }, kShape,
                        "position_embeddings.shape[1] = 63"},
        Spoiled<Places>{"TableWithoutRows", [](Places& a) { a.position_embeddings.shape[0] = 0; }, kShape,
                        "position_embeddings.shape[0] = 0"},
        Spoiled<Places>{"OtherBatchOfTargets",
                        [](Places& a) { a.num_targets = hstu_vector(slot(6), HSTU_DTYPE_I32, 4); }, kShape,
                        "num_targets.shape[0] = 4"},
        Spoiled<Places>{"OutOverTable", [](Places& a) { a.out.data = slot(2); }, kInvalid,
                        "out overlaps position_embeddings"},
        Spoiled<Places>{"FlagOutOfRange", [](Places& a) { a.interleave_targets = -1; }, kInvalid,
                        "interleave_targets = -1"},
        Spoiled<Places>{"InfiniteAlpha", [](Places& a) { a.alpha = kInfinity; }, kInvalid, "alpha"}),
    kNameOf);

class BroadcastRefuses : public testing::TestWithParam<Spoiled<Broadcast>> {};
TEST_P(BroadcastRefuses, Field) { test::expect_refused(sample_broadcast(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, BroadcastRefuses,
    testing::Values(
        Spoiled<Broadcast>{"OtherStructSize", [](Broadcast& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Broadcast>{"AbsentJagged", [](Broadcast& a) { a.jagged = {}; }, kInvalid, "jagged is absent"},
        Spoiled<Broadcast>{"IntegerDense", [](Broadcast& a) { a.dense.dtype = HSTU_DTYPE_I32; }, kDtype,
                           "dense.dtype = i32"},
        Spoiled<Broadcast>{"OtherDtypeOfOut", [](Broadcast& a) { a.out.dtype = HSTU_DTYPE_F16; }, kDtype,
                           "out.dtype = f16"},
        Spoiled<Broadcast>{"OtherRowsOfOut", [](Broadcast& a) { a.out.shape[0] = 49; }, kShape, "out.shape[0] = 49"},
        Spoiled<Broadcast>{"OutOverDense", [](Broadcast& a) { a.out.data = slot(2); }, kInvalid, "out overlaps dense"},
        Spoiled<Broadcast>{"OtherBatch", [](Broadcast& a) { a.dense.shape[0] = 4; }, kShape, "dense.shape[0] = 4"},
        Spoiled<Broadcast>{"OtherDim", [](Broadcast& a) { a.dense.shape[1] = 60; }, kShape, "dense.shape[1] = 60"}),
    kNameOf);

class ProductRefuses : public testing::TestWithParam<Spoiled<Product>> {};
TEST_P(ProductRefuses, Field) { test::expect_refused(sample_product(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, ProductRefuses,
    testing::Values(
        Spoiled<Product>{"OtherStructSize", [](Product& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Product>{"AbsentDense", [](Product& a) { a.dense = {}; }, kInvalid, "dense is absent"},
        Spoiled<Product>{"OtherDtype", [](Product& a) { a.dense.dtype = HSTU_DTYPE_F16; }, kDtype, "dense.dtype = f16"},
        Spoiled<Product>{"OtherBatch", [](Product& a) { a.dense.shape[0] = 4; }, kShape, "dense.shape[0] = 4"},
        Spoiled<Product>{"OtherDepth", [](Product& a) { a.dense.shape[1] = 63; }, kShape, "dense.shape[1] = 63"},
        Spoiled<Product>{"OtherColumns", [](Product& a) { a.out.shape[1] = 95; }, kShape, "out.shape[1] = 95"},
        Spoiled<Product>{"OtherRows", [](Product& a) { a.out.shape[0] = 51; }, kShape, "out.shape[0] = 51"},
        Spoiled<Product>{"OtherBatchOfBias", [](Product& a) { a.bias.shape[0] = 4; }, kShape, "bias.shape[0] = 4"},
        Spoiled<Product>{"BiasOfRowsHasAsMany", [](Product& a) { a.elementwise = 1; }, kShape, "bias.shape[0] = 3"},
        Spoiled<Product>{"ElementwiseWithoutBias",
                         [](Product& a) {
                           a.elementwise = 1;
                           a.bias = {};
                         },
                         kInvalid, "bias is absent"},
        Spoiled<Product>{"FlagOutOfRange", [](Product& a) { a.elementwise = 7; }, kInvalid, "elementwise = 7"},
        Spoiled<Product>{"OutOverJagged", [](Product& a) { a.out.data = slot(0); }, kInvalid, "out overlaps jagged"},
        Spoiled<Product>{"OutOverDense", [](Product& a) { a.out.data = slot(1); }, kInvalid, "out overlaps dense"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
