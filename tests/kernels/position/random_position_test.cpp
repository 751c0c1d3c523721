// Random problems of the room's operators: tests/support/random_draw.hpp.
#include "support/random_draw.hpp"

namespace hstujit {
namespace {

class RandomPosition : public testing::TestWithParam<test::RandomKernel> {};
TEST_P(RandomPosition, ProblemsOfAKernelAreCorrect) { test::expect_random_problems(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, RandomPosition, testing::ValuesIn(test::random_kernels("position")),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace hstujit
