// Which operators the tests of a program check in one way or another. A check notes its operator where a test makes use
// of it, when the program starts, so that an operator that no test checks is seen where no test runs.
#pragma once

#include "operators/operators.hpp"

#include <array>
#include <set>
#include <string>

namespace hstujit::test {

enum class Check {
  oracle,     ///< results of the device under test are compared with the reference's
  bad_input,  ///< a valid call is spoiled, field by field
};

inline std::set<Op>& operators_with(Check check) {
  static std::array<std::set<Op>, 2> all;
  return all[static_cast<size_t>(check)];
}

/// A check's template names it: notes_operator<Check::oracle, Args>.
template <Check kCheck, class Args>
inline const bool notes_operator = operators_with(kCheck).insert(op_of<Args>()).second;

/// Names of those that the program's tests do not check so: "" when it has all of them.
inline std::string operators_without(Check check) {
  std::string names;
  for (const Operator& op : operators())
    if (!operators_with(check).contains(op.op)) names.append(names.empty() ? "" : ", ").append(op.name);
  return names;
}

}  // namespace hstujit::test
