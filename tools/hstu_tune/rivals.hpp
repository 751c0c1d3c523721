// What a script measured of other engines on this machine in this run: tools/rivals/engine.py.
#pragma once

#include "support/json_fwd.hpp"

#include <memory>
#include <string>

namespace hstujit::tool {

class Rivals {
 public:
  Rivals();
  /// Runs the script with python3 and reads the JSON object that it prints, rival by rival. A script that fails leaves
  /// none, and says so on standard error; "" runs nothing.
  static Rivals measured_by(const std::string& script);

  /// ", triton 3.6.0: 18.2 us, cupy 14.2.0: 5.1 us" of a member of the rivals; "" where nobody has it.
  std::string text(const std::string& member, const std::string& unit) const;
  const Json& all() const { return *found_; }

 private:
  std::shared_ptr<const Json> found_;
};

}  // namespace hstujit::tool
