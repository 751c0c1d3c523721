// Problems that stand for what hosts ask: the usual one of each operator first, then its corners.
#pragma once

#include "problem/problem.hpp"

#include <vector>

namespace hstujit::test {

std::vector<Problem> sample_problems(Op op);

}  // namespace hstujit::test
