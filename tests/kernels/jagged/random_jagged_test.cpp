// Random problems of the room's operators: tests/support/random_draw.hpp.
#include "support/random_draw.hpp"

namespace hstujit {
namespace {

class RandomJagged : public testing::TestWithParam<test::RandomKernel> {};
TEST_P(RandomJagged, ProblemsOfAKernelAreCorrect) { test::expect_random_problems(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, RandomJagged, testing::ValuesIn(test::random_kernels("jagged")),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace hstujit
