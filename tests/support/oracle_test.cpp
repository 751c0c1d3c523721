// The comparison that GPU tests rest on must itself be able to fail.
#include "support/oracle.hpp"

namespace hstujit::test {
namespace {

constexpr hstu_dtype kBf16 = HSTU_DTYPE_BF16;

struct Fixture {
  HostMemory memory;
  hstu_tensor t = memory.random(kBf16, {4, 2, 8}, {.row_padding = 5, .shift = 1});
  Exact exact = values(t);
  Slab& slab() { return memory.slabs().front(); }
};

void set(const hstu_tensor& t, int64_t row, int64_t head, int64_t column, double value) {
  store(t, row * t.stride[0] + head * t.stride[1] + column, 1, &value);
}

TEST(Oracle, AcceptsEqualResults) {
  Fixture f;
  EXPECT_TRUE(close(f.t, f.exact, rounded_once(kBf16)));
  EXPECT_TRUE(untouched_around(f.t, f.slab()));
}

TEST(Oracle, ReportsOneWrongElementWithItsPlace) {
  Fixture f;
  set(f.t, 2, 1, 3, f.exact[2 * 16 + 8 + 3] + 0.1);
  const auto result = close(f.t, f.exact, rounded_once(kBf16));
  ASSERT_FALSE(result);
  EXPECT_NE(std::string(result.message()).find("[2, 1, 3]"), std::string::npos) << result.message();
}

TEST(Oracle, MeasuresByTheRowNotTheWhole) {
  // One row a thousand times smaller than the others, and half of it missing: invisible in the norm of the whole.
  HostMemory memory;
  const hstu_tensor t = memory.random(kBf16, {50, 16});
  randomise(rows_of(t, 7, 1), memory.random_numbers(), 0, 1e-3);
  Exact exact = values(t);
  fill(columns_of(rows_of(t, 7, 1), 0, 8), 0);
  EXPECT_FALSE(close(t, exact, rounded_once(kBf16)));
}

TEST(Oracle, SeesABiasedResultThatEachElementWouldPass) {
  HostMemory memory;
  const hstu_tensor t = memory.random(HSTU_DTYPE_F32, {40, 64});
  Exact exact = values(t);
  for (double& value : exact) value *= 1 + 3e-6;
  const Tolerance loose{2e-6, 1e9};
  EXPECT_FALSE(close(t, exact, loose));
}

TEST(Oracle, RefusesNanAndWritesWhereNothingShouldBe) {
  Fixture f;
  set(f.t, 0, 0, 0, std::nan(""));
  EXPECT_FALSE(close(f.t, f.exact, rounded_once(kBf16)));

  Fixture g;
  g.exact[17] = std::nan("");
  EXPECT_FALSE(close(g.t, g.exact, rounded_once(kBf16)));
  set(g.t, 1, 0, 1, std::nan(""));
  EXPECT_TRUE(close(g.t, g.exact, rounded_once(kBf16)));
}

TEST(Oracle, SeesBytesWrittenAroundATensor) {
  Fixture before, between, behind;
  set(before.t, 0, 0, -1, 1);
  EXPECT_FALSE(untouched_around(before.t, before.slab()));
  set(between.t, 1, 1, 8, 1);
  EXPECT_FALSE(untouched_around(between.t, between.slab()));
  set(behind.t, 3, 1, 8, 1);
  EXPECT_FALSE(untouched_around(behind.t, behind.slab()));
}

TEST(HostMemory, PlacesTensorsAsAsked) {
  HostMemory memory;
  const hstu_tensor t = memory.poison(HSTU_DTYPE_F32, {3, 5}, {.row_padding = 2, .shift = 1});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data) % 256, 4u);
  EXPECT_EQ(t.stride[0], 7);
  EXPECT_EQ(offsets_of({2, 0, 3}), (std::vector<int64_t>{0, 2, 2, 5}));
}

}  // namespace
}  // namespace hstujit::test
