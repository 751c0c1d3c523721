// Softmax attention: its key, defaults and cost, and everything it refuses.
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
using Args = hstu_flash_attention_args;

hstu_tensor tensor4(int index, int64_t batch, int64_t heads, int64_t rows, int64_t dim) {
  hstu_tensor t{};
  t.data = slot(index);
  t.dtype = HSTU_DTYPE_BF16;
  t.rank = 4;
  t.shape[0] = batch, t.shape[1] = heads, t.shape[2] = rows, t.shape[3] = dim;
  return t;
}

/// 3 sequences, 2 heads, 20 queries and 50 keys; dims 64 and 32.
Args sample_dense() {
  auto args = sized<Args>();
  args.q = tensor4(0, 3, 2, 20, 64);
  args.k = tensor4(1, 3, 2, 50, 64);
  args.v = tensor4(2, 3, 2, 50, 32);
  args.out = tensor4(3, 3, 2, 20, 32);
  args.lse = hstu_heads(slot(4), HSTU_DTYPE_F32, 3, 2, 20);
  return args;
}

/// 50 rows in 3 sequences.
Args sample_jagged() {
  auto args = sized<Args>();
  args.q = hstu_heads(slot(0), HSTU_DTYPE_F16, 50, 2, 64);
  args.k = hstu_heads(slot(1), HSTU_DTYPE_F16, 50, 2, 64);
  args.v = hstu_heads(slot(2), HSTU_DTYPE_F16, 50, 2, 32);
  args.out = hstu_heads(slot(3), HSTU_DTYPE_F16, 50, 2, 32);
  args.lse = hstu_matrix(slot(4), HSTU_DTYPE_F32, 2, 50);
  args.seq_offsets = hstu_vector(slot(5), HSTU_DTYPE_I32, 4);
  args.max_seq_len = 30;
  return args;
}

TEST(FlashAttention, KeysDenseCalls) {
  Args args = sample_dense();
  EXPECT_EQ(text(prepare(args)),
            "flash_attention dtype=bf16 head_dim_qk=64 head_dim_v=32 num_heads=2 offset_dtype=none mask=0 lse=1 "
            "vector=8 batch=4 queries=32 keys=64");
  EXPECT_EQ(args.scale, 0.125f);
  EXPECT_EQ(args.q.stride[0], 2 * 20 * 64);
}

TEST(FlashAttention, KeysJaggedCalls) {
  Args args = sample_jagged();
  args.lse = {};
  args.mask.kind = HSTU_MASK_FULL;
  args.scale = 0.5f;
  EXPECT_EQ(text(prepare(args)),
            "flash_attention dtype=f16 head_dim_qk=64 head_dim_v=32 num_heads=2 offset_dtype=i32 mask=1 lse=0 vector=8 "
            "batch=4 queries=64 keys=32");
  EXPECT_EQ(args.scale, 0.5f);
}

TEST(FlashAttention, CountsThePairsThatTheMaskLeaves) {
  Args args = sample_dense();
  prepare(args);
  const auto flops = [&] { return operator_of(Op::flash_attention).cost(&args).flops; };
  const double causal = 20.0 * 30 + 20.0 * 21 / 2;
  EXPECT_EQ(flops(), 3 * 2 * 2 * causal * (64 + 32));
  args.mask.kind = HSTU_MASK_FULL;
  EXPECT_EQ(flops(), 3 * 2 * 2 * 20.0 * 50 * (64 + 32));
  std::swap(args.q.shape[2], args.k.shape[2]);  // more queries than keys: the first see nothing
  args.mask.kind = HSTU_MASK_CAUSAL;
  EXPECT_EQ(flops(), 3 * 2 * 2 * (20.0 * 21 / 2) * (64 + 32));
}

class DenseRefuses : public testing::TestWithParam<Spoiled<Args>> {};
TEST_P(DenseRefuses, Field) { test::expect_refused(sample_dense(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, DenseRefuses,
    testing::Values(
        Spoiled<Args>{"OtherStructSize", [](Args& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Args>{"AbsentQ", [](Args& a) { a.q = {}; }, kInvalid, "q is absent"},
        Spoiled<Args>{"AbsentOut", [](Args& a) { a.out = {}; }, kInvalid, "out is absent"},
        Spoiled<Args>{"RankOfJagged", [](Args& a) { a.q.rank = 3; }, kInvalid, "q.rank = 3"},
        Spoiled<Args>{"IntegerQ", [](Args& a) { a.q.dtype = HSTU_DTYPE_I32; }, kDtype, "q.dtype = i32"},
        Spoiled<Args>{"OtherDtypeOfV", [](Args& a) { a.v.dtype = HSTU_DTYPE_F16; }, kDtype, "v.dtype = f16"},
        Spoiled<Args>{"OtherBatch", [](Args& a) { a.k.shape[0] = 2; }, kShape, "k.shape[0] = 2"},
        Spoiled<Args>{"OtherHeads", [](Args& a) { a.v.shape[1] = 1; }, kShape, "v.shape[1] = 1"},
        Spoiled<Args>{"OtherQueries", [](Args& a) { a.out.shape[2] = 19; }, kShape, "out.shape[2] = 19"},
        Spoiled<Args>{"OtherKeys", [](Args& a) { a.v.shape[2] = 49; }, kShape, "v.shape[2] = 49"},
        Spoiled<Args>{"OtherDimOfK", [](Args& a) { a.k.shape[3] = 32; }, kShape, "k.shape[3] = 32"},
        Spoiled<Args>{"OtherDimOfOut", [](Args& a) { a.out.shape[3] = 64; }, kShape, "out.shape[3] = 64"},
        Spoiled<Args>{"WideHeads", [](Args& a) { a.q.shape[3] = a.k.shape[3] = 257; }, kUnsupported,
                      "head_dim_qk = 257"},
        Spoiled<Args>{"NoDim", [](Args& a) { a.v.shape[3] = a.out.shape[3] = 0; }, kUnsupported, "head_dim_v = 0"},
        Spoiled<Args>{"OverlappingOut", [](Args& a) { a.out.data = a.v.data; }, kInvalid, "out"},
        Spoiled<Args>{"HalfLse", [](Args& a) { a.lse.dtype = HSTU_DTYPE_F16; }, kDtype, "lse.dtype = f16"},
        Spoiled<Args>{"OtherLengthOfLse", [](Args& a) { a.lse.shape[2] = 50; }, kShape, "lse.shape[2] = 50"},
        Spoiled<Args>{"LseInOut", [](Args& a) { a.lse.data = a.out.data; }, kInvalid, "lse"},
        Spoiled<Args>{"NanScale", [](Args& a) { a.scale = test::kNan; }, kInvalid, "scale"},
        Spoiled<Args>{"UnknownMask", [](Args& a) { test::set_code(a.mask.kind, 2); }, kInvalid, "mask.kind = 2"}),
    kNameOf);

class JaggedRefuses : public testing::TestWithParam<Spoiled<Args>> {};
TEST_P(JaggedRefuses, Field) { test::expect_refused(sample_jagged(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, JaggedRefuses,
    testing::Values(
        Spoiled<Args>{"RankOfDense", [](Args& a) { a.k.rank = 4; }, kInvalid, "k.rank = 4"},
        Spoiled<Args>{"OtherTotal", [](Args& a) { a.v.shape[0] = 49; }, kShape, "v.shape[0] = 49"},
        Spoiled<Args>{"OtherHeads", [](Args& a) { a.k.shape[1] = 1; }, kShape, "k.shape[1] = 1"},
        Spoiled<Args>{"FloatOffsets", [](Args& a) { a.seq_offsets.dtype = HSTU_DTYPE_F32; }, kDtype,
                      "seq_offsets.dtype = f32"},
        Spoiled<Args>{"NoOffset", [](Args& a) { a.seq_offsets.shape[0] = 0; }, kShape, "seq_offsets.shape[0] = 0"},
        Spoiled<Args>{"NoMaxSeqLen", [](Args& a) { a.max_seq_len = 0; }, kInvalid, "max_seq_len = 0"},
        Spoiled<Args>{"OtherHeadsOfLse", [](Args& a) { a.lse.shape[0] = 3; }, kShape, "lse.shape[0] = 3"},
        Spoiled<Args>{"OtherTotalOfLse", [](Args& a) { a.lse.shape[1] = 49; }, kShape, "lse.shape[1] = 49"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
