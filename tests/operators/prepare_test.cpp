// What prepare() makes of good input: the key, strides and defaults filled in, vector facts, and every zero size.
#include "operators/attention/attention.hpp"
#include "operators/dense/addmm.hpp"
#include "operators/norm/layer_norm.hpp"
#include "operators/norm/norm_mul.hpp"
#include "operators/sample_args.hpp"

#include <array>

namespace hstujit {
namespace {

using test::slot;

TEST(Prepare, KeyOfLayerNorm) {
  auto args = test::sample_layer_norm();
  EXPECT_EQ(text(prepare(args)),
            "layer_norm dtype=bf16 weight_dtype=f32 has_weight=1 fp8=none scaling=0 dim=96 vector=8 rows=64");
  EXPECT_EQ(args.eps, 1e-5f);
  args.weight = args.bias = {};
  args.eps = 1e-6f;
  EXPECT_EQ(text(prepare(args)),
            "layer_norm dtype=bf16 weight_dtype=none has_weight=0 fp8=none scaling=0 dim=96 vector=8 rows=64");
  EXPECT_EQ(args.eps, 1e-6f);
}

TEST(Prepare, KeyOfLayerNormSaysWhetherItLeavesMoments) {
  auto args = test::sample_layer_norm();
  const Problem without = prepare(args);
  args.moments = hstu_heads(slot(4), HSTU_DTYPE_F32, 40, 1, 2);
  const Problem with = prepare(args);
  EXPECT_EQ(text(with), text(without) + " moments=1");
  EXPECT_EQ(parse_problem(text(with)), with);
  EXPECT_EQ(parse_problem(text(without)), without) << "as records were written before there were any";
}

TEST(Prepare, KeyOfAddmm) {
  auto args = test::sample_addmm();
  EXPECT_EQ(
      text(prepare(args)),
      "addmm dtype=f16 n=96 k=64 bias=2 bias_dtype=f16 activation=1 act_columns=96 x_transposed=0 weight_transposed=0 "
      "vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=64");
  EXPECT_EQ(args.activation_columns, 96);
}

TEST(Prepare, KeyOfAddmmWithBiasRowAndPartialActivation) {
  auto args = test::sample_addmm();
  args.residual = {};
  args.bias = hstu_vector(slot(2), HSTU_DTYPE_F32, 96);
  args.activation_columns = 32;
  const Problem problem = prepare(args);
  EXPECT_EQ(problem[addmm::kBias], 1);
  EXPECT_EQ(problem[addmm::kBiasDtype], HSTU_DTYPE_F32);
  EXPECT_EQ(problem[addmm::kActColumns], 32);
}

TEST(Prepare, ActivationColumnsMeanNothingWithoutActivation) {
  auto some = test::sample_addmm(), all = test::sample_addmm();
  some.activation = all.activation = HSTU_ACTIVATION_NONE;
  some.activation_columns = 32;
  EXPECT_EQ(prepare(some), prepare(all));
  EXPECT_EQ(prepare(all)[addmm::kActColumns], 0);
}

TEST(Prepare, KeyOfAttention) {
  auto args = test::sample_attention();
  EXPECT_EQ(text(prepare(args)),
            "attention dtype=bf16 head_dim_qk=64 head_dim_v=32 num_heads=2 offset_dtype=i64 target_dtype=i32 "
            "mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=2 vector=8 batch=4 total=64 max_seq_len=32 "
            "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0");
  EXPECT_EQ(args.alpha, 0.125f);
  EXPECT_EQ(args.scaling_seqlen, 20);
}

TEST(Prepare, AttentionOptionsAreFactsNotValues) {
  auto args = test::sample_attention();
  args.mask.num_targets = {};
  args.attn_scale.shape[0] = 1;
  args.mask.contextual_seq_len = 3;
  args.mask.max_attn_len = 9;
  args.mask.min_full_attn_seq_len = 2;
  args.scaling_seqlen = 7;
  args.alpha = -0.5f;
  const Problem problem = prepare(args);
  EXPECT_EQ(problem[attention::kTargetDtype], HSTU_DTYPE_NONE);
  EXPECT_EQ(problem[attention::kAttnScale], 1);
  EXPECT_EQ(problem[attention::kContextual], 1);
  EXPECT_EQ(problem[attention::kMaxAttnLen], 1);
  EXPECT_EQ(problem[attention::kMinFullAttn], 1);
  EXPECT_EQ(args.scaling_seqlen, 7);
  EXPECT_EQ(args.alpha, -0.5f);
  auto other = args;
  other.mask.contextual_seq_len = 4;
  other.mask.max_attn_len = 10;
  EXPECT_EQ(prepare(other), problem);
}

TEST(Prepare, MinFullWithoutMaxAttnLenIsOff) {
  auto args = test::sample_attention();
  args.mask.min_full_attn_seq_len = 5;
  EXPECT_EQ(prepare(args)[attention::kMinFullAttn], 0);
  EXPECT_EQ(args.mask.min_full_attn_seq_len, 0);
}

TEST(Prepare, BoundlessOptionsFitTheKernels32Bits) {
  auto args = test::sample_attention();
  args.mask.max_attn_len = args.mask.contextual_seq_len = args.mask.min_full_attn_seq_len =
      std::numeric_limits<int64_t>::max();
  prepare(args);
  EXPECT_EQ(args.mask.max_attn_len, 1 << 30);
  EXPECT_EQ(args.mask.contextual_seq_len, 1 << 30);
  EXPECT_EQ(args.mask.min_full_attn_seq_len, 1 << 30);
}

TEST(Prepare, FullMask) {
  auto args = test::sample_attention();
  args.mask.num_targets = {};
  args.mask.kind = HSTU_MASK_FULL;
  EXPECT_EQ(prepare(args)[attention::kMask], 1);
}

TEST(Prepare, KeyOfNormMul) {
  auto args = test::sample_norm_mul();
  EXPECT_EQ(text(prepare(args)),
            "norm_mul dtype=f32 weight_dtype=f32 fp8=none scaling=0 dim=96 groups=4 activation=0 concat_u=1 concat_x=1 "
            "silu_u=1 norm=0 dropout=0 vector=4 rows=64");
}

TEST(Prepare, NormMulClearsWhatHasNoEffect) {
  auto group = test::sample_norm_mul();
  group.activation = HSTU_ACTIVATION_SIGMOID;
  EXPECT_EQ(prepare(group)[norm_mul::kActivation], HSTU_ACTIVATION_NONE);

  group = test::sample_norm_mul();
  group.concat_x = 0;
  group.out = hstu_matrix(slot(4), HSTU_DTYPE_F32, 40, 96);
  const Problem alone = prepare(group);
  EXPECT_EQ(alone[norm_mul::kConcatU], 0);
  EXPECT_EQ(alone[norm_mul::kSiluU], 1);  // of the multiplier
  EXPECT_EQ(group.concat_u, 0);

  auto layer = test::sample_norm_mul();
  layer.num_groups = 0;
  layer.weight.shape[0] = layer.bias.shape[0] = 96;
  layer.activation = HSTU_ACTIVATION_SIGMOID;
  layer.concat_u = 0;
  layer.out = hstu_matrix(slot(4), HSTU_DTYPE_F32, 40, 192);
  const Problem problem = prepare(layer);
  EXPECT_EQ(problem[norm_mul::kSiluU], 0);
  EXPECT_EQ(problem[norm_mul::kConcatX], 1);
  EXPECT_EQ(problem[norm_mul::kActivation], HSTU_ACTIVATION_SIGMOID);
}

TEST(Prepare, FillsContiguousStrides) {
  auto args = test::sample_attention();
  for (hstu_tensor* t : {&args.q, &args.k, &args.v, &args.out, &args.seq_offsets})
    for (int64_t& stride : t->stride) stride = 0;
  prepare(args);
  EXPECT_EQ(args.q.stride[0], 128);
  EXPECT_EQ(args.q.stride[1], 64);
  EXPECT_EQ(args.q.stride[2], 1);
  EXPECT_EQ(args.out.stride[0], 64);
  EXPECT_EQ(args.seq_offsets.stride[0], 1);
}

TEST(Prepare, StridesOfSingleElementsDoNotMatter) {
  auto args = test::sample_layer_norm();
  args.x = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 1, 96);
  args.out = hstu_matrix(slot(3), HSTU_DTYPE_BF16, 1, 96);
  args.x.stride[0] = 7;
  args.out.stride[0] = 1;
  EXPECT_EQ(prepare(args)[layer_norm::kVector], 8);
  EXPECT_EQ(args.x.stride[0], 96);

  args = test::sample_layer_norm();
  args.x = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 40, 1);
  args.out = hstu_matrix(slot(3), HSTU_DTYPE_BF16, 40, 1);
  args.weight.shape[0] = args.bias.shape[0] = 1;
  args.x.stride[1] = 5;
  EXPECT_NO_THROW(prepare(args));
}

// ---- Vector facts: address, strides and extent, each spoiled in turn.

struct VectorCase {
  hstu_dtype dtype;
  int64_t byte_offset, stride, dim;
  int expected;
};

TEST(Prepare, VectorIsTheLargestAccessThatAlwaysFits) {
  for (const VectorCase& c : {VectorCase{HSTU_DTYPE_BF16, 0, 512, 512, 8},  //
                              {HSTU_DTYPE_BF16, 8, 512, 512, 4},            // address
                              {HSTU_DTYPE_BF16, 4, 512, 512, 2},            //
                              {HSTU_DTYPE_BF16, 2, 512, 512, 1},            //
                              {HSTU_DTYPE_BF16, 0, 516, 512, 4},            // stride
                              {HSTU_DTYPE_BF16, 0, 514, 512, 2},            //
                              {HSTU_DTYPE_BF16, 0, 513, 512, 1},            //
                              {HSTU_DTYPE_BF16, 0, 512, 508, 4},            // extent
                              {HSTU_DTYPE_BF16, 0, 512, 507, 1},            //
                              {HSTU_DTYPE_F32, 0, 512, 512, 4},             //
                              {HSTU_DTYPE_F32, 8, 512, 512, 2},             //
                              {HSTU_DTYPE_F32, 0, 514, 512, 2},             //
                              {HSTU_DTYPE_F32, 4, 512, 512, 1}}) {
    auto args = sized<hstu_layer_norm_args>();
    args.x = {slot(0, c.byte_offset), c.dtype, 2, 0, {3, c.dim}, {c.stride, 1}};
    args.out = hstu_matrix(slot(1), c.dtype, 3, c.dim);
    EXPECT_EQ(prepare(args)[layer_norm::kVector], c.expected) << c.byte_offset << " " << c.stride << " " << c.dim;
    std::swap(args.x, args.out);
    EXPECT_EQ(prepare(args)[layer_norm::kVector], c.expected) << "of the output";
  }
}

TEST(Prepare, VectorOfWiderWeightsNeedsSixteenBytesAtMost) {
  auto args = test::sample_layer_norm();
  args.weight.data = slot(1, 16);  // 8 f32 are two accesses
  EXPECT_EQ(prepare(args)[layer_norm::kVector], 8);
  args.weight.data = slot(1, 8);
  EXPECT_EQ(prepare(args)[layer_norm::kVector], 2);
  args.weight = hstu_vector(slot(1, 4), HSTU_DTYPE_BF16, 96);
  args.bias = hstu_vector(slot(2), HSTU_DTYPE_BF16, 96);
  EXPECT_EQ(prepare(args)[layer_norm::kVector], 2);
}

TEST(Prepare, VectorOfGroupNormDividesTheGroup) {
  auto args = test::sample_norm_mul();
  args.num_groups = 16;  // of 6 elements
  args.weight.shape[0] = args.bias.shape[0] = 16;
  EXPECT_EQ(prepare(args)[norm_mul::kVector], 2);
}

TEST(Prepare, VectorOfAttentionCoversHeadsOfAllTensors) {
  auto args = test::sample_attention();
  args.k.stride[1] = 68;
  args.k.stride[0] = 136;
  EXPECT_EQ(prepare(args)[attention::kVector], 4);
  args = test::sample_attention();
  args.v = hstu_heads(slot(2), HSTU_DTYPE_BF16, 50, 2, 34);
  args.out = hstu_heads(slot(3), HSTU_DTYPE_BF16, 50, 2, 34);
  EXPECT_EQ(prepare(args)[attention::kVector], 2);
}

TEST(Prepare, VectorsOfAddmmStandForOneOperandEach) {
  auto args = test::sample_addmm();
  args.x.data = slot(0, 2);
  args.w.stride[0] = 98;
  args.residual.data = slot(2, 8);
  const Problem problem = prepare(args);
  EXPECT_EQ(problem[addmm::kVectorX], 1);
  EXPECT_EQ(problem[addmm::kVectorW], 2);
  EXPECT_EQ(problem[addmm::kVectorZ], 4);
}

// ---- Addmm's weight, stored either way.

TEST(Prepare, WeightStoredTransposed) {
  auto args = test::sample_addmm();
  args.w.stride[0] = 1;
  args.w.stride[1] = 68;
  const Problem problem = prepare(args);
  EXPECT_EQ(problem[addmm::kWeightTransposed], 1);
  EXPECT_EQ(problem[addmm::kVectorW], 4);
}

TEST(Prepare, WeightOfOneRowOrColumn) {
  auto args = test::sample_addmm();
  args.x = hstu_matrix(slot(0), HSTU_DTYPE_F16, 40, 1);
  args.w = {slot(1), HSTU_DTYPE_F16, 2, 0, {1, 96}, {4, 24}};  // stored [96, 1] in rows of 24: k = 1
  EXPECT_EQ(prepare(args)[addmm::kWeightTransposed], 1);
  EXPECT_EQ(args.w.stride[0], 1);
  EXPECT_EQ(args.w.stride[1], 24);

  args = test::sample_addmm();
  args.w = {slot(1), HSTU_DTYPE_F16, 2, 0, {64, 1}, {3, 77}};  // n = 1
  args.residual = {};
  args.out = hstu_matrix(slot(3), HSTU_DTYPE_F16, 40, 1);
  EXPECT_EQ(prepare(args)[addmm::kWeightTransposed], 0);
  EXPECT_EQ(args.w.stride[0], 3);
}

// ---- Memory that may and may not be shared.

TEST(Prepare, AllowedAliases) {
  auto norm = test::sample_layer_norm();
  norm.out = norm.x;
  EXPECT_NO_THROW(prepare(norm));
  auto addmm = test::sample_addmm();
  addmm.out = addmm.residual;
  EXPECT_NO_THROW(prepare(addmm));
  auto attention = test::sample_attention();
  attention.k = attention.q;  // inputs may be one another
  EXPECT_NO_THROW(prepare(attention));
}

TEST(Prepare, ColumnsOfOneBufferAreDistinct) {
  // u | v | q | k in rows of 384 elements; the result goes where u stood.
  auto args = test::sample_attention();
  const auto columns = [](int64_t first, int64_t dim) {
    return hstu_tensor{slot(0, 2 * first), HSTU_DTYPE_BF16, 3, 0, {50, 2, dim}, {384, dim, 1}};
  };
  args.out = columns(0, 32);
  args.v = columns(64, 32);
  args.q = columns(128, 64);
  args.k = columns(256, 64);
  EXPECT_EQ(prepare(args)[attention::kVector], 8);
  args.out = columns(32, 32);  // half on v
  try {
    prepare(args);
    ADD_FAILURE() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("out overlaps v"), std::string::npos) << error.message();
  }
}

TEST(Prepare, OutputAroundASmallInput) {
  // The bias row lies in the padding behind the output's first row.
  auto args = test::sample_addmm();
  args.residual = {};
  args.out = {slot(3), HSTU_DTYPE_F16, 2, 0, {40, 96}, {200, 1}};
  args.bias = hstu_vector(slot(3, 200), HSTU_DTYPE_F16, 96);
  EXPECT_NO_THROW(prepare(args));
  args.bias = hstu_vector(slot(3, 220), HSTU_DTYPE_F16, 96);  // runs into the second row
  EXPECT_THROW(prepare(args), Error);
}

TEST(Prepare, HeadsMayLieOutsideRows) {
  auto args = test::sample_attention();
  args.out.stride[0] = 32;
  args.out.stride[1] = 50 * 32;
  EXPECT_NO_THROW(prepare(args));
}

TEST(Prepare, BroadcastInputsAreFine) {
  auto args = test::sample_addmm();
  args.residual.stride[0] = 0;
  EXPECT_EQ(prepare(args)[addmm::kVectorZ], 4);  // of lines that overlap
}

// ---- Zero sizes, with null data.

TEST(Prepare, ZeroSizesAreLegal) {
  auto norm = test::sample_layer_norm();
  norm.x = norm.out = hstu_matrix(nullptr, HSTU_DTYPE_F16, 0, 96);
  EXPECT_EQ(prepare(norm)[layer_norm::kRows], 0);
  norm.x = norm.out = hstu_matrix(nullptr, HSTU_DTYPE_F16, 7, 0);
  norm.weight = norm.bias = hstu_vector(nullptr, HSTU_DTYPE_F16, 0);
  EXPECT_EQ(prepare(norm)[layer_norm::kDim], 0);

  for (const auto& [m, k, n] : {std::array<int64_t, 3>{0, 64, 96}, {40, 0, 96}, {40, 64, 0}, {0, 0, 0}}) {
    auto addmm = test::sample_addmm();
    addmm.x = hstu_matrix(m * k > 0 ? slot(0) : nullptr, HSTU_DTYPE_F16, m, k);
    addmm.w = hstu_matrix(k * n > 0 ? slot(1) : nullptr, HSTU_DTYPE_F16, k, n);
    addmm.out = hstu_matrix(m * n > 0 ? slot(2) : nullptr, HSTU_DTYPE_F16, m, n);
    addmm.residual = {};
    addmm.bias = hstu_vector(n > 0 ? slot(3) : nullptr, HSTU_DTYPE_F16, n);
    const Problem problem = prepare(addmm);
    EXPECT_EQ(problem[addmm::kN], n);
    EXPECT_EQ(problem[addmm::kK], k);
  }

  auto attention = test::sample_attention();
  for (hstu_tensor* t : {&attention.q, &attention.k}) *t = hstu_heads(nullptr, HSTU_DTYPE_BF16, 0, 2, 64);
  for (hstu_tensor* t : {&attention.v, &attention.out}) *t = hstu_heads(nullptr, HSTU_DTYPE_BF16, 0, 2, 32);
  attention.attn_scale = hstu_vector(nullptr, HSTU_DTYPE_F32, 0);
  EXPECT_EQ(prepare(attention)[attention::kTotal], 0);
  attention.seq_offsets.shape[0] = 1;  // no sequence at all
  attention.mask.num_targets = hstu_vector(nullptr, HSTU_DTYPE_I32, 0);
  EXPECT_EQ(prepare(attention)[attention::kBatch], 0);

  auto norm_mul = test::sample_norm_mul();
  norm_mul.attn = norm_mul.u = hstu_matrix(nullptr, HSTU_DTYPE_F32, 0, 96);
  norm_mul.out = hstu_matrix(nullptr, HSTU_DTYPE_F32, 0, 288);
  EXPECT_EQ(prepare(norm_mul)[norm_mul::kRows], 0);
}

TEST(Prepare, PreparedArgsPrepareToTheSame) {
  const auto twice = [](auto args) {
    const Problem first = prepare(args);
    EXPECT_EQ(prepare(args), first);
  };
  twice(test::sample_layer_norm());
  twice(test::sample_addmm());
  twice(test::sample_attention());
  twice(test::sample_norm_mul());
}

}  // namespace
}  // namespace hstujit
