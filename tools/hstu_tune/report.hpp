// Results as JSON: what a run measured, and its figures in the form of tests/gpu_record/.
#pragma once

#include "support/json_fwd.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hstujit::tool {

/// One number that the project promises something about.
struct Figure {
  std::string id;
  double value = 0;
  std::string unit;
  bool higher_is_better = false;
  std::optional<double> target;
  std::string yardstick;  ///< what it is compared with, measured in the same run or published
  /// Kernel families that ran in it; with their sources it belongs to tests/gpu_record/.
  std::vector<std::string> families = {};
  bool of_launching = false;  ///< whether it is about the host's way to a kernel, too
};

class Report {
 public:
  Report();
  ~Report();
  Json& operator[](const char* member);
  /// Figures are of kernels of this generation, not of the device's own: their names end in it, and nothing is asked of
  /// them.
  void limit_to(const std::string& generation);
  /// Only these figures are asked for, by their names as they are added; empty: all of them.
  void select(std::vector<std::string> ids);
  /// Whether the figure is asked for: what is not need not be measured.
  bool wants(const std::string& id) const;
  /// Adds the figure and prints it in a line.
  void add(const Figure& figure);
  /// Does nothing for path "". Throws Error{STORE}.
  void write(const std::string& path) const;

 private:
  std::unique_ptr<Json> json_;
  std::string generation_;
  std::vector<std::string> selected_;
};

/// The command line as it was given; set once by main.
void set_command_line(int argc, char** argv);

/// Seconds since this process was started.
double seconds_since_start();

}  // namespace hstujit::tool
