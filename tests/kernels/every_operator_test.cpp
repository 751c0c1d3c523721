// Every operator's results are compared with the oracle by a sweep of this program; ../every_operator_test.cpp has the
// rest. Runs without a device.
#include "support/checked_operators.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

TEST(EveryOperatorOfTheTable, IsComparedWithTheOracle) {
  EXPECT_EQ(test::operators_without(test::Check::oracle), "") << "expect_correct() or expect_same_bits()";
}

}  // namespace
}  // namespace hstujit
