// Tensor maps have no strides of 0: what kernels of sm_90 take contiguous goes, expanded, to families that load by
// themselves.
#include "families/family.hpp"
#include "operators/operators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit {
namespace {

constexpr hstu_dtype kBf16 = HSTU_DTYPE_BF16;

/// The start of a buffer that is never read; buffers lie 256 tebibytes apart.
void* buffer(int index) { return reinterpret_cast<void*>(static_cast<uintptr_t>(index) << 48); }

bool has_sm90(const Problem& problem) {
  const auto families = families_for(problem, *facts_of_target("sm_90a"));
  EXPECT_FALSE(families.empty()) << text(problem);
  return std::ranges::any_of(families, [](const Family* f) { return f->name.ends_with("_sm90"); });
}

/// args are a call that a family of sm_90 covers; the tensors of these names are expanded one by one, along each
/// dimension but the last.
template <class Args>
void expect_left(Args args, std::initializer_list<hstu_tensor Args::*> tensors) {
  args.struct_size = sizeof args;
  Args contiguous = args;
  ASSERT_TRUE(has_sm90(prepare(contiguous)));
  for (const auto member : tensors)
    for (int d = 0; d + 1 < (contiguous.*member).rank; ++d) {
      Args expanded = contiguous;
      (expanded.*member).stride[d] = 0;
      SCOPED_TRACE("tensor at " + std::to_string(reinterpret_cast<uintptr_t>((expanded.*member).data) >> 48) +
                   ", dimension " + std::to_string(d));
      EXPECT_FALSE(has_sm90(prepare(expanded)));
    }
}

TEST(Expanded, AttentionTakesNoTensorMap) {
  hstu_attention_args args{};
  args.q = hstu_heads(buffer(1), kBf16, 4096, 4, 128);
  args.k = hstu_heads(buffer(2), kBf16, 4096, 4, 128);
  args.v = hstu_heads(buffer(3), kBf16, 4096, 4, 128);
  args.out = hstu_heads(buffer(4), kBf16, 4096, 4, 128);
  args.seq_offsets = hstu_vector(buffer(5), HSTU_DTYPE_I64, 9);
  args.max_seq_len = 512;
  using Args = hstu_attention_args;
  expect_left(args, {&Args::q, &Args::k, &Args::v});
}

TEST(Expanded, FlashAttentionTakesNoTensorMap) {
  hstu_flash_attention_args args{};
  int index = 0;
  for (hstu_tensor* t : {&args.q, &args.k, &args.v, &args.out})
    *t = {buffer(++index), kBf16, 4, 0, {2, 4, 512, 128}, {}};
  args.mask.kind = HSTU_MASK_FULL;
  using Args = hstu_flash_attention_args;
  expect_left(args, {&Args::q, &Args::k, &Args::v});
}

TEST(Expanded, AProductTakesNoTensorMap) {
  hstu_addmm_args args{};
  args.x = hstu_matrix(buffer(1), kBf16, 4096, 512);
  args.w = hstu_matrix(buffer(2), kBf16, 512, 512);
  args.residual = hstu_matrix(buffer(3), kBf16, 4096, 512);
  args.out = hstu_matrix(buffer(4), kBf16, 4096, 512);
  using Args = hstu_addmm_args;
  expect_left(args, {&Args::x, &Args::w, &Args::residual});
}

TEST(Expanded, AJaggedProductTakesNoTensorMap) {
  hstu_jagged_dense_bmm_broadcast_add_args args{};
  args.jagged = hstu_matrix(buffer(1), kBf16, 4096, 128);
  args.dense = hstu_heads(buffer(2), kBf16, 8, 128, 256);
  args.bias = hstu_matrix(buffer(3), kBf16, 4096, 256);
  args.elementwise = 1;
  args.out = hstu_matrix(buffer(4), kBf16, 4096, 256);
  args.seq_offsets = hstu_vector(buffer(5), HSTU_DTYPE_I64, 9);
  using Args = hstu_jagged_dense_bmm_broadcast_add_args;
  expect_left(args, {&Args::jagged, &Args::bias});
  // One matrix for all sequences is a map of one plane.
  args.struct_size = sizeof args;
  prepare(args);
  args.dense.stride[0] = 0;
  EXPECT_TRUE(has_sm90(prepare(args)));
  args.dense.stride[1] = 0;
  EXPECT_FALSE(has_sm90(prepare(args)));
}

TEST(Expanded, AnFp8ProductTakesNoTensorMap) {
  hstu_fp8_gemm_args args{};
  args.x = hstu_matrix(buffer(1), HSTU_DTYPE_E4M3, 4096, 512);
  args.w = hstu_matrix(buffer(2), HSTU_DTYPE_E4M3, 512, 512);
  args.x_descale = hstu_vector(buffer(5), HSTU_DTYPE_F32, 4096);
  args.w_descale = hstu_vector(buffer(6), HSTU_DTYPE_F32, 512);
  args.x_scaling = args.w_scaling = HSTU_FP8_ROW;
  args.residual = hstu_matrix(buffer(3), kBf16, 4096, 512);
  args.out = hstu_matrix(buffer(4), kBf16, 4096, 512);
  using Args = hstu_fp8_gemm_args;
  expect_left(args, {&Args::x, &Args::w, &Args::residual});
}

}  // namespace
}  // namespace hstujit
