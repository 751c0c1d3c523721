// The comparison that GPU tests rest on must itself be able to fail.
#include "support/oracle.hpp"

#include <array>

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
  EXPECT_TRUE(unchanged_around({f.t}, f.slab(), f.slab()));
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

TEST(Oracle, TakesAnInfinityForItselfOnly) {
  HostMemory memory;
  const hstu_tensor t = memory.floats({-INFINITY, 1.0f, 2.0f});
  EXPECT_TRUE(close(t, {-INFINITY, 1, 2}, {1e-6, 1}));
  EXPECT_FALSE(close(t, {-3e38, 1, 2}, {1e-6, 1}));
  EXPECT_FALSE(close(t, {-INFINITY, 1, INFINITY}, {1e-6, 1}));
}

TEST(Oracle, SeesBytesWrittenAroundATensor) {
  Fixture f;
  const Slab before = f.slab();
  // The tensor as it lies in the copy.
  hstu_tensor t = f.t;
  t.data = const_cast<std::byte*>(before.bytes.data()) + (static_cast<std::byte*>(f.t.data) - f.slab().bytes.data());
  set(f.t, 1, 1, 7, 9);
  EXPECT_TRUE(unchanged_around({t}, before, f.slab()));
  hstu_tensor elsewhere = f.memory.poison(kBf16, {4});
  EXPECT_FALSE(unchanged_around({elsewhere}, before, f.slab()));
  for (const auto& [row, head, column] : {std::array<int64_t, 3>{0, 0, -1}, {1, 1, 8}, {3, 1, 8}}) {
    Slab after = f.slab();
    hstu_tensor inside = t;
    inside.data = after.bytes.data() + (static_cast<std::byte*>(t.data) - before.bytes.data());
    set(inside, row, head, column, 1);
    EXPECT_FALSE(unchanged_around({t}, before, after)) << row << head << column;
  }
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
