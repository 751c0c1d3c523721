// The reference of FP8 attention: attention of the dequantised tensors, whatever the scales belong to.
#include "operators/operators.hpp"
#include "support/host_tensor.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hstujit {
namespace {

using test::HostMemory;
using Args = hstu_attention_fp8_args;

constexpr int64_t kRows = 300, kHeads = 2, kDim = 16, kBatch = 3;
const std::vector<int64_t> kOffsets{0, 10, 200, kRows};

/// Scales that all differ; the element's number is the one that hstu_attention_fp8_args says.
hstu_tensor descale(HostMemory& memory, hstu_fp8_attention_scaling scaling, float first, int64_t heads) {
  const auto values = [&](int64_t count) {
    std::vector<float> v;
    for (int64_t i = 0; i < count; ++i) v.push_back(first * static_cast<float>(i + 1));
    return memory.floats(v);
  };
  const auto matrix = [&](int64_t rows) {
    hstu_tensor t = values(rows * heads);
    t.rank = 2;
    t.shape[0] = rows, t.shape[1] = heads;
    t.stride[0] = heads, t.stride[1] = 1;
    return t;
  };
  if (scaling == HSTU_FP8_ATTENTION_TENSOR) return values(1);
  if (scaling == HSTU_FP8_ATTENTION_HEAD) return values(heads);
  return matrix(scaling == HSTU_FP8_ATTENTION_SEQUENCE ? kBatch : (kRows + 127) / 128);
}

float scale_of(hstu_fp8_attention_scaling scaling, float first, int64_t row, int64_t head, int64_t heads) {
  const int64_t sequence = row < 10 ? 0 : row < 200 ? 1 : 2;
  switch (scaling) {
    case HSTU_FP8_ATTENTION_TENSOR:
      return first;
    case HSTU_FP8_ATTENTION_HEAD:
      return first * static_cast<float>(head + 1);
    case HSTU_FP8_ATTENTION_SEQUENCE:
      return first * static_cast<float>(sequence * heads + head + 1);
    case HSTU_FP8_ATTENTION_BLOCK:
      return first * static_cast<float>(row / 128 * heads + head + 1);
  }
  return 0;
}

/// The tensor dequantised by hand.
hstu_tensor wide(HostMemory& memory, const hstu_tensor& t, hstu_fp8_attention_scaling scaling, float first) {
  const int64_t heads = t.shape[1];
  hstu_tensor out = memory.poison(HSTU_DTYPE_F32, {kRows, heads, kDim});
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t d = 0; d < kDim; ++d) {
        const uint8_t code = static_cast<const uint8_t*>(t.data)[i * t.stride[0] + h * t.stride[1] + d];
        const double value = E4m3::widen(code) * static_cast<double>(scale_of(scaling, first, i, h, heads));
        static_cast<float*>(out.data)[i * out.stride[0] + h * out.stride[1] + d] = static_cast<float>(value);
      }
  return out;
}

struct Form {
  hstu_fp8_attention_scaling scaling;
  int64_t kv_heads;
};
class ReferenceAttentionFp8 : public testing::TestWithParam<Form> {};

TEST_P(ReferenceAttentionFp8, IsAttentionOfTheDequantised) {
  HostMemory memory;
  auto args = sized<Args>();
  const int64_t kv_heads = GetParam().kv_heads;
  args.q = memory.random(HSTU_DTYPE_E4M3, {kRows, kHeads, kDim}, {.row_padding = 3});
  for (hstu_tensor* t : {&args.k, &args.v})
    *t = memory.random(HSTU_DTYPE_E4M3, {kRows, kv_heads, kDim}, {.row_padding = 3});
  args.out = memory.poison(HSTU_DTYPE_F16, {kRows, kHeads, kDim});
  args.scaling = GetParam().scaling;
  args.q_descale = descale(memory, args.scaling, 0.5f, kHeads);
  args.k_descale = descale(memory, args.scaling, 0.25f, kv_heads);
  args.v_descale = descale(memory, args.scaling, 2.0f, kv_heads);
  args.seq_offsets = memory.integers(HSTU_DTYPE_I32, kOffsets);
  args.max_seq_len = 190;
  args.mask.max_attn_len = 30;
  prepare(args);
  std::vector<double> got(kRows * kHeads * kDim), want(got);
  double* const to_got[] = {got.data()};
  reference::run(args, to_got);

  hstu_attention_args exact{};
  exact.struct_size = sizeof exact;
  exact.q = wide(memory, args.q, args.scaling, 0.5f);
  exact.k = wide(memory, args.k, args.scaling, 0.25f);
  exact.v = wide(memory, args.v, args.scaling, 2.0f);
  exact.out = memory.poison(HSTU_DTYPE_F32, {kRows, kHeads, kDim});
  exact.seq_offsets = args.seq_offsets;
  exact.max_seq_len = 190;
  exact.mask.max_attn_len = 30;
  prepare(exact);
  double* const to_want[] = {want.data(), nullptr, nullptr};
  reference::run(exact, to_want);
  EXPECT_EQ(got, want);
  reference::run(args);  // and rounded
  for (int64_t d = 0; d < kDim; ++d)
    EXPECT_EQ(static_cast<const uint16_t*>(args.out.data)[5 * kHeads * kDim + d],
              F16::round(want[static_cast<size_t>(5 * kHeads * kDim + d)]));
}

INSTANTIATE_TEST_SUITE_P(Scalings, ReferenceAttentionFp8,
                         testing::Values(Form{HSTU_FP8_ATTENTION_TENSOR, 2}, Form{HSTU_FP8_ATTENTION_HEAD, 2},
                                         Form{HSTU_FP8_ATTENTION_SEQUENCE, 2}, Form{HSTU_FP8_ATTENTION_BLOCK, 2}));
INSTANTIATE_TEST_SUITE_P(GroupedHeads, ReferenceAttentionFp8,
                         testing::Values(Form{HSTU_FP8_ATTENTION_TENSOR, 1}, Form{HSTU_FP8_ATTENTION_HEAD, 1},
                                         Form{HSTU_FP8_ATTENTION_SEQUENCE, 1}, Form{HSTU_FP8_ATTENTION_BLOCK, 1}));

}  // namespace
}  // namespace hstujit
