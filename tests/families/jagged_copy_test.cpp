// How a concatenation's grid is shared by its parts: every block of both is there once, whatever their sizes.
#include "families/jagged/jagged_copy.hpp"

#include "families/families.hpp"
#include "families/jagged/sequence_density.hpp"
#include "operators/operators.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

DeviceFacts h200() {
  DeviceFacts facts;
  facts.compute_capability = 90;
  facts.sm_count = 132;
  return facts;
}

hstu_concat_2d_jagged_args concat_args(int64_t left, int64_t right) {
  const auto buffer = [](int index) { return reinterpret_cast<void*>(static_cast<uintptr_t>(index) << 40); };
  hstu_concat_2d_jagged_args args{};
  args.struct_size = sizeof args;
  args.left = hstu_matrix(buffer(1), HSTU_DTYPE_BF16, left, 512);
  args.right = hstu_matrix(buffer(2), HSTU_DTYPE_BF16, right, 512);
  args.out = hstu_matrix(buffer(3), HSTU_DTYPE_BF16, left + right, 512);
  args.offsets_left = hstu_vector(buffer(4), HSTU_DTYPE_I64, 5);
  args.offsets_right = hstu_vector(buffer(5), HSTU_DTYPE_I64, 5);
  return args;
}

Launch launch_of(int64_t left, int64_t right) {
  hstu_concat_2d_jagged_args args = concat_args(left, right);
  const DeviceFacts device = h200();
  const Problem problem = prepare(args);
  Launch launch;
  kConcat2dJaggedSm80.bind(&args, problem, kConcat2dJaggedSm80.default_config(problem, device), device, launch);
  return launch;
}

TEST(JaggedCopy, SpreadsRightsBlocksAmongLefts) {
  constexpr int64_t kRowsOfABlock = 2;  // 128 threads, 64 accesses a row
  for (const int64_t left : {0, 2, 6, 200, 4098})
    for (const int64_t right : {0, 2, 14, 200, 3000}) {
      const Launch launch = launch_of(left, right);
      const auto& p = *reinterpret_cast<const hstu::JaggedCopyParams*>(launch.params);
      const auto right_before = [&](uint64_t block) { return block * static_cast<uint64_t>(p.right_share) >> 32; };
      const uint64_t blocks = launch.grid[0], right_blocks = static_cast<uint64_t>(right / kRowsOfABlock);
      ASSERT_EQ(blocks, static_cast<uint64_t>((left + right) / kRowsOfABlock));
      EXPECT_EQ(right_before(blocks), right_blocks) << left << " and " << right;
      for (uint64_t block = 0; block < blocks; ++block)
        ASSERT_LE(right_before(block + 1) - right_before(block), 1U) << left << " and " << right;
    }
}

TEST(JaggedCopy, PlacesTheLastRowInTheLastSequenceWhereAllAreAsLong) {
  for (const int64_t batch : {1, 3, 1000, INT32_MAX})
    for (const int64_t length : {1, 7, 100}) {
      const auto guess = [&](int64_t row) {
        return static_cast<uint64_t>(row) * static_cast<uint64_t>(sequence_density(batch, batch * length)) >> 32;
      };
      EXPECT_NEAR(static_cast<double>(guess(batch * length - 1)), static_cast<double>(batch - 1), 100.0);
    }
  EXPECT_EQ(sequence_density(5, 0), 0);
}

}  // namespace
}  // namespace hstujit
