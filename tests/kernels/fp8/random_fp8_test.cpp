// Random problems of the room's operators: tests/support/random_draw.hpp.
#include "support/random_draw.hpp"

namespace hstujit {
namespace {

class RandomFp8 : public testing::TestWithParam<test::RandomKernel> {};
TEST_P(RandomFp8, ProblemsOfAKernelAreCorrect) { test::expect_random_problems(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, RandomFp8, testing::ValuesIn(test::random_kernels("fp8")),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace hstujit
