// Attention, caches and intervals on the device with as many targets as their type counts, and with fewer than none.
#include "support/extreme_targets.hpp"

#include "support/cache_cases.hpp"

namespace hstujit {
namespace {

using test::HostMemory;
using test::Targets;

const std::vector<int64_t> kLengths{70, 0, 33, 1, 129, 16, 64};
constexpr auto kNumber = [](const auto& info) { return "n" + std::to_string(info.index); };

// ---- attention

class ExtremeTargets : public testing::TestWithParam<test::AttentionCase> {};

TEST_P(ExtremeTargets, OfAttention) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_dtype dtype : {HSTU_DTYPE_I32, HSTU_DTYPE_I64}) {
    HostMemory memory;
    auto args = test::attention_args(memory, GetParam());
    args.mask.num_targets = test::as_many_as_there_are(memory, dtype, args.mask.num_targets.shape[0]);
    test::expect_correct(memory, args, &hstu_attention_args::out, test::attention_tolerance(GetParam().dtype));
  }
}

TEST_P(ExtremeTargets, OfAttentionBelowZero) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  test::expect_no_targets<hstu_attention_args>(
      memory, test::attention_args(memory, GetParam()),
      {{&hstu_attention_args::out, test::attention_tolerance(GetParam().dtype)}});
}

INSTANTIATE_TEST_SUITE_P(Masks, ExtremeTargets,
                         testing::Values(test::AttentionCase{.lengths = kLengths, .targets = Targets::some},
                                         test::AttentionCase{.lengths = kLengths, .targets = Targets::some, .group = 3},
                                         test::AttentionCase{
                                             .lengths = kLengths, .contextual = 3, .targets = Targets::some},
                                         test::AttentionCase{.lengths = kLengths,
                                                             .contextual = 3,
                                                             .max_attn_len = 20,
                                                             .min_full = 2,
                                                             .own_contexts = true,
                                                             .targets = Targets::some},
                                         test::AttentionCase{.dtype = HSTU_DTYPE_F32,
                                                             .dim_qk = 24,
                                                             .dim_v = 40,
                                                             .lengths = kLengths,
                                                             .contextual = 2,
                                                             .targets = Targets::some,
                                                             .group = 2}),
                         kNumber);

// ---- caches

class ExtremeTargetsOfCaches : public testing::TestWithParam<test::CacheCase> {};

TEST_P(ExtremeTargetsOfCaches, OfDeltaAttention) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = test::delta_args(memory, GetParam());
  const test::Tolerance tolerance = test::attention_tolerance(GetParam().dtype);
  test::expect_no_targets<hstu_delta_attention_args>(memory, args, {{&hstu_delta_attention_args::out, tolerance}});
  args.mask.num_targets = test::as_many_as_there_are(memory, HSTU_DTYPE_I64, args.mask.num_targets.shape[0]);
  test::expect_correct(memory, args, &hstu_delta_attention_args::out, tolerance);
}

TEST_P(ExtremeTargetsOfCaches, OfPagedAttentionBelowZero) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  test::expect_no_targets<hstu_paged_attention_args>(
      memory, test::paged_args(memory, GetParam()),
      {{&hstu_paged_attention_args::out, test::attention_tolerance(GetParam().dtype)}});
}

TEST_P(ExtremeTargetsOfCaches, OfAppending) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = test::append_args(memory, GetParam());
  const test::Tolerance exact{0, 0};
  const std::vector<test::Expected<hstu_append_kv_cache_args>> outputs{{&hstu_append_kv_cache_args::k_cache, exact},
                                                                       {&hstu_append_kv_cache_args::v_cache, exact}};
  for (const hstu_dtype dtype : {HSTU_DTYPE_I32, HSTU_DTYPE_I64}) {
    args.num_targets = test::as_many_as_there_are(memory, dtype, args.num_targets.shape[0]);
    test::expect_correct(memory, args, outputs);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Caches, ExtremeTargetsOfCaches,
    testing::Values(
        test::CacheCase{.lengths = kLengths, .delta = 12, .targets = Targets::some},
        test::CacheCase{.lengths = kLengths, .delta = -20, .targets = Targets::some, .contextual = 2},
        test::CacheCase{
            .dtype = HSTU_DTYPE_F32, .lengths = kLengths, .delta = 5, .targets = Targets::some, .group = 2}),
    kNumber);

// ---- intervals

TEST(ExtremeTargetsOfIntervals, AreAllOrNone) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto offsets = test::offsets_of(kLengths);
  auto args = sized<hstu_build_sla_func_args>();
  args.seq_offsets = memory.integers(HSTU_DTYPE_I64, offsets);
  args.intervals = memory.poison(HSTU_DTYPE_I32, {2, 3, offsets.back()});
  args.last_keys = 5, args.first_keys = 2, args.contextual_seq_len = 1;
  for (const hstu_dtype dtype : {HSTU_DTYPE_I32, HSTU_DTYPE_I64}) {
    args.num_targets = test::as_many_as_there_are(memory, dtype, static_cast<int64_t>(kLengths.size()));
    test::expect_same_bits(memory, args, {args.intervals});
  }
  test::expect_no_targets<hstu_build_sla_func_args>(memory, args, {{&hstu_build_sla_func_args::intervals, {0, 0}}});
}

}  // namespace
}  // namespace hstujit
