// The reference of appending to a cache: which slot of which page a row goes to, and what is left alone.
#include "operators/on_host.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hstujit::reference {
namespace {

using Floats = std::vector<float>;
using Numbers = std::vector<int32_t>;

/// One head of one element a row.
hstu_tensor rows(const Floats& values) {
  return hstu_heads(values.data(), HSTU_DTYPE_F32, static_cast<int64_t>(values.size()), 1, 1);
}
hstu_tensor pages(const Floats& values, int64_t page_size) {
  return {const_cast<float*>(values.data()),
          HSTU_DTYPE_F32,
          4,
          0,
          {static_cast<int64_t>(values.size()) / page_size, page_size, 1, 1},
          {}};
}

/// Three sequences: a page and a half of history, none, and a page; v is k's negative.
struct Fixture {
  Floats k{1, 2, 3, 4, 5, 6}, v{-1, -2, -3, -4, -5, -6}, k_cache = Floats(8, 0), v_cache = Floats(8, 0);
  Numbers offsets{0, 3, 3, 6}, page_offsets{0, 2, 2, 3}, page_ids{2, 0, 3}, last{1, 0, 2}, targets{1, 0, 1};
  hstu_append_kv_cache_args args{};

  Fixture() {
    args.struct_size = sizeof args;
    args.k = rows(k), args.v = rows(v);
    args.k_cache = pages(k_cache, 2), args.v_cache = pages(v_cache, 2);
    args.seq_offsets = vector(offsets);
    args.page_offsets = vector(page_offsets), args.page_ids = vector(page_ids), args.last_page_lens = vector(last);
  }
  void execute() {
    prepare(args);
    run(args);
  }
};

// Rows 1, 2, 3 are positions 0, 1, 2: page 2, then page 0. Of rows 4, 5, 6 the history of two has the last two.
TEST(AppendKvCache, NewRowsEndTheHistoryOfTheirSequence) {
  Fixture f;
  f.execute();
  EXPECT_EQ(f.k_cache, (Floats{3, 0, 0, 0, 1, 2, 5, 6}));
  EXPECT_EQ(f.v_cache, (Floats{-3, 0, 0, 0, -1, -2, -5, -6}));
}

TEST(AppendKvCache, TargetsAreNoHistory) {
  Fixture f;
  f.args.num_targets = vector(f.targets);
  f.execute();
  EXPECT_EQ(f.k_cache, (Floats{2, 0, 0, 0, 0, 1, 4, 5}));
}

TEST(AppendKvCache, OneHeadOfManyAndBitsAsTheyAre) {
  const std::vector<uint8_t> k{0x80, 0x7f, 1, 2};  // two rows of two heads: -0, NaN
  std::vector<uint8_t> k_cache(8, 9), v_cache(8, 9);
  hstu_append_kv_cache_args args{};
  args.struct_size = sizeof args;
  args.k = args.v = hstu_heads(k.data(), HSTU_DTYPE_E4M3, 2, 2, 1);
  args.k_cache = {k_cache.data(), HSTU_DTYPE_E4M3, 4, 0, {2, 2, 2, 1}, {}};
  args.v_cache = {v_cache.data(), HSTU_DTYPE_E4M3, 4, 0, {2, 2, 2, 1}, {}};
  const Numbers lengths{2, 1};
  args.last_page_lens = vector(lengths);
  prepare(args);
  run(args);
  EXPECT_EQ(k_cache, (std::vector<uint8_t>{9, 9, 0x80, 0x7f, 1, 2, 9, 9}));
  EXPECT_EQ(v_cache, k_cache);
}

TEST(AppendKvCache, OffsetsThatDecreaseAreRefused) {
  Fixture f;
  f.offsets = {0, 3, 2, 6};
  EXPECT_THROW(f.execute(), Error);
}

}  // namespace
}  // namespace hstujit::reference
