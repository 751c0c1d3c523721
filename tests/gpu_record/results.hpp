// docs/results.md: the figures of all records side by side, with what others had for the same problems.
#pragma once

#include "gpu_record/record.hpp"

#include <string>
#include <vector>

namespace hstujit::gpu_record {

/// What somebody else's kernel had for a figure, in the figure's unit.
struct Rival {
  std::string figure, name;
  double value = 0;
};
struct Rivals {
  std::string device, note;  ///< which they were measured on; how
  std::vector<Rival> all;
};
constexpr const char* kRivals = "tools/rivals/measured.json";
constexpr const char* kResults = "docs/results.md";

/// Throws Error{INVALID_ARGUMENT} naming the file.
Rivals read_rivals(const std::string& path);

/// Markdown. Figures stand in the order of the first record that has them. Of a figure that several commands give, the
/// first counts. Throws Error{INVALID_ARGUMENT} naming a rival of a figure that the rivals' device does not have.
std::string results_page(const std::vector<Record>& records, const Rivals& rivals);

}  // namespace hstujit::gpu_record
