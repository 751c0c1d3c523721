// Whether FP8 pays: a tuned FP8 product beside the same product of 16-bit operands.
#pragma once

#include "records/records.hpp"

#include <span>
#include <string>

namespace hstujit::tool {

/// Of a record of an FP8 product: that 16-bit operands would be faster, if `all` has the same product of those, results
/// of the same type, on the same device, in less time. Otherwise "", and so for every other operator.
std::string precision_advice(const Record& record, std::span<const Record> all);

}  // namespace hstujit::tool
