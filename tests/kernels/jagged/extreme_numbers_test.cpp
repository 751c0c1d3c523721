// Jagged operators on the device with numbers at the ends of their types: targets, and paddings that the element type
// does not have.
#include "support/device_call.hpp"
#include "support/extreme_targets.hpp"

#include <cmath>
#include <limits>

namespace hstujit {
namespace {

using test::HostMemory;

const std::vector<int64_t> kLengths{70, 0, 33, 1, 129, 16, 64, 5};

hstu_jagged_truncate_history_args truncate_args(HostMemory& memory, hstu_dtype offset_dtype, int64_t keep) {
  const auto offsets = test::offsets_of(kLengths);
  auto args = sized<hstu_jagged_truncate_history_args>();
  args.values = memory.random(HSTU_DTYPE_BF16, {offsets.back(), 16});
  args.out = memory.poison(HSTU_DTYPE_BF16, {offsets.back(), 16});
  args.seq_offsets = memory.integers(offset_dtype, offsets);
  args.out_offsets = memory.poison(offset_dtype, {static_cast<int64_t>(offsets.size())});
  args.contextual_seq_len = 2, args.keep = keep;
  return args;
}

TEST(ExtremeTargetsOfTruncation, AreAllRows) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_dtype dtype : {HSTU_DTYPE_I32, HSTU_DTYPE_I64})
    for (const int64_t keep : {int64_t{0}, int64_t{10}, std::numeric_limits<int64_t>::max()}) {
      HostMemory memory;
      auto args = truncate_args(memory, dtype, keep);
      args.num_targets = test::as_many_as_there_are(memory, dtype, static_cast<int64_t>(kLengths.size()));
      test::expect_same_bits(memory, args, {args.out, args.out_offsets});
    }
}

TEST(ExtremeTargetsOfTruncation, AreNoneBelowZero) {
  HSTU_NEEDS_DEVICE();
  if (test::test_device()->cpu) GTEST_SKIP() << "refused there";
  HostMemory memory;
  auto args = truncate_args(memory, HSTU_DTYPE_I64, 10);
  args.num_targets = memory.integers(HSTU_DTYPE_I64, std::vector<int64_t>(kLengths.size(), 0));
  const test::Tolerance exact{0, 0};
  test::expect_no_targets<hstu_jagged_truncate_history_args>(
      memory, args,
      {{&hstu_jagged_truncate_history_args::out, exact}, {&hstu_jagged_truncate_history_args::out_offsets, exact}});
}

TEST(PaddingsOfIntegers, AreTheNearestThatThereAre) {
  HSTU_NEEDS_DEVICE();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const hstu_dtype dtype : {HSTU_DTYPE_I32, HSTU_DTYPE_I64})
    for (const float padding :
         {-1.0f, 1.5f, 2.5f, 1e10f, -1e10f, 1e30f, -1e30f, kInfinity, -kInfinity, std::nanf("")}) {
      HostMemory memory;
      const auto offsets = test::offsets_of(kLengths);
      auto args = sized<hstu_jagged_to_padded_dense_args>();
      args.values = memory.scrambled(dtype, {offsets.back(), 3});
      args.offsets = memory.integers(HSTU_DTYPE_I32, offsets);
      args.out = memory.poison(dtype, {static_cast<int64_t>(kLengths.size()), 80, 3});
      args.padding = padding;
      test::expect_same_bits(memory, args, {args.out});
    }
}

}  // namespace
}  // namespace hstujit
