// What the families of jagged HSTU attention say alike: a problem's facts in the kernel's Config, a call's tensors and
// options in its arguments.
#pragma once

#include "families/family.hpp"
#include "params/attn_fwd.h"

namespace hstujit::attn_facts {

/// The element types, head dims and flags of an hstu_attention problem.
void write(ConfigText& text, const Problem& problem);

/// All of the arguments but row_blocks and section_pairs, which depend on the tiles.
void fill(hstu::AttnFwdParams& params, const hstu_attention_args& args, const Problem& problem);

/// The same of hstu_attention_fp8; element types are the family's to say.
void write_fp8(ConfigText& text, const Problem& problem);
void fill(hstu::AttnFwdParams& params, const hstu_attention_fp8_args& args, const Problem& problem);

}  // namespace hstujit::attn_facts
