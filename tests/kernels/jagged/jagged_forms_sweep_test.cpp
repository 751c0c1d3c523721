// Sums, paddings, truncations, orders and intervals of sequences on the device against the reference: element sizes,
// integer types, empty and long sequences, layouts. Copies and integers bit for bit.
#include "support/attention_cases.hpp"
#include "support/device_call.hpp"

#include <cstring>

namespace hstujit {
namespace {

const auto kNameOf = [](const auto& info) { return std::string(info.param.name); };

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kI32 = HSTU_DTYPE_I32, kI64 = HSTU_DTYPE_I64;

struct Case {
  const char* name;
  hstu_dtype dtype = HSTU_DTYPE_BF16, offset = kI64, target = kI32;
  int64_t batch = 30, longest = 50, dim = 64;
  Layout layout{};
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<int64_t> lengths(const Case& c, uint64_t seed) {
  Random random(seed);
  std::vector<int64_t> out;
  for (int64_t b = 0; b < c.batch; ++b)
    out.push_back(b % 6 == 2 ? 0 : static_cast<int64_t>(random.below(static_cast<uint64_t>(c.longest) + 1)));
  return out;
}

class JaggedFormsSweep : public testing::TestWithParam<Case> {};

TEST_P(JaggedFormsSweep, AddsUpRows) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  if (c.dtype > HSTU_DTYPE_BF16) GTEST_SKIP() << "sums are of floating point";
  for (const hstu_dtype result : {c.dtype, HSTU_DTYPE_F32}) {
    HostMemory memory;
    const auto offsets = test::offsets_of(lengths(c, 1));
    hstu_jagged_reduce_sum_args args{};
    args.struct_size = sizeof args;
    args.jagged = memory.poison(c.dtype, {offsets.back() + 3, c.dim}, c.layout);
    test::randomise(test::rows_of(args.jagged, 0, offsets.back()), memory.random_numbers());
    args.seq_offsets = memory.integers(c.offset, offsets);
    args.out = memory.poison(result, {c.batch, c.dim}, c.layout);
    test::expect_correct(memory, args, &hstu_jagged_reduce_sum_args::out, test::rounded_once(result));
  }
}

TEST_P(JaggedFormsSweep, PadsAndUnpads) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  for (const int64_t max_len : {int64_t{0}, c.longest / 2, c.longest + 7}) {
    HostMemory memory;
    const auto offsets = test::offsets_of(lengths(c, 2));
    hstu_jagged_to_padded_dense_args args{};
    args.values = memory.scrambled(c.dtype, {offsets.back() + 2, c.dim}, c.layout);
    args.offsets = memory.integers(c.offset, offsets);
    args.out = memory.poison(c.dtype, {c.batch, max_len, c.dim}, c.layout);
    args.padding = -3;
    test::expect_same_bits(memory, args, {args.out});
    hstu_dense_to_jagged_args back{};
    back.dense = memory.scrambled(c.dtype, {c.batch, max_len, c.dim}, c.layout);
    back.offsets = args.offsets;
    back.out = memory.poison(c.dtype, {offsets.back() + 2, c.dim}, c.layout);
    test::expect_same_bits(memory, back, {back.out});
  }
}

TEST_P(JaggedFormsSweep, TruncatesHistory) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  for (const int64_t keep : {int64_t{0}, c.longest / 3, c.longest})
    for (const bool with_targets : {false, true}) {
      HostMemory memory;
      const auto offsets = test::offsets_of(lengths(c, 3));
      hstu_jagged_truncate_history_args args{};
      args.values = memory.scrambled(c.dtype, {offsets.back() + 2, c.dim}, c.layout);
      args.seq_offsets = memory.integers(c.offset, offsets);
      if (with_targets) args.num_targets = test::random_counts(memory, c.target, c.batch, c.longest / 4 + 2);
      args.out = memory.poison(c.dtype, {offsets.back() + 2, c.dim}, c.layout);
      args.out_offsets = memory.poison(c.offset, {c.batch + 1});
      args.contextual_seq_len = with_targets ? c.longest / 5 : 0;
      args.keep = keep;
      test::expect_same_bits(memory, args, {args.out, args.out_offsets});
      if (c.dim != 1) continue;
      args.values = memory.scrambled(c.dtype, {offsets.back()});  // a vector
      args.out = memory.poison(c.dtype, {offsets.back()});
      test::expect_same_bits(memory, args, {args.out, args.out_offsets});
    }
}

TEST_P(JaggedFormsSweep, SortsPairs) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  const int64_t count = c.batch * c.longest;
  const int bits = c.offset == kI32 ? 32 : 64;
  for (const int end_bit : {0, 3, bits - 1, bits})
    for (const int descending : {0, 1}) {
      HostMemory memory;
      hstu_sort_kv_pairs_args args{};
      args.keys = end_bit == 3 ? test::random_counts(memory, c.offset, count, 7)  // many equal ones
                               : memory.scrambled(c.offset, {count});
      args.values = memory.scrambled(c.dtype, {count});
      args.out_keys = memory.poison(c.offset, {count});
      args.out_values = memory.poison(c.dtype, {count});
      args.end_bit = end_bit;
      args.descending = descending;
      test::expect_same_bits(memory, args, {args.out_keys, args.out_values});
    }
}

TEST_P(JaggedFormsSweep, SortsByLength) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  hstu_sort_by_length_args args{};
  args.offsets = memory.integers(c.offset, test::offsets_of(lengths(c, 4)));
  args.out = memory.poison(c.target, {c.batch});
  test::expect_same_bits(memory, args, {args.out});
}

TEST_P(JaggedFormsSweep, BuildsSemiLocalIntervals) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  for (const int64_t heads : {1, 3})
    for (const bool with_targets : {false, true}) {
      HostMemory memory;
      const auto offsets = test::offsets_of(lengths(c, 5));
      hstu_build_sla_func_args args{};
      args.seq_offsets = memory.integers(c.offset, offsets);
      if (with_targets) args.num_targets = test::random_counts(memory, c.target, c.batch, c.longest / 3);
      args.intervals = memory.poison(kI32, {heads, 3, offsets.back() + 5}, c.layout);
      args.last_keys = c.longest / 4;
      args.first_keys = heads;
      args.contextual_seq_len = with_targets ? 7 : 0;
      test::expect_same_bits(memory, args, {args.intervals});
    }
}

std::vector<Case> cases() {
  constexpr hstu_dtype f32 = HSTU_DTYPE_F32, f16 = HSTU_DTYPE_F16, e4m3 = HSTU_DTYPE_E4M3;
  return {{.name = "Usual"},
          {.name = "I32", .offset = kI32, .target = kI64},
          {.name = "F32", .dtype = f32, .dim = 33},
          {.name = "F16", .dtype = f16, .dim = 100},
          {.name = "Bytes", .dtype = e4m3, .offset = kI32, .dim = 13},
          {.name = "EightBytes", .dtype = kI64, .dim = 3},
          {.name = "OneColumn", .dim = 1},
          {.name = "NoColumn", .dim = 0},
          {.name = "LongRows", .batch = 7, .dim = 5000},
          {.name = "OneSequence", .batch = 1, .longest = 3000, .dim = 8},
          {.name = "NoSequence", .batch = 0},
          {.name = "AllEmpty", .batch = 9, .longest = 0},
          {.name = "ManySequences", .offset = kI32, .batch = 3001, .longest = 4, .dim = 24},
          {.name = "LongSequences", .batch = 8, .longest = 2000, .dim = 16},
          {.name = "Strided", .dim = 40, .layout = {.row_padding = 8}},
          {.name = "Unaligned", .dim = 40, .layout = {.row_padding = 3, .shift = 1}}};
}

INSTANTIATE_TEST_SUITE_P(Cases, JaggedFormsSweep, testing::ValuesIn(cases()), kNameOf);

/// The intervals really make hstu_attention semi-local: its result is that of the plain definition.
TEST(SemiLocalAttention, EqualsItsDefinition) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  constexpr int64_t kLast = 20, kFirst = 5;
  auto args = test::attention_args(memory, {.heads = 1,
                                            .lengths = {150, 3, 90},
                                            .scale = test::Scale::one,
                                            .mask = HSTU_MASK_INTERVALS,
                                            .spare_rows = 0,
                                            .intervals = 2});
  hstu_build_sla_func_args sla{};
  sla.struct_size = sizeof sla;
  sla.seq_offsets = args.seq_offsets;
  sla.intervals = args.mask.intervals;
  sla.last_keys = kLast;
  sla.first_keys = kFirst;
  test::DeviceCall built(memory, Op::build_sla_func, &sla);
  ASSERT_EQ(built.status(), HSTU_OK) << built.error();
  const hstu_tensor bounds = built.after(sla.intervals);
  std::memcpy(args.mask.intervals.data, bounds.data, static_cast<size_t>(extent_bytes(bounds)));
  auto local = args;  // the window alone, and what the prefix adds to it
  local.mask.kind = HSTU_MASK_LOCAL, local.mask.intervals = {}, local.mask.window_left = kLast - 1,
  local.mask.window_right = 0;
  const auto semi = test::exact_result(args, &hstu_attention_args::out);
  const auto window = test::exact_result(local, &hstu_attention_args::out);
  const size_t row = 64;
  for (size_t i = 0; i < kLast * row; ++i)
    ASSERT_NEAR(semi[i], window[i], 1e-12) << i;  // nothing lies before the window
  bool differs = false;
  for (size_t i = 60 * row; i < 150 * row; ++i) differs |= std::fabs(semi[i] - window[i]) > 1e-6;
  EXPECT_TRUE(differs);
  test::expect_correct(memory, args, &hstu_attention_args::out, test::attention_tolerance(args.q.dtype));
}

}  // namespace
}  // namespace hstujit
