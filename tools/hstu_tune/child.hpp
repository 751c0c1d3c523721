// Runs this program again with other arguments.
#pragma once

#include <string>
#include <vector>

namespace hstujit::tool {

struct ChildOutput {
  int code = -1;    ///< exit code; 128 + signal when killed
  std::string out;  ///< standard output; standard error goes where ours goes
};

/// Throws std::system_error when it cannot be started.
ChildOutput run_self(const std::vector<std::string>& arguments);

}  // namespace hstujit::tool
