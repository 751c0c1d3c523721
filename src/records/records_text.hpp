// Jobs as canonical JSON: what tuner_db/<device>.json holds and what is reviewed. Sorted, one problem and
// device class per line, so that a diff shows which problems changed.
#pragma once

#include "records/record.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hstujit {

/// Equal jobs in any order give equal bytes.
std::string to_text(std::vector<Job> jobs);

/// Reads what to_text wrote. Problems that this library cannot read are left out with a warning in the log; text that
/// is not an export throws Error{STORE}.
std::vector<Job> jobs_of_text(std::string_view text);

/// Reads one of its lines, without the comma behind it: a problem's jobs on a device class.
std::vector<Job> jobs_of_line(std::string_view line);

}  // namespace hstujit
