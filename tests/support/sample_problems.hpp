// Problems that stand for what hosts ask: the usual one of each operator first, then its corners. Texts stand one file
// a group, norm_problems.cpp and its like.
#pragma once

#include "operators/problem.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace hstujit::test {

std::span<const std::string_view> norm_problems();
std::span<const std::string_view> dense_problems();
std::span<const std::string_view> attention_problems();
std::span<const std::string_view> fp8_problems();
std::span<const std::string_view> jagged_problems();

std::vector<Problem> sample_problems(Op op);

}  // namespace hstujit::test
