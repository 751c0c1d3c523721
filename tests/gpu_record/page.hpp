// The page of a record: every figure in tables by room, those that fall short like the others, and how the tests ended.
#pragma once

#include "gpu_record/record.hpp"
#include "gpu_record/stale.hpp"

#include <string>

namespace hstujit::gpu_record {

/// Markdown. What is stale says so in its line.
std::string page(const Record& record, const Stale& stale);

}  // namespace hstujit::gpu_record
