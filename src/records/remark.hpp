// What a reader of a kernel's name and knobs may not know of it.
#pragma once

#include "families/family.hpp"

#include <string_view>

namespace hstujit {

/// Of an FP8 product by a kernel that converts its operands: that it multiplies in f16. Empty for all others.
std::string_view remark(const Family& family, const Config& config);

}  // namespace hstujit
