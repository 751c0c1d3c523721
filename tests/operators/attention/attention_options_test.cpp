// What all attention operators take in common, mask options, scales and intervals: each of them refuses bad ones and
// names the field.
#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kInfinity;
using test::kNan;
using test::slot;

constexpr hstu_status kInvalid = HSTU_ERROR_INVALID_ARGUMENT, kShape = HSTU_ERROR_SHAPE_MISMATCH,
                      kDtype = HSTU_ERROR_UNSUPPORTED_DTYPE, kUnsupported = HSTU_ERROR_UNSUPPORTED;

template <class Args>
Args sample() {
  if constexpr (op_of<Args>() == Op::attention) return test::sample_attention();
  if constexpr (op_of<Args>() == Op::attention_fp8) return test::sample_attention_fp8();
  if constexpr (op_of<Args>() == Op::delta_attention) return test::sample_delta();
  if constexpr (op_of<Args>() == Op::paged_attention) return test::sample_paged();
}

/// Another mask, without the targets that belong to the causal one.
template <class Args>
void set_mask(Args& a, hstu_mask mask) {
  a.mask.kind = mask;
  a.mask.num_targets = {};
  if constexpr (op_of<Args>() == Op::paged_attention) a.k = a.v = {};  // of which targets' rows are read
}

template <class Args>
hstu_tensor intervals(const Args& a, int64_t heads, int64_t bounds) {
  return {slot(20), HSTU_DTYPE_I32, 3, 0, {heads, bounds, a.q.shape[0]}, {}};
}

/// Mask INTERVALS with two for each row.
template <class Args>
void set_intervals(Args& a) {
  set_mask(a, HSTU_MASK_INTERVALS);
  a.mask.intervals = intervals(a, 1, 3);
}

template <class Args>
class AttentionOptions : public testing::Test {
 protected:
  template <class Spoil>
  static void refused(hstu_status status, const char* text, const Spoil& spoil) {
    Args args = sample<Args>();
    ASSERT_NO_THROW(prepare(args));
    spoil(args);
    try {
      prepare(args);
      ADD_FAILURE() << "it was accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status) << error.message();
      EXPECT_NE(error.message().find(text), std::string::npos) << error.message();
    }
  }
};
using Operators =
    testing::Types<hstu_attention_args, hstu_attention_fp8_args, hstu_delta_attention_args, hstu_paged_attention_args>;
TYPED_TEST_SUITE(AttentionOptions, Operators);

TYPED_TEST(AttentionOptions, NumbersOutOfRangeAreNamed) {
  this->refused(kInvalid, "alpha = nan", [](auto& a) { a.alpha = kNan; });
  this->refused(kInvalid, "alpha = inf", [](auto& a) { a.alpha = kInfinity; });
  this->refused(kInvalid, "mask.kind = -1", [](auto& a) { test::set_code(a.mask.kind, -1); });
  this->refused(kInvalid, "mask.kind = 4", [](auto& a) { test::set_code(a.mask.kind, 4); });
  this->refused(kInvalid, "max_seq_len = 0", [](auto& a) { a.max_seq_len = 0; });
  this->refused(kInvalid, "scaling_seqlen = -1", [](auto& a) { a.scaling_seqlen = -1; });
  this->refused(kInvalid, "contextual_seq_len = -1", [](auto& a) { a.mask.contextual_seq_len = -1; });
  this->refused(kInvalid, "max_attn_len = -2", [](auto& a) { a.mask.max_attn_len = -2; });
  this->refused(kInvalid, "min_full_attn_seq_len = -3", [](auto& a) { a.mask.min_full_attn_seq_len = -3; });
  this->refused(kInvalid, "target_group_size = -4", [](auto& a) { a.mask.target_group_size = -4; });
}

TYPED_TEST(AttentionOptions, OptionsOfAnotherMaskAreNamed) {
  this->refused(kInvalid, "window_left = 3", [](auto& a) { a.mask.window_left = 3; });
  this->refused(kInvalid, "window_right = -1", [](auto& a) { a.mask.window_right = -1; });
  this->refused(kInvalid, "intervals is there", [](auto& a) { a.mask.intervals = intervals(a, 1, 3); });
  for (const hstu_mask mask : {HSTU_MASK_FULL, HSTU_MASK_LOCAL, HSTU_MASK_INTERVALS}) {
    const auto with = [&](auto change) {
      return [mask, change](auto& a) {
        set_mask(a, mask);
        change(a);
      };
    };
    this->refused(kInvalid, "num_targets is there", [&](auto& a) { a.mask.kind = mask; });
    this->refused(kInvalid, "num_contexts is there",
                  with([](auto& a) { a.mask.num_contexts = hstu_vector(slot(21), HSTU_DTYPE_I32, 3); }));
    this->refused(kInvalid, "contextual_seq_len = 1", with([](auto& a) { a.mask.contextual_seq_len = 1; }));
    this->refused(kInvalid, "max_attn_len = 7", with([](auto& a) { a.mask.max_attn_len = 7; }));
    this->refused(kInvalid, "min_full_attn_seq_len = 7", with([](auto& a) { a.mask.min_full_attn_seq_len = 7; }));
    this->refused(kInvalid, "target_group_size = 2", with([](auto& a) { a.mask.target_group_size = 2; }));
  }
}

TYPED_TEST(AttentionOptions, BadIntervalsAreNamed) {
  this->refused(kInvalid, "intervals is absent", [](auto& a) { set_mask(a, HSTU_MASK_INTERVALS); });
  const auto with = [](auto change) {
    return [change](auto& a) {
      set_intervals(a);
      change(a);
    };
  };
  this->refused(kDtype, "intervals.dtype = i64", with([](auto& a) { a.mask.intervals.dtype = HSTU_DTYPE_I64; }));
  this->refused(kInvalid, "intervals.rank = 2", with([](auto& a) { a.mask.intervals.rank = 2; }));
  this->refused(kShape, "intervals.shape[0] = 7", with([](auto& a) { a.mask.intervals = intervals(a, 7, 3); }));
  this->refused(kShape, "intervals.shape[1] = 0", with([](auto& a) { a.mask.intervals.shape[1] = 0; }));
  this->refused(kShape, "intervals.shape[1] = 4", with([](auto& a) { a.mask.intervals = intervals(a, 1, 4); }));
  this->refused(kUnsupported, "intervals.shape[1] = 65", with([](auto& a) { a.mask.intervals = intervals(a, 1, 65); }));
  this->refused(kShape, "intervals.shape[2] = 9", with([](auto& a) { a.mask.intervals.shape[2] = 9; }));
  this->refused(kInvalid, "out overlaps intervals", with([](auto& a) { a.mask.intervals.data = a.out.data; }));
}

TYPED_TEST(AttentionOptions, BadScalesAndContextsAreNamed) {
  const auto scaled = [](hstu_dtype dtype, int64_t count) {
    return [dtype, count](auto& a) { a.attn_scale = hstu_vector(slot(22), dtype, count); };
  };
  this->refused(kDtype, "attn_scale.dtype = bf16", scaled(HSTU_DTYPE_BF16, 1));
  this->refused(kShape, "attn_scale.shape[0] = 2", scaled(HSTU_DTYPE_F32, 2));
  this->refused(kShape, "attn_scale.shape[0] = 0", scaled(HSTU_DTYPE_F32, 0));
  this->refused(kInvalid, "out overlaps attn_scale",
                [](auto& a) { a.attn_scale = hstu_vector(a.out.data, HSTU_DTYPE_F32, 1); });
  const auto own = [](hstu_dtype dtype, int64_t count) {
    return [dtype, count](auto& a) { a.mask.num_contexts = hstu_vector(slot(21), dtype, count); };
  };
  this->refused(kDtype, "num_contexts.dtype = f32", own(HSTU_DTYPE_F32, 3));
  this->refused(kShape, "num_contexts.shape[0] = 4", own(HSTU_DTYPE_I64, 4));
  this->refused(kInvalid, "contextual_seq_len = 2", [&](auto& a) {
    own(HSTU_DTYPE_I64, 3)(a);
    a.mask.contextual_seq_len = 2;
  });
  this->refused(kInvalid, "out overlaps num_contexts",
                [](auto& a) { a.mask.num_contexts = hstu_vector(a.out.data, HSTU_DTYPE_I64, 3); });
}

}  // namespace
}  // namespace hstujit
