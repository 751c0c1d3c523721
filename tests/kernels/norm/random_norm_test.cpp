// Random problems of the room's operators: tests/support/random_draw.hpp.
#include "support/random_draw.hpp"

namespace hstujit {
namespace {

class RandomNorm : public testing::TestWithParam<test::RandomKernel> {};
TEST_P(RandomNorm, ProblemsOfAKernelAreCorrect) { test::expect_random_problems(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, RandomNorm, testing::ValuesIn(test::random_kernels("norm")),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace hstujit
