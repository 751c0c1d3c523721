// Random problems of the room's operators: tests/support/random_draw.hpp.
#include "support/random_draw.hpp"

namespace hstujit {
namespace {

class RandomAttention : public testing::TestWithParam<test::RandomKernel> {};
TEST_P(RandomAttention, ProblemsOfAKernelAreCorrect) { test::expect_random_problems(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, RandomAttention, testing::ValuesIn(test::random_kernels("attention")),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace hstujit
