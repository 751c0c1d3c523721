// Runs the built hstu-tune as a process, as a user would.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hstujit::test {

struct Outcome {
  int code = -1;  ///< exit code; 128 + signal when killed
  std::string out, err;
};

/// Environment of the process on top of the test's own; by default there is no driver.
using Variables = std::map<std::string, std::string>;

/// hstu-tune with these arguments. Its store is `store` unless an argument says otherwise.
Outcome hstu_tune(const std::vector<std::string>& arguments, const std::string& store, Variables more = {});

/// The fake driver's library.
std::string fake_driver_path();

}  // namespace hstujit::test
