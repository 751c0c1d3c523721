// What the families of jagged HSTU attention say alike: a problem's facts in the kernel's Config, a call's tensors and
// options in its arguments.
#pragma once

#include "attention/attn_bwd.h"
#include "attention/attn_fwd.h"
#include "families/family.hpp"

namespace hstujit::attn_facts {

/// The factor of scores whose exp() comes from 2^x. Of a logit scale of 0 it is what weighs all keys alike, yet leaves
/// minus infinity, the score of a key that is hidden, what it is.
float log2_alpha(float alpha);

/// The element types, head dims and flags of an hstu_attention problem.
void write(ConfigText& text, const Problem& problem);

/// All of the arguments but those of set_order(), which depend on the tiles.
void fill(hstu::AttnFwdParams& params, const hstu_attention_args& args, const Problem& problem);

/// The same of hstu_attention_fp8; element types are the family's to say.
void write_fp8(ConfigText& text, const Problem& problem);
void fill(hstu::AttnFwdParams& params, const hstu_attention_fp8_args& args, const Problem& problem);

/// The same of hstu_attention_backward.
void write_backward(ConfigText& text, const Problem& problem);
void fill(hstu::AttnBwdParams& params, const hstu_attention_backward_args& args, const Problem& problem);

/// The order of tiles of `block_m` rows, row_blocks a pair, of sequences of at most `rows`, in sections of so many
/// pairs.
void set_order(hstu::AttnFwdParams& params, int block_m, int64_t rows, int row_blocks, int section_pairs,
               const DeviceFacts& device);

}  // namespace hstujit::attn_facts
