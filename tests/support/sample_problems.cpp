#include "support/sample_problems.hpp"

#include <stdexcept>
#include <string>

namespace hstujit::test {

std::vector<Problem> sample_problems(Op op) {
  std::vector<Problem> problems;
  for (const auto texts : {norm_problems(), dense_problems(), attention_problems(), fp8_problems(), jagged_problems()})
    for (const std::string_view text : texts) {
      const auto problem = parse_problem(text);
      if (!problem) throw std::runtime_error("not a problem: " + std::string(text));
      if (problem->op == op) problems.push_back(*problem);
    }
  return problems;
}

}  // namespace hstujit::test
