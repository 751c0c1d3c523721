// The references of sums, paddings, truncations, orders and intervals of sequences on small examples, and the integers
// they refuse.
#include "operators/on_host.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace hstujit::reference {
namespace {

using Floats = std::vector<float>;
using Numbers = std::vector<int32_t>;
using Longs = std::vector<int64_t>;

hstu_tensor matrix(const Floats& values, int64_t columns) {
  return hstu_matrix(values.data(), HSTU_DTYPE_F32, static_cast<int64_t>(values.size()) / columns, columns);
}
hstu_tensor cube(const Floats& values, int64_t batch, int64_t rows) {
  hstu_tensor t = matrix(values, static_cast<int64_t>(values.size()) / (batch * rows));
  return {t.data, t.dtype, 3, 0, {batch, rows, t.shape[1]}, {}};
}

const Longs kOffsets{0, 2, 2, 5};
const Floats kRows{1, 10, 2, 20, 3, 30, 4, 40, 5, 50};  // five rows of two

TEST(JaggedFormsReference, SumsOfRows) {
  Floats out(6, -1);
  hstu_jagged_reduce_sum_args args{};
  args.jagged = matrix(kRows, 2);
  args.seq_offsets = vector(kOffsets);
  args.out = matrix(out, 2);
  execute(args);
  EXPECT_EQ(out, (Floats{3, 30, 0, 0, 12, 120}));
}

TEST(JaggedFormsReference, RowsAddedToThoseOfTheirSequence) {
  const Floats dense{100, 200, -1, -1, 0.5f, -0.5f};
  Floats out(12, -1);  // a sixth row, of no sequence
  Floats jagged = kRows;
  jagged.insert(jagged.end(), {6, 60});
  hstu_jagged_dense_broadcast_add_args args{};
  args.jagged = matrix(jagged, 2);
  args.dense = matrix(dense, 2);
  args.seq_offsets = vector(kOffsets);
  args.out = matrix(out, 2);
  execute(args);
  EXPECT_EQ(out, (Floats{101, 210, 102, 220, 3.5f, 29.5f, 4.5f, 39.5f, 5.5f, 49.5f, -1, -1}));
}

TEST(JaggedFormsReference, PaddedMatricesAndBack) {
  Floats out(12, -1), back(10, -1);
  hstu_jagged_to_padded_dense_args args{};
  args.values = matrix(kRows, 2);
  args.offsets = vector(kOffsets);
  args.out = cube(out, 3, 2);
  args.padding = -7;
  execute(args);
  EXPECT_EQ(out, (Floats{1, 10, 2, 20, -7, -7, -7, -7, 3, 30, 4, 40}));
  hstu_dense_to_jagged_args inverse{};
  inverse.dense = args.out;
  inverse.offsets = args.offsets;
  inverse.out = matrix(back, 2);
  execute(inverse);
  EXPECT_EQ(back, (Floats{1, 10, 2, 20, 3, 30, 4, 40, 0, 0}));  // the last row was cut
}

TEST(JaggedFormsReference, TruncatedHistory) {
  // One contextual row, one target: of 1 2 3 4 5 keep the last of 2 3 4; of 6 7 there is no history.
  const Numbers values{1, 2, 3, 4, 5, 6, 7}, targets{1, 1};
  Numbers out(7, -1);
  Longs out_offsets(3, -1);
  hstu_jagged_truncate_history_args args{};
  args.values = vector(values);
  const Longs offsets{0, 5, 7};
  args.seq_offsets = vector(offsets);
  args.num_targets = vector(targets);
  args.out = vector(out);
  args.out_offsets = vector(out_offsets);
  args.contextual_seq_len = 1;
  args.keep = 1;
  execute(args);
  EXPECT_EQ(out, (Numbers{1, 4, 5, 6, 7, -1, -1}));
  EXPECT_EQ(out_offsets, (Longs{0, 3, 5}));
  args.out.shape[0] = 4;
  EXPECT_THROW(execute(args), Error);
}

TEST(JaggedFormsReference, MoreTargetsThanRowsKeepAllOfThem) {
  for (const int64_t most : {int64_t{6}, int64_t{1} << 62, std::numeric_limits<int64_t>::max()}) {
    const Numbers values{1, 2, 3, 4, 5, 6, 7};
    const Longs offsets{0, 5, 7}, targets{most, 0};
    Numbers out(7, -1);
    Longs out_offsets(3, -1);
    hstu_jagged_truncate_history_args args{};
    args.values = vector(values);
    args.seq_offsets = vector(offsets);
    args.num_targets = vector(targets);
    args.out = vector(out);
    args.out_offsets = vector(out_offsets);
    args.contextual_seq_len = 1;
    execute(args);
    EXPECT_EQ(out, (Numbers{1, 2, 3, 4, 5, 6, -1}));
    EXPECT_EQ(out_offsets, (Longs{0, 5, 6}));
    args.keep = args.contextual_seq_len = std::numeric_limits<int64_t>::max();
    execute(args);
    EXPECT_EQ(out, values);
  }
}

struct Sorted {
  Longs keys;
  Numbers values;
  bool operator==(const Sorted&) const = default;
};
Sorted sorted(const Longs& keys, int end_bit, int descending) {
  Sorted out{keys, Numbers(keys.size())};
  Numbers values;
  for (size_t i = 0; i < keys.size(); ++i) values.push_back(static_cast<int32_t>(i));
  hstu_sort_kv_pairs_args args{};
  args.keys = vector(keys);
  args.values = vector(values);
  args.out_keys = vector(out.keys);
  args.out_values = vector(out.values);
  args.end_bit = end_bit;
  args.descending = descending;
  execute(args);
  return out;
}

TEST(JaggedFormsReference, SortedPairs) {
  EXPECT_EQ(sorted({3, -1, 3, 2}, 0, 0), (Sorted{{-1, 2, 3, 3}, {1, 3, 0, 2}}));
  EXPECT_EQ(sorted({3, -1, 3, 2}, 0, 1), (Sorted{{3, 3, 2, -1}, {0, 2, 3, 1}}));
  EXPECT_EQ(sorted({5, 4, 8}, 2, 0), (Sorted{{4, 8, 5}, {1, 2, 0}}));  // 1, 0, 0
  EXPECT_EQ(sorted({-1, 4}, 64, 0), (Sorted{{4, -1}, {1, 0}}));        // unsigned
  EXPECT_EQ(sorted({}, 0, 0), (Sorted{{}, {}}));
}

TEST(JaggedFormsReference, SequencesByLength) {
  const Longs offsets{0, 2, 2, 5, 7};
  Numbers out(4, -1);
  hstu_sort_by_length_args args{};
  args.offsets = vector(offsets);
  args.out = vector(out);
  execute(args);
  EXPECT_EQ(out, (Numbers{2, 0, 3, 1}));
}

TEST(JaggedFormsReference, SemiLocalIntervalsOfTheSpecification) {
  const Longs offsets{0, 8};
  const Numbers targets{2};
  Numbers out(24, -1);
  hstu_build_sla_func_args args{};
  args.seq_offsets = vector(offsets);
  args.num_targets = vector(targets);
  args.intervals = {out.data(), HSTU_DTYPE_I32, 3, 0, {1, 3, 8}, {}};
  args.last_keys = 2;
  args.first_keys = 1;
  execute(args);
  EXPECT_EQ(out, (Numbers{1, 1, 1, 1, 1, 1, 6, 6, 1, 1, 1, 2, 3, 4, 6, 6, 1, 2, 3, 4, 5, 6, 6, 6}));
  args.contextual_seq_len = 3;  // widens the shared prefix
  execute(args);
  EXPECT_EQ(Numbers(out.begin(), out.begin() + 8), (Numbers{1, 2, 3, 3, 3, 3, 6, 6}));
}

TEST(JaggedFormsReference, RefuseIntegersThatDevicesWouldNotSee) {
  const Numbers negative{-1};
  Numbers out(24, -1);
  const Longs offsets{0, 8}, backwards{0, -3};
  hstu_build_sla_func_args args{};
  args.seq_offsets = vector(offsets);
  args.num_targets = vector(negative);
  args.intervals = {out.data(), HSTU_DTYPE_I32, 3, 0, {1, 3, 8}, {}};
  EXPECT_THROW(execute(args), Error);
  args.num_targets = {};
  args.seq_offsets = vector(backwards);
  EXPECT_THROW(execute(args), Error);
}

}  // namespace
}  // namespace hstujit::reference
