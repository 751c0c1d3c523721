// FP8 attention on the device against exact attention of the same e4m3 values: head dims, lengths, masks, scalings,
// integer types and layouts. Rows outside every sequence are NaN in the inputs and must stay untouched in the output.
#include "support/attention_cases.hpp"
#include "support/fp8_weights.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

using test::AttentionCase;
using test::HostMemory;
using test::Placement;
using test::ragged;
using test::Scale;
using test::Targets;
using Args = hstu_attention_fp8_args;

constexpr hstu_dtype kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;
constexpr auto kTensor = HSTU_FP8_ATTENTION_TENSOR, kHead = HSTU_FP8_ATTENTION_HEAD,
               kSequence = HSTU_FP8_ATTENTION_SEQUENCE, kBlock = HSTU_FP8_ATTENTION_BLOCK;

struct Case {
  AttentionCase attention;  ///< its dtype is out's
  hstu_fp8_attention_scaling scaling = kTensor;
  int32_t fast_sums = 0;
  int octaves = 0;  ///< by which scales differ more than that, while stored values use the range of e4m3
};

/// What values are stored with where they use the range of e4m3.
constexpr float kStored = 64;

std::string name_of_case(const Case& c) {
  return fmt::format("{}_c{}f{}", test::name_of_case(c.attention), static_cast<int>(c.scaling), c.fast_sums) +
         (c.octaves > 0 ? fmt::format("o{}", c.octaves) : "");
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

/// Scales between a half and one and a half times the one of normal data stored with its deviation, times octaves.
hstu_tensor descale(HostMemory& memory, const Case& c, int64_t heads, int64_t total) {
  const int64_t batch = static_cast<int64_t>(c.attention.lengths.size());
  const auto factor = [&] {
    if (c.octaves == 0) return 1.0f;
    return std::ldexp(1 / kStored,
                      -static_cast<int>(memory.random_numbers().below(static_cast<unsigned>(c.octaves + 1))));
  };
  const auto random = [&](std::initializer_list<int64_t> shape) {
    const hstu_tensor t = memory.random(HSTU_DTYPE_F32, shape, {.row_padding = shape.size() == 2 ? 3 : 0});
    const int64_t rows = shape.size() == 2 ? t.shape[0] : 1, columns = shape.size() == 2 ? t.shape[1] : t.shape[0];
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        static_cast<float*>(t.data)[i * t.stride[0] + j] =
            factor() * (0.5f + static_cast<float>(memory.random_numbers().below(1000)) * 1e-3f);
    return t;
  };
  if (c.scaling == kTensor) return memory.floats({0.9f});
  if (c.scaling == kHead) return random({heads});
  return random({c.scaling == kSequence ? batch : (total + 127) / 128, heads});
}

/// A tensor of e4m3 with the shape and the placing of `like`.
hstu_tensor e4m3_like(HostMemory& memory, const Case& of, const hstu_tensor& like, int64_t rows) {
  const AttentionCase& c = of.attention;
  hstu_tensor t;
  if (c.placement == Placement::heads) {
    t = test::transposed(memory.poison(HSTU_DTYPE_E4M3, {like.shape[1], like.shape[0], like.shape[2]}, c.layout));
  } else {
    t = memory.poison(HSTU_DTYPE_E4M3, {like.shape[0], like.shape[1], like.shape[2]}, c.layout);
  }
  test::randomise(test::rows_of(t, 0, rows), memory.random_numbers(), 0, of.octaves > 0 ? kStored : 1.0f);
  return t;
}

Args args_of(HostMemory& memory, const Case& c) {
  const hstu_attention_args a = test::attention_args(memory, c.attention);
  const int64_t total = a.q.shape[0], rows = total - c.attention.spare_rows;
  Args args{};
  args.struct_size = sizeof args;
  args.q = e4m3_like(memory, c, a.q, rows);
  args.k = e4m3_like(memory, c, a.k, rows);
  args.v = e4m3_like(memory, c, a.v, rows);
  args.out = a.out;
  args.scaling = c.scaling;
  args.q_descale = descale(memory, c, args.q.shape[1], total);
  args.k_descale = descale(memory, c, args.k.shape[1], total);
  args.v_descale = descale(memory, c, args.v.shape[1], total);
  args.seq_offsets = a.seq_offsets, args.mask.num_targets = a.mask.num_targets, args.attn_scale = a.attn_scale;
  args.mask.intervals = a.mask.intervals, args.mask.num_contexts = a.mask.num_contexts;
  args.mask.kind = a.mask.kind;
  args.max_seq_len = a.max_seq_len;
  args.mask.contextual_seq_len = a.mask.contextual_seq_len;
  args.mask.max_attn_len = a.mask.max_attn_len, args.mask.min_full_attn_seq_len = a.mask.min_full_attn_seq_len;
  args.mask.target_group_size = a.mask.target_group_size;
  args.mask.window_left = a.mask.window_left, args.mask.window_right = a.mask.window_right;
  args.fast_sums = c.fast_sums;
  return args;
}

class AttentionFp8Sweep : public testing::TestWithParam<Case> {};

TEST_P(AttentionFp8Sweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = args_of(memory, GetParam());
  // Rounded weights make 2.7e-2 on average.
  test::expect_correct(memory, args, {{&Args::out, {3.5e-2, 3}, test::error_of_fp8_weights(args)}});
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const hstu_dtype dtype : {kBf16, kF16})
    for (const int64_t dim : {16, 32, 48, 64, 96, 112, 128, 160, 192, 224, 256})
      all.push_back({{.dtype = dtype, .dim_qk = dim, .dim_v = dim, .lengths = ragged()}, kHead});
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{64, 128},
                              {128, 64},
                              {32, 16},
                              {16, 256},
                              {256, 32},
                              {40, 24},
                              {100, 72},
                              {7, 5},
                              {255, 250}})
    all.push_back({{.heads = 3, .dim_qk = qk, .dim_v = v, .lengths = ragged()}, kSequence});
  for (const auto scaling : {kTensor, kHead, kSequence, kBlock})
    for (const hstu_dtype dtype : {kBf16, kF16})
      all.push_back(
          {{.dtype = dtype, .dim_qk = 128, .dim_v = 128, .lengths = ragged(), .scale = Scale::rows}, scaling});
  const std::vector<int64_t> lengths{200, 0, 67, 129, 1, 40, 260, 7};
  for (const auto scaling : {kTensor, kSequence, kBlock})
    for (const Targets targets : {Targets::absent, Targets::some, Targets::many})
      for (const int64_t contextual : {0, 33})
        for (const int64_t window : {0, 17, 64})
          all.push_back({{.dim_qk = 128,
                          .dim_v = 64,
                          .lengths = lengths,
                          .contextual = contextual,
                          .max_attn_len = window,
                          .min_full = window / 3,
                          .own_contexts = contextual > 0 && window > 0,
                          .targets = targets,
                          .group = window / 8},
                         scaling,
                         0,
                         scaling == kBlock ? 4 : 0});
  for (const auto& [left, right] : {std::pair<int64_t, int64_t>{2, 1}, {-1, 0}, {64, 30}, {-1, -1}})
    for (const auto scaling : {kTensor, kBlock})
      all.push_back({{.lengths = lengths, .mask = HSTU_MASK_LOCAL, .left = left, .right = right}, scaling});
  for (const auto scaling : {kHead, kBlock})
    all.push_back({{.lengths = lengths, .mask = HSTU_MASK_FULL}, scaling, 0, scaling == kBlock ? 4 : 0});
  all.push_back({{.lengths = {2700, 3, 2100}, .offset_dtype = HSTU_DTYPE_I32, .target_dtype = HSTU_DTYPE_I64}});
  all.push_back({{.dim_qk = 128, .dim_v = 128, .lengths = {4500}, .max_seq_len = 1000}, kTensor, 0});
  all.push_back({{.dim_qk = 128, .dim_v = 128, .lengths = {4500}, .targets = Targets::some}, kTensor, 1});
  const std::vector<int64_t> longer{1000, 3, 2100, 0, 2700, 1};
  for (const int32_t fast_sums : {0, 1}) {
    all.push_back({{.dim_qk = 128, .dim_v = 128, .lengths = longer}, kBlock, fast_sums, 4});
    all.push_back(
        {{.lengths = longer, .contextual = 5, .max_attn_len = 300, .targets = Targets::many}, kBlock, fast_sums, 4});
  }
  for (const auto& [qk, v] : {std::pair<int64_t, int64_t>{16, 32}, {48, 80}, {96, 160}, {256, 256}})
    all.push_back({{.dim_qk = qk, .dim_v = v, .lengths = lengths}, kBlock, 0, 4});
  for (const int64_t padding : {1, 2, 4, 8, 16}) {
    all.push_back({{.lengths = ragged(), .layout = {.row_padding = padding}}, kHead});
    all.push_back({{.lengths = ragged(), .layout = {.shift = padding}}, kHead});
  }
  all.push_back({{.lengths = ragged(), .placement = Placement::heads}, kSequence});
  all.push_back({{.heads = 1, .lengths = {0, 0}, .max_seq_len = 8}});
  all.push_back({{.heads = 1, .lengths = {}, .max_seq_len = 8}});
  return all;
}

/// Heads of q that share heads of k and v, and their scales.
std::vector<Case> grouped() {
  std::vector<Case> all;
  for (const auto scaling : {kTensor, kHead, kSequence, kBlock})
    for (const auto& [heads, kv] : {std::pair<int64_t, int64_t>{4, 2}, {6, 1}})
      all.push_back({{.heads = heads, .dim_qk = 128, .dim_v = 128, .kv_heads = kv, .lengths = ragged()}, scaling});
  all.push_back({{.dtype = kF16, .heads = 8, .dim_qk = 64, .dim_v = 32, .kv_heads = 2, .lengths = ragged()}, kHead});
  all.push_back({{.heads = 4,
                  .kv_heads = 2,
                  .lengths = {200, 0, 67, 129},
                  .contextual = 9,
                  .max_attn_len = 40,
                  .min_full = 20,
                  .targets = Targets::some},
                 kSequence});
  all.push_back(
      {{.heads = 4, .kv_heads = 2, .lengths = {200, 67}, .mask = HSTU_MASK_INTERVALS, .intervals = 2}, kSequence});
  all.push_back({{.heads = 4, .dim_qk = 50, .dim_v = 25, .kv_heads = 2, .lengths = ragged()}, kHead});
  return all;
}
/// Masks given as data, as many intervals as descriptions of tiles lie in registers, or more; dim 50 dequantised.
std::vector<Case> intervals() {
  std::vector<Case> all;
  const std::vector<int64_t> lengths{200, 0, 67, 129, 1, 40, 260, 7}, longer{1000, 3, 2100, 0, 2700, 1};
  const auto of = [](int64_t count, int64_t heads, std::vector<int64_t> of_lengths, int64_t dim_qk, int64_t dim_v,
                     hstu_dtype dtype = kBf16) {
    return AttentionCase{.dtype = dtype,
                         .dim_qk = dim_qk,
                         .dim_v = dim_v,
                         .lengths = std::move(of_lengths),
                         .mask = HSTU_MASK_INTERVALS,
                         .intervals = count,
                         .interval_heads = heads};
  };
  for (const auto scaling : {kTensor, kHead, kSequence, kBlock})
    for (const int64_t count : {1, 2, 3, 5}) all.push_back({of(count, 1, lengths, 128, 64), scaling, 0, 0});
  for (const auto scaling : {kHead, kBlock}) {
    const int octaves = scaling == kBlock ? 4 : 0;
    all.push_back({of(1, 2, longer, 128, 128), scaling, 0, octaves});
    all.push_back({of(2, 1, longer, 64, 64, kF16), scaling, 1});  // smaller ones would be no normal numbers
    all.push_back({of(3, 2, ragged(), 256, 256), scaling, 0, octaves});
    all.push_back({of(32, 1, lengths, 32, 96), scaling, 0, octaves});
    all.push_back({of(2, 1, lengths, 50, 25), scaling});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Intervals, AttentionFp8Sweep, testing::ValuesIn(intervals()),
                         [](const auto& c) { return name_of_case(c.param); });
INSTANTIATE_TEST_SUITE_P(Grouped, AttentionFp8Sweep, testing::ValuesIn(grouped()),
                         [](const auto& c) { return name_of_case(c.param); });
INSTANTIATE_TEST_SUITE_P(Cases, AttentionFp8Sweep, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of_case(c.param); });

}  // namespace
}  // namespace hstujit
