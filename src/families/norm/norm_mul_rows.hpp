// What the families of norm_mul share.
#pragma once

#include "families/family.hpp"

namespace hstujit::norm_mul_rows {

/// All that the operator's flags and types make of a Config.
void write_facts(ConfigText& text, const Problem& problem);

/// The parameters of one call. Part of the hot path.
void bind_params(const hstu_norm_mul_args& args, Launch& launch);

}  // namespace hstujit::norm_mul_rows
