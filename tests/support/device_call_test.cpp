// What of a test's memory reaches the device: with room around tensors, or to the byte.
#include "support/device_call.hpp"

#include "support/scoped_env.hpp"
#include "support/use_fake_driver.hpp"

#include <gtest/gtest.h>

namespace hstujit::test {
namespace {

constexpr hstu_dtype kBf16 = HSTU_DTYPE_BF16;

class CopiedBytesOfSlabs : public testing::Test {
 protected:
  CopiedBytes of(const std::vector<hstu_tensor>& tensors = {}) {
    return copied_bytes(memory_.slabs().front(), tensors);
  }
  size_t base() { return memory_.slabs().front().first; }

  const ScopedEnv unset_{"HSTUJIT_TEST_EXACT", nullptr};
  HostMemory memory_;
  /// The last row ends without padding: 3 elements, 2 * 12 and 7.
  const hstu_tensor t_ = memory_.random(kBf16, {3, 7}, {.row_padding = 5, .shift = 3});
};

TEST_F(CopiedBytesOfSlabs, HaveGuardBandsByDefault) {
  const CopiedBytes all = of({t_});
  EXPECT_LE(all.first + 256, base());
  EXPECT_EQ(all.first + all.count, memory_.slabs().front().bytes.size());
  EXPECT_GE(all.first + all.count, base() + 2 * (3 + 2 * 12 + 7) + 256);
}

TEST_F(CopiedBytesOfSlabs, EndWithTheLastElementWhereAskedTo) {
  const ScopedEnv exact("HSTUJIT_TEST_EXACT", "1");
  for (const CopiedBytes& part : {of(), of({t_})}) {
    EXPECT_EQ(part.first, base());
    EXPECT_EQ(part.count, 2u * (3 + 2 * 12 + 7));
  }
}

// A view's own end counts: behind the columns of a wider matrix is nothing, in the last row.
TEST_F(CopiedBytesOfSlabs, EndWithTheLastElementOfTheViewsOfACall) {
  const ScopedEnv exact("HSTUJIT_TEST_EXACT", "1");
  const hstu_tensor left = columns_of(t_, 0, 2), upper = rows_of(t_, 0, 2);
  EXPECT_EQ(of({left}).count, 2u * (3 + 2 * 12 + 2));
  EXPECT_EQ(of({upper}).count, 2u * (3 + 12 + 7));
  EXPECT_EQ(of({left, upper}).count, 2u * (3 + 2 * 12 + 2));
  EXPECT_EQ(of({rows_of(t_, 1, 0)}).count, 2u * (3 + 12)) << "a tensor without elements";
}

TEST(ExactMemory, IsAllocatedToTheByteOnTheDevice) {
  const fake_driver_controls& fake = use_fake_driver();
  const ScopedEnv exact("HSTUJIT_TEST_EXACT", "1"), device("HSTUJIT_TEST_DEVICE", "cuda:0");
  ASSERT_TRUE(test_device());
  HostMemory memory;
  const hstu_tensor x = memory.random(kBf16, {3, 7}, {.row_padding = 5}), y = memory.poison(HSTU_DTYPE_F32, {1});
  const std::vector<double> before = values(x);
  const int64_t bytes = fake.live_bytes();
  DeviceSlabs slabs(memory, {x, y});
  EXPECT_EQ(fake.live_bytes() - bytes, 2 * (2 * 12 + 7) + 4);
  EXPECT_EQ(*static_cast<uint32_t*>(slabs.copy_of(y.data)), 0xffffffffu) << "outputs are poison";
  static_cast<uint16_t*>(slabs.copy_of(x.data))[2 * 12 + 6] = 0x4040;  // 3, in the last element
  slabs.fetch();
  std::vector<double> expected = before;
  expected.back() = 3;
  EXPECT_EQ(values(slabs.after(x)), expected);
  EXPECT_EQ(values(x), before);
  EXPECT_TRUE(slabs.wrote_only(x));
  EXPECT_FALSE(slabs.wrote_only(y));
}

}  // namespace
}  // namespace hstujit::test
