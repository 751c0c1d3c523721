// Addresses beyond 32 bits: rows that lie millions of elements apart, and tensors of more than 2^31 elements; more of
// these in many_elements_test.cpp.
#include "support/large.hpp"

#include "support/attention_cases.hpp"
#include "workload/stack.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using test::expect_large;
using test::HostMemory;
using test::LargeMemory;
using test::many_rows;
using test::PeriodicSequences;
using test::repeated;
using test::unless_too_small;

constexpr hstu_dtype kBf16 = HSTU_DTYPE_BF16;
constexpr int64_t kRows = 2100;                      ///< so that rows * stride passes 2^31 elements
constexpr int64_t kStride = (int64_t{1} << 20) + 8;  ///< elements; a multiple of 8 keeps vectors aligned

/// A tensor's copy whose rows lie far apart: columns of one buffer of kRows rows.
class SpreadColumns {
 public:
  explicit SpreadColumns(LargeMemory& memory) : memory_(memory), base_(memory.allocate(kRows * kStride * 2)) {}

  /// Places the next columns and fills them with the dense host tensor's rows.
  hstu_tensor place(const hstu_tensor& host) {
    hstu_tensor t = host;
    t.data = base_ + 2 * next_;
    t.stride[0] = kStride;
    next_ += (host.stride[0] + 15) / 8 * 8;
    memory_.upload_rows(static_cast<std::byte*>(t.data), host, kStride);
    return t;
  }
  void fetch(const hstu_tensor& host, const hstu_tensor& placed) {
    memory_.download_rows(host, static_cast<const std::byte*>(placed.data), kStride);
  }

 private:
  LargeMemory& memory_;
  std::byte* base_;
  int64_t next_ = 0;
};

/// The call with the named tensors spread out; the others are copied as they are.
template <class Args>
void expect_correct_when_spread(const Args& args, hstu_tensor Args::*output,
                                std::initializer_list<hstu_tensor Args::*> spread, const test::Tolerance& tolerance) {
  LargeMemory memory;
  SpreadColumns columns(memory);
  Args moved = args;
  for (const TensorSlot& slot : operator_of(op_of<Args>()).tensors) {
    hstu_tensor& t = tensor_at(&moved, slot);
    const bool far = std::any_of(spread.begin(), spread.end(), [&](auto member) { return &(moved.*member) == &t; });
    if (!present(t)) continue;
    if (far) {
      t = columns.place(t);
    } else {
      std::byte* const copy = memory.allocate(extent_bytes(t));
      (*memory).upload(copy, t.data, static_cast<size_t>(extent_bytes(t)));
      t.data = copy;
    }
  }
  ASSERT_EQ(call_operator(test::test_device()->context, op_of<Args>(), &moved, nullptr), HSTU_OK) << hstu_last_error();
  (*memory).synchronise();
  columns.fetch(args.*output, moved.*output);
  EXPECT_TRUE(test::close(args.*output, test::exact_result(args, output), tolerance));
}

/// Operators that turn rows of x into rows of y, with these attributes.
template <class Args>
void expect_far_rows(Args args) {
  HSTU_NEEDS_RESULTS();
  unless_too_small([&] {
    HostMemory memory;
    args.struct_size = sizeof args;
    args.x = memory.random(kBf16, {kRows, 512});
    args.out = memory.poison(kBf16, {kRows, 512});
    expect_correct_when_spread(args, &Args::out, {&Args::x, &Args::out}, test::rounded_once(kBf16));
  });
}

TEST(FarRows, LayerNorm) { expect_far_rows(hstu_layer_norm_args{}); }
TEST(FarRows, RmsNorm) { expect_far_rows(hstu_rms_norm_args{}); }
TEST(FarRows, SwishLayerNorm) { expect_far_rows(hstu_swish_layer_norm_args{}); }
TEST(FarRows, Softmax) { expect_far_rows(hstu_softmax_args{}); }
TEST(FarRows, GroupNorm) {
  hstu_group_norm_args args{};
  args.num_groups = 4;
  expect_far_rows(args);
}
TEST(FarRows, Dropout) {
  hstu_dropout_args args{};
  args.ratio = 0.5f;
  expect_far_rows(args);
}

TEST(FarRows, RmsNormRope) {
  HSTU_NEEDS_RESULTS();
  unless_too_small([] {
    HostMemory memory;
    using Args = hstu_rms_norm_rope_args;
    auto args = sized<Args>();
    args.x = memory.random(kBf16, {kRows, 1, 512});
    args.out = memory.poison(kBf16, {kRows, 1, 512});
    args.weight = memory.random(kBf16, {512});
    args.cosine = memory.random(kBf16, {1, 64});
    args.sine = memory.random(kBf16, {1, 64});
    expect_correct_when_spread(args, &Args::out, {&Args::x, &Args::out}, test::rounded_once(kBf16));
  });
}

TEST(FarRows, NormMul) {
  HSTU_NEEDS_RESULTS();
  unless_too_small([] {
    HostMemory memory;
    auto args = sized<hstu_norm_mul_args>();
    args.attn = memory.random(kBf16, {kRows, 256});
    args.u = memory.random(kBf16, {kRows, 256});
    args.weight = memory.random(kBf16, {256});
    args.bias = memory.random(kBf16, {256});
    args.out = memory.poison(kBf16, {kRows, 768});
    args.concat_u = args.concat_x = 1;
    using Args = hstu_norm_mul_args;
    expect_correct_when_spread(args, &Args::out, {&Args::attn, &Args::u, &Args::out}, test::rounded_once(kBf16));
  });
}

TEST(FarRows, AddmmOperandsResidualAndResult) {
  HSTU_NEEDS_RESULTS();
  unless_too_small([] {
    HostMemory memory;
    auto args = sized<hstu_addmm_args>();
    args.x = memory.random(kBf16, {kRows, 64});
    args.w = memory.random(kBf16, {64, 96}, {}, 0, 0.1);
    args.residual = memory.random(kBf16, {kRows, 96});
    args.out = memory.poison(kBf16, {kRows, 96});
    using Args = hstu_addmm_args;
    expect_correct_when_spread(args, &Args::out, {&Args::x, &Args::residual, &Args::out}, test::rounded_once(kBf16));
  });
}

TEST(FarRows, AddmmWeight) {
  HSTU_NEEDS_RESULTS();
  unless_too_small([] {
    HostMemory memory;
    auto args = sized<hstu_addmm_args>();
    args.x = memory.random(kBf16, {kRows, kRows});
    args.w = memory.random(kBf16, {kRows, 64}, {}, 0, 0.02);
    args.out = memory.poison(kBf16, {kRows, 64});
    using Args = hstu_addmm_args;
    expect_correct_when_spread(args, &Args::out, {&Args::w, &Args::out}, test::rounded_once(kBf16));
  });
}

TEST(FarRows, Attention) {
  HSTU_NEEDS_RESULTS();
  unless_too_small([] {
    HostMemory memory;
    const auto args = test::attention_args(memory, {.lengths = {1000, 20, 77, 1000}});
    ASSERT_LE(args.q.shape[0], kRows);
    using Args = hstu_attention_args;
    expect_correct_when_spread(args, &Args::out, {&Args::q, &Args::k, &Args::v, &Args::out},
                               test::attention_tolerance(kBf16));
  });
}

// ---- Dense tensors of more than 2^31 elements

TEST(ManyElements, LayerNorm) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    HostMemory host;
    LargeMemory memory;
    auto args = sized<hstu_layer_norm_args>();
    args.x = host.random(kBf16, {1000, 512});
    args.out = host.poison(kBf16, {1000, 512});
    hstu_layer_norm_args large = args;
    const int64_t rows = many_rows(512, 1000);
    large.x = repeated(memory, args.x, rows);
    large.out = repeated(memory, args.out, rows);
    expect_large(memory, large, args, &hstu_layer_norm_args::out, test::rounded_once(kBf16));
  });
}

TEST(ManyElements, NormMul) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    HostMemory host;
    LargeMemory memory;
    auto args = sized<hstu_norm_mul_args>();
    args.attn = host.random(kBf16, {1000, 512});
    args.u = host.random(kBf16, {1000, 512});
    args.weight = host.random(kBf16, {512});
    args.bias = host.random(kBf16, {512});
    args.out = host.poison(kBf16, {1000, 1536});
    args.concat_u = args.concat_x = 1;
    hstu_norm_mul_args large = args;
    const int64_t rows = many_rows(1536, 1000);
    for (hstu_tensor hstu_norm_mul_args::*t :
         {&hstu_norm_mul_args::attn, &hstu_norm_mul_args::u, &hstu_norm_mul_args::out})
      large.*t = repeated(memory, args.*t, rows);
    large.weight = repeated(memory, args.weight, 512);
    large.bias = repeated(memory, args.bias, 512);
    expect_large(memory, large, args, &hstu_norm_mul_args::out, test::rounded_once(kBf16));
  });
}

TEST(ManyElements, Addmm) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    HostMemory host;
    LargeMemory memory;
    auto args = sized<hstu_addmm_args>();
    args.x = host.random(kBf16, {1000, 32});
    args.w = host.random(kBf16, {32, 1024}, {}, 0, 0.2);
    args.out = host.poison(kBf16, {1000, 1024});
    hstu_addmm_args large = args;
    const int64_t rows = many_rows(1024, 1000);
    large.x = repeated(memory, args.x, rows);
    large.w = repeated(memory, args.w, 32);
    large.out = repeated(memory, args.out, rows);
    expect_large(memory, large, args, &hstu_addmm_args::out, test::rounded_once(kBf16));
  });
}

TEST(ManyElements, Attention) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    HostMemory host;
    LargeMemory memory;
    const std::vector<int64_t> lengths{65, 1, 130, 0, 4};  // 200 rows a period
    const auto args =
        test::attention_args(host, {.heads = 4, .dim_qk = 128, .dim_v = 128, .lengths = lengths, .spare_rows = 0});
    const int64_t rows = many_rows(512, 200);
    std::vector<int64_t> all;
    for (int64_t i = 0; i < rows / 200; ++i) all.insert(all.end(), lengths.begin(), lengths.end());
    const hstu_tensor offsets = host.integers(HSTU_DTYPE_I64, test::offsets_of(all));
    hstu_attention_args large = args;
    for (hstu_tensor hstu_attention_args::*t :
         {&hstu_attention_args::q, &hstu_attention_args::k, &hstu_attention_args::v, &hstu_attention_args::out})
      large.*t = repeated(memory, args.*t, rows);
    large.seq_offsets = repeated(memory, offsets, offsets.shape[0]);
    expect_large(memory, large, args, &hstu_attention_args::out, test::attention_tolerance(kBf16));
  });
}

TEST(ManyElements, JaggedReduceSum) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    HostMemory host;
    LargeMemory memory;
    const int64_t rows = many_rows(512, 1000);
    const PeriodicSequences sequences(host, rows);
    auto args = sized<hstu_jagged_reduce_sum_args>();
    args.jagged = host.random(kBf16, {1000, 512});
    args.seq_offsets = sequences.one;
    args.out = host.poison(kBf16, {3, 512});
    hstu_jagged_reduce_sum_args large = args;
    large.jagged = repeated(memory, args.jagged, rows);
    large.seq_offsets = repeated(memory, sequences.many, sequences.many.shape[0]);
    large.out = repeated(memory, args.out, rows / 1000 * 3);
    expect_large(memory, large, args, &hstu_jagged_reduce_sum_args::out, test::rounded_once(kBf16));
  });
}

TEST(ManyElements, PaddedMatricesAndBack) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    HostMemory host;
    LargeMemory memory;
    const int64_t rows = many_rows(512, 1000);
    const PeriodicSequences sequences(host, rows);
    auto args = sized<hstu_jagged_to_padded_dense_args>();
    args.values = host.random(kBf16, {1000, 512});
    args.offsets = sequences.one;
    args.out = host.poison(kBf16, {3, 600, 512});
    args.padding = 2;
    hstu_jagged_to_padded_dense_args large = args;
    large.values = repeated(memory, args.values, rows);
    large.offsets = repeated(memory, sequences.many, sequences.many.shape[0]);
    large.out = repeated(memory, args.out, rows / 1000 * 3);
    const test::Tolerance exact{0, 0};
    expect_large(memory, large, args, &hstu_jagged_to_padded_dense_args::out, exact);

    auto back = sized<hstu_dense_to_jagged_args>();
    back.dense = args.out;  // the last period, as it came from the device
    back.offsets = args.offsets;
    back.out = host.poison(kBf16, {1000, 512});
    auto large_back = back;
    large_back.dense = large.out;
    large_back.offsets = large.offsets;
    large_back.out = large.values;
    expect_large(memory, large_back, back, &hstu_dense_to_jagged_args::out, exact);
  });
}

TEST(ManyElements, TruncatedHistory) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    HostMemory host;
    LargeMemory memory;
    using Args = hstu_jagged_truncate_history_args;
    const int64_t periods = many_rows(512, 710) / 710;
    const PeriodicSequences sequences(host, periods * 1000);
    auto args = sized<Args>();
    args.values = host.random(kBf16, {1000, 512});
    args.seq_offsets = sequences.one;
    args.out = host.poison(kBf16, {710, 512});  // 300 and 410 rows stay
    args.out_offsets = host.poison(HSTU_DTYPE_I64, {4});
    args.contextual_seq_len = 10;
    args.keep = 400;
    Args large = args;
    large.values = repeated(memory, args.values, periods * 1000);
    large.seq_offsets = repeated(memory, sequences.many, sequences.many.shape[0]);
    large.out = repeated(memory, args.out, periods * 710);
    large.out_offsets = repeated(memory, sequences.many, sequences.many.shape[0]);
    expect_large(memory, large, args, &Args::out, {0, 0});
  });
}

}  // namespace
}  // namespace hstujit
