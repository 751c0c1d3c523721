// HSTU_EXACT_ZERO, in every member whose 0 means a default: the reference computes with exactly 0.
#include "operators/sample_args.hpp"
#include "support/element.hpp"
#include "support/small_calls.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hstujit {
namespace {

/// Whether the attribute's 0 is a default that -0 turns off.
bool has_exact_zero(const ScalarSlot& slot) {
  return slot.name == "eps" || slot.name == "alpha" || slot.name == "scale" || slot.name == "amin";
}

double number_at(const ArgsBytes& args, const ScalarSlot& slot) {
  const std::byte* const at = args.bytes.data() + slot.offset;
  return slot.kind == ScalarSlot::Kind::f64 ? *reinterpret_cast<const double*>(at)
                                            : static_cast<double>(*reinterpret_cast<const float*>(at));
}

void set_number(ArgsBytes& args, const ScalarSlot& slot, double value) {
  std::byte* const at = args.data() + slot.offset;
  if (slot.kind == ScalarSlot::Kind::f64)
    *reinterpret_cast<double*>(at) = value;
  else
    *reinterpret_cast<float*>(at) = static_cast<float>(value);
}

TEST(ExactZero, StaysWhereZeroIsADefault) {
  int met = 0;
  for (const Calls& calls : test::small_calls()) {
    const test::SmallCall call(calls);
    for (const ScalarSlot& slot : call.op().scalars) {
      if (!has_exact_zero(slot)) continue;
      SCOPED_TRACE(calls.name + ": " + std::string(slot.name));
      ASSERT_TRUE(slot.kind == ScalarSlot::Kind::f32 || slot.kind == ScalarSlot::Kind::f64);
      ArgsBytes args = call.args();
      set_number(args, slot, 0);
      call.op().prepare(args.data());
      EXPECT_GT(number_at(args, slot), 0);
      args = call.args();
      set_number(args, slot, HSTU_EXACT_ZERO);
      for (int times = 0; times < 2; ++times) {
        ASSERT_NO_THROW(call.op().prepare(args.data()));
        EXPECT_EQ(number_at(args, slot), 0);
        EXPECT_TRUE(std::signbit(number_at(args, slot)));
      }
      ++met;
    }
  }
  EXPECT_GT(met, 18);
}

TEST(ExactZero, IsNoTimeBucket) {
  for (const Calls& calls : test::small_calls()) {
    const test::SmallCall call(calls);
    if (call.op().op != Op::add_timestamp_positional_embeddings) continue;
    ArgsBytes args = call.args();
    reinterpret_cast<hstu_add_timestamp_positional_embeddings_args*>(args.data())->time_bucket_increments =
        HSTU_EXACT_ZERO;
    call.op().prepare(args.data());
    EXPECT_EQ(reinterpret_cast<hstu_add_timestamp_positional_embeddings_args*>(args.data())->time_bucket_increments,
              60.0f);
  }
}

TEST(ExactZero, OfEpsNormalisesByTheVarianceAlone) {
  const std::vector<float> x = {1e-3f, -1e-3f, 1e-3f, -1e-3f};
  std::vector<float> out(4);
  auto layer = sized<hstu_layer_norm_args>();
  layer.x = hstu_matrix(x.data(), HSTU_DTYPE_F32, 1, 4);
  layer.out = hstu_matrix(out.data(), HSTU_DTYPE_F32, 1, 4);
  layer.eps = HSTU_EXACT_ZERO;
  prepare(layer);
  reference::run(layer);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? 1.0f : -1.0f);
  auto rms = sized<hstu_rms_norm_args>();
  rms.x = layer.x, rms.out = layer.out;
  rms.eps = static_cast<double>(HSTU_EXACT_ZERO);
  prepare(rms);
  reference::run(rms);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? 1.0f : -1.0f);
}

TEST(ExactZero, OfAScaleWeighsAllKeysAlike) {
  const std::vector<float> q = {1, 2, 3, 4}, v = {1, 5, 2, 10};
  std::vector<float> out(2);
  auto args = sized<hstu_flash_attention_args>();
  args.q = {const_cast<float*>(q.data()), HSTU_DTYPE_F32, 4, 0, {1, 1, 2, 1}, {}};
  args.k = {const_cast<float*>(q.data()), HSTU_DTYPE_F32, 4, 0, {1, 1, 4, 1}, {}};
  args.v = {const_cast<float*>(v.data()), HSTU_DTYPE_F32, 4, 0, {1, 1, 4, 1}, {}};
  args.out = {out.data(), HSTU_DTYPE_F32, 4, 0, {1, 1, 2, 1}, {}};
  args.mask.kind = HSTU_MASK_FULL;
  args.scale = static_cast<double>(HSTU_EXACT_ZERO);
  prepare(args);
  reference::run(args);
  EXPECT_EQ(out[0], 4.5f);
  EXPECT_EQ(out[1], 4.5f);
}

TEST(ExactZero, OfAlphaLeavesNothingOfSiluAndOfX) {
  const std::vector<float> x = {1, 2}, table = {3, 4};
  const std::vector<int64_t> offsets = {0, 1};
  std::vector<float> out(2, -1.0f);
  auto silu = sized<hstu_attention_args>();
  silu.q = silu.k = silu.v = hstu_heads(x.data(), HSTU_DTYPE_F32, 1, 1, 2);
  silu.out = hstu_heads(out.data(), HSTU_DTYPE_F32, 1, 1, 2);
  silu.seq_offsets = hstu_vector(offsets.data(), HSTU_DTYPE_I64, 2);
  silu.max_seq_len = 1;
  silu.alpha = HSTU_EXACT_ZERO;
  prepare(silu);
  reference::run(silu);
  EXPECT_EQ(out[0], 0.0f);
  EXPECT_EQ(out[1], 0.0f);
  auto position = sized<hstu_add_positional_embeddings_args>();
  position.x = hstu_matrix(x.data(), HSTU_DTYPE_F32, 1, 2);
  position.position_embeddings = hstu_matrix(table.data(), HSTU_DTYPE_F32, 1, 2);
  position.out = hstu_matrix(out.data(), HSTU_DTYPE_F32, 1, 2);
  position.seq_offsets = silu.seq_offsets;
  position.alpha = HSTU_EXACT_ZERO;
  prepare(position);
  reference::run(position);
  EXPECT_EQ(out, table);
}

/// Rows of zeros, of a number whose quotient overflows, and of one whose does not.
TEST(ExactZero, OfAminLeavesUnitsTheirOwnScale) {
  const std::vector<float> x = {0, 0, 1e-38f, -1e-38f, 1e-20f, -1e-20f};
  std::vector<uint8_t> q(6, 0xff);
  std::vector<float> descale(3, -1.0f);
  auto args = sized<hstu_quantize_fp8_args>();
  args.x = hstu_matrix(x.data(), HSTU_DTYPE_F32, 3, 2);
  args.q = hstu_matrix(q.data(), HSTU_DTYPE_E4M3, 3, 2);
  args.descale = hstu_vector(descale.data(), HSTU_DTYPE_F32, 3);
  args.scaling = HSTU_FP8_ROW;
  args.amin = HSTU_EXACT_ZERO;
  for (const int32_t power_of_two : {0, 1}) {
    args.power_of_two = power_of_two;
    prepare(args);
    reference::run(args);
    EXPECT_EQ(descale[0], 0.0f);
    EXPECT_EQ(q[0] & 0x7f, 0);
    EXPECT_EQ(q[1] & 0x7f, 0);
    if (power_of_two == 0) {
      EXPECT_EQ(descale[1], 0.0f);
      EXPECT_EQ(q[2] & 0x7f, 0);
    }
    EXPECT_GE(descale[2], 1e-20f / 448);
    EXPECT_NEAR(E4m3::widen(q[4]) * static_cast<double>(descale[2]), 1e-20, 1e-21);
  }
  args.amin = 0;
  args.power_of_two = 0;
  prepare(args);
  reference::run(args);
  EXPECT_EQ(descale[0], 1e-12f / 448);
}

}  // namespace
}  // namespace hstujit
