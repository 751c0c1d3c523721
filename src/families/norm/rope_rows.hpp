// What the families of rms_norm_rope share.
#pragma once

#include "families/family.hpp"

namespace hstujit::rope_rows {

/// Element, Weight, Angle and kHalf.
void write_facts(ConfigText& text, const Problem& problem);

/// The parameters of one call. Part of the hot path.
void bind_params(const hstu_rms_norm_rope_args& args, Launch& launch);

}  // namespace hstujit::rope_rows
