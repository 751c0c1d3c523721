// Random problems of the room's operators: tests/support/random_draw.hpp.
#include "support/random_draw.hpp"

namespace hstujit {
namespace {

class RandomDense : public testing::TestWithParam<test::RandomKernel> {};
TEST_P(RandomDense, ProblemsOfAKernelAreCorrect) { test::expect_random_problems(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, RandomDense, testing::ValuesIn(test::random_kernels("dense")),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace hstujit
