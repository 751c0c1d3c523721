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

/// An export of one of its lines alone, which each hold a problem's jobs on a device class.
std::string export_of_line(std::string_view line);

/// Reads what to_text wrote. Problems that this library cannot read are left out with a warning in the log; text that
/// is not an export throws Error{STORE}.
std::vector<Job> jobs_of_text(std::string_view text);

}  // namespace hstujit
