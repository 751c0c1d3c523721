// What the families of flash_attention say alike: a problem's facts in the kernel's Config, a call's tensors in its
// arguments.
#pragma once

#include "attention/attn_fwd.h"
#include "families/family.hpp"

namespace hstujit::flash_attn {

/// Mask, sequences, element types, head dims and flags.
void write_facts(ConfigText& text, const Problem& problem);

struct Extents {
  int64_t batch, heads;
  int64_t rows, keys;  ///< of a sequence at most
  int last;            ///< the dimension of a head's elements
};
Extents extents_of(const hstu_flash_attention_args& args);

/// All of the arguments but row_blocks and section_pairs, which depend on the tiles.
void fill(hstu::AttnFwdParams& params, const hstu_flash_attention_args& args, const Extents& extents);

}  // namespace hstujit::flash_attn
