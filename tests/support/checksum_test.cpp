// The reference against the checksums of the specification's appendix: inputs by formula, results as two sums.
#include "operators/operators.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hstujit::reference {
namespace {

/// Tensor `id` of the appendix, in f32: scale * (((37 index + 11 id) mod 23) - 11) / 11 + shift.
std::vector<float> generated(int id, size_t count, double scale = 1, double shift = 0) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) {
    const double value = (static_cast<double>((37 * i + 11 * static_cast<size_t>(id)) % 23) - 11) / 11;
    out[i] = static_cast<float>(scale * value + shift);
  }
  return out;
}

/// Sum of y and sum of (index + 1) y; inputs rounded to f32 move them by some 1e-7 of the sums of magnitudes.
void expect_sums(const std::vector<double>& y, double s0, double s1) {
  double got0 = 0, got1 = 0, size0 = 0, size1 = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const double weight = static_cast<double>(i + 1);
    got0 += y[i];
    got1 += weight * y[i];
    size0 += std::fabs(y[i]);
    size1 += weight * std::fabs(y[i]);
  }
  EXPECT_NEAR(got0, s0, 3e-7 * size0);
  EXPECT_NEAR(got1, s1, 3e-7 * size1);
}

/// Unrounded results of an operator's first output; kMostOutputs pointers, since others are optional.
constexpr int kMostOutputs = 4;

template <class Args>
std::vector<double> exact_values(const Args& args, size_t count) {
  std::vector<double> exact(count);
  double* const outputs[kMostOutputs] = {exact.data()};
  run(args, outputs);
  return exact;
}

struct AttentionCase {
  const char* name;
  int contextual, max_attn_len, min_full;
  bool targets;
  double s0, s1;
};

class AttentionChecksum : public testing::TestWithParam<AttentionCase> {};

TEST_P(AttentionChecksum, IsReproduced) {
  const AttentionCase& c = GetParam();
  const auto q = generated(1, 15 * 2 * 3), k = generated(2, 15 * 2 * 3), v = generated(3, 15 * 2 * 2);
  const int32_t offsets[] = {0, 11, 11, 14, 15};
  const int64_t targets[] = {2, 0, 1, 0};
  std::vector<float> out(15 * 2 * 2);
  auto args = sized<hstu_attention_args>();
  args.q = hstu_heads(q.data(), HSTU_DTYPE_F32, 15, 2, 3);
  args.k = hstu_heads(k.data(), HSTU_DTYPE_F32, 15, 2, 3);
  args.v = hstu_heads(v.data(), HSTU_DTYPE_F32, 15, 2, 2);
  args.out = hstu_heads(out.data(), HSTU_DTYPE_F32, 15, 2, 2);
  args.seq_offsets = hstu_vector(offsets, HSTU_DTYPE_I32, 5);
  if (c.targets) args.mask.num_targets = hstu_vector(targets, HSTU_DTYPE_I64, 4);
  args.alpha = 0.5f;
  args.max_seq_len = 8;
  args.mask.contextual_seq_len = c.contextual;
  args.mask.max_attn_len = c.max_attn_len;
  args.mask.min_full_attn_seq_len = c.min_full;
  prepare(args);
  std::vector<double> exact(out.size());
  double* const outputs[kMostOutputs] = {exact.data()};
  run(args, outputs);
  expect_sums(exact, c.s0, c.s1);
}

INSTANTIATE_TEST_SUITE_P(Appendix, AttentionChecksum,
                         testing::Values(AttentionCase{"a", 0, 0, 0, false, 0.0817063215, 2.22447063},
                                         AttentionCase{"b", 0, 0, 0, true, 0.0816133592, 2.20930633},
                                         AttentionCase{"c", 3, 0, 0, true, 0.198920954, 5.56886933},
                                         AttentionCase{"d", 0, 2, 0, true, 0.0129553257, 0.683360315},
                                         AttentionCase{"e", 0, 2, 2, true, 0.0469215806, 1.68595196},
                                         AttentionCase{"f", 3, 2, 0, true, 0.142710202, 4.1986375},
                                         AttentionCase{"g", 1, 1, 1, true, 0.00275696542, 1.0100802}),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(DeltaAttentionChecksum, IsReproduced) {
  const auto q = generated(1, 17 * 2 * 3), k = generated(2, 17 * 2 * 3), v = generated(3, 17 * 2 * 2);
  const int32_t offsets[] = {0, 11, 13, 17};
  const int64_t targets[] = {2, 1, 0};
  std::vector<float> new_q;
  for (const int32_t end : {11, 13, 17}) new_q.insert(new_q.end(), q.begin() + (end - 2) * 6, q.begin() + end * 6);
  std::vector<float> out(6 * 2 * 2);
  auto args = sized<hstu_delta_attention_args>();
  args.q = hstu_heads(new_q.data(), HSTU_DTYPE_F32, 6, 2, 3);
  args.k = hstu_heads(k.data(), HSTU_DTYPE_F32, 17, 2, 3);
  args.v = hstu_heads(v.data(), HSTU_DTYPE_F32, 17, 2, 2);
  args.out = hstu_heads(out.data(), HSTU_DTYPE_F32, 6, 2, 2);
  args.seq_offsets = hstu_vector(offsets, HSTU_DTYPE_I32, 4);
  args.mask.num_targets = hstu_vector(targets, HSTU_DTYPE_I64, 3);
  args.alpha = 0.5f;
  args.max_seq_len = 8;
  args.mask.max_attn_len = 2;
  prepare(args);
  expect_sums(exact_values(args, out.size()), 0.102873135, 0.698743464);
}

/// The appendix's sequences one by one, so that options may differ between them; spoil sets those of sequence b.
template <class Spoil>
std::vector<double> exact_by_sequence(const Spoil& spoil) {
  const auto q = generated(1, 15 * 2 * 3), k = generated(2, 15 * 2 * 3), v = generated(3, 15 * 2 * 2);
  const int64_t starts[] = {0, 11, 11, 14, 15};
  std::vector<double> all;
  for (int b = 0; b < 4; ++b) {
    const int64_t n = starts[b + 1] - starts[b];
    const int64_t offsets[] = {0, n};
    std::vector<float> out(static_cast<size_t>(n * 4));
    auto args = sized<hstu_attention_args>();
    args.q = hstu_heads(q.data() + starts[b] * 6, HSTU_DTYPE_F32, n, 2, 3);
    args.k = hstu_heads(k.data() + starts[b] * 6, HSTU_DTYPE_F32, n, 2, 3);
    args.v = hstu_heads(v.data() + starts[b] * 4, HSTU_DTYPE_F32, n, 2, 2);
    args.out = hstu_heads(out.data(), HSTU_DTYPE_F32, n, 2, 2);
    args.seq_offsets = hstu_vector(offsets, HSTU_DTYPE_I64, 2);
    args.alpha = 0.5f;
    args.max_seq_len = 8;
    spoil(args, b);
    prepare(args);
    const auto exact = exact_values(args, out.size());
    all.insert(all.end(), exact.begin(), exact.end());
  }
  return all;
}

TEST(ExtendedAttentionChecksum, ContextsAndGroupsOfTargetsAreReproduced) {
  static const int64_t contexts[] = {2, 0, 1, 0}, targets[] = {4, 0, 0, 0};
  const auto exact = exact_by_sequence([](hstu_attention_args& args, int b) {
    args.mask.contextual_seq_len = contexts[b];
    args.mask.num_targets = hstu_vector(&targets[b], HSTU_DTYPE_I64, 1);
    args.mask.target_group_size = 2;
  });
  expect_sums(exact, 0.055301657, -0.714636286);
}

TEST(ExtendedAttentionChecksum, LocalWindowIsReproduced) {
  const auto exact = exact_by_sequence([](hstu_attention_args& args, int) {
    args.mask.kind = HSTU_MASK_LOCAL;
    args.mask.window_left = 2;
    args.mask.window_right = 1;
  });
  expect_sums(exact, 0.149055395, 2.34255149);
}

/// Softmax attention of the appendix's tensors, by its own operator and as heads of hstu_attention.
TEST(SoftmaxAttentionChecksum, IsReproducedByBothOperators) {
  const auto q = generated(1, 15 * 2 * 3), k = generated(2, 15 * 2 * 3), v = generated(3, 15 * 2 * 2);
  const int32_t offsets[] = {0, 11, 11, 14, 15};
  std::vector<float> out(15 * 2 * 2);
  const auto fill = [&](auto& args) {
    args.struct_size = sizeof args;
    args.q = hstu_heads(q.data(), HSTU_DTYPE_F32, 15, 2, 3);
    args.k = hstu_heads(k.data(), HSTU_DTYPE_F32, 15, 2, 3);
    args.v = hstu_heads(v.data(), HSTU_DTYPE_F32, 15, 2, 2);
    args.out = hstu_heads(out.data(), HSTU_DTYPE_F32, 15, 2, 2);
    args.seq_offsets = hstu_vector(offsets, HSTU_DTYPE_I32, 5);
    args.max_seq_len = 8;
  };
  hstu_flash_attention_args flash{};
  fill(flash);
  flash.scale = 0.5f;
  prepare(flash);
  expect_sums(exact_values(flash, out.size()), -3.23968405, -88.5798633);
  hstu_attention_args heads{};
  fill(heads);
  heads.alpha = 0.5f;
  heads.num_softmax_heads = 2;
  prepare(heads);
  expect_sums(exact_values(heads, out.size()), -3.23968405, -88.5798633);
}

TEST(LayerNormChecksum, IsReproduced) {
  const auto x = generated(5, 18), weight = generated(6, 6, 0.5, 1), bias = generated(7, 6);
  std::vector<float> y(18);
  auto args = sized<hstu_layer_norm_args>();
  args.x = hstu_matrix(x.data(), HSTU_DTYPE_F32, 3, 6);
  args.weight = hstu_vector(weight.data(), HSTU_DTYPE_F32, 6);
  args.bias = hstu_vector(bias.data(), HSTU_DTYPE_F32, 6);
  args.out = hstu_matrix(y.data(), HSTU_DTYPE_F32, 3, 6);
  prepare(args);
  EXPECT_EQ(args.eps, 1e-5f);
  std::vector<double> exact(18);
  double* const outputs[kMostOutputs] = {exact.data()};
  run(args, outputs);
  expect_sums(exact, 1.21736509, 19.7624871);
}

struct NormMulCase {
  const char* name;
  int groups;
  int concat_u, concat_x, silu_u;
  hstu_activation activation;
  double s0, s1;
};

class NormMulChecksum : public testing::TestWithParam<NormMulCase> {};

TEST_P(NormMulChecksum, IsReproduced) {
  const NormMulCase& c = GetParam();
  const auto attn = generated(5, 18), weight = generated(6, 6, 0.5, 1), bias = generated(7, 6), u = generated(9, 18);
  const int64_t columns = 6 * (1 + c.concat_u + c.concat_x), weights = c.groups ? c.groups : 6;
  std::vector<float> out(static_cast<size_t>(3 * columns));
  auto args = sized<hstu_norm_mul_args>();
  args.attn = hstu_matrix(attn.data(), HSTU_DTYPE_F32, 3, 6);
  args.u = hstu_matrix(u.data(), HSTU_DTYPE_F32, 3, 6);
  args.weight = hstu_vector(weight.data(), HSTU_DTYPE_F32, weights);
  args.bias = hstu_vector(bias.data(), HSTU_DTYPE_F32, weights);
  args.out = hstu_matrix(out.data(), HSTU_DTYPE_F32, 3, columns);
  args.activation = c.activation;
  args.concat_u = c.concat_u;
  args.concat_x = c.concat_x;
  args.silu_u = c.silu_u;
  args.num_groups = c.groups;
  prepare(args);
  std::vector<double> exact(out.size());
  double* const outputs[kMostOutputs] = {exact.data()};
  run(args, outputs);
  expect_sums(exact, c.s0, c.s1);
}

INSTANTIATE_TEST_SUITE_P(
    Appendix, NormMulChecksum,
    testing::Values(NormMulCase{"Plain", 0, 0, 0, 0, HSTU_ACTIVATION_NONE, 4.47104415, 54.3368073},
                    NormMulCase{"ConcatUx", 0, 1, 1, 1, HSTU_ACTIVATION_SIGMOID, 2.3531755, 104.584536},
                    NormMulCase{"ConcatX", 0, 0, 1, 0, HSTU_ACTIVATION_SILU, 0.484708053, 47.163776},
                    NormMulCase{"Groups", 2, 1, 1, 1, HSTU_ACTIVATION_NONE, 1.46334275, 107.579188}),
    [](const auto& c) { return std::string(c.param.name); });

struct GatedCase {
  const char* name;
  hstu_activation activation;
  int32_t activate_gate;
  double s0, s1;
};

class GatedMlpChecksum : public testing::TestWithParam<GatedCase> {};

TEST_P(GatedMlpChecksum, IsReproduced) {
  const auto x = generated(13, 12), gate = generated(14, 20), up = generated(15, 20);
  std::vector<float> out(15);
  auto args = sized<hstu_gated_mlp_args>();
  args.x = hstu_matrix(x.data(), HSTU_DTYPE_F32, 3, 4);
  args.gate = {const_cast<float*>(gate.data()), HSTU_DTYPE_F32, 2, 0, {4, 5}, {1, 4}};
  args.up = {const_cast<float*>(up.data()), HSTU_DTYPE_F32, 2, 0, {4, 5}, {1, 4}};
  args.out = hstu_matrix(out.data(), HSTU_DTYPE_F32, 3, 5);
  args.activation = GetParam().activation;
  args.activate_gate = GetParam().activate_gate;
  prepare(args);
  std::vector<double> exact(out.size());
  double* const outputs[kMostOutputs] = {exact.data()};
  run(args, outputs);
  expect_sums(exact, GetParam().s0, GetParam().s1);
}

INSTANTIATE_TEST_SUITE_P(Appendix, GatedMlpChecksum,
                         testing::Values(GatedCase{"SiluOnUp", HSTU_ACTIVATION_SILU, 0, -4.72457083, -41.9099427},
                                         GatedCase{"GeluOnUp", HSTU_ACTIVATION_GELU, 0, -4.71243141, -40.1730506},
                                         GatedCase{"SwiGlu", HSTU_ACTIVATION_SILU, 1, -5.06484378, -52.8494692}),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace hstujit::reference
