// What the families of attention_backward have alike: the places of a launch, kernels/attention/bwd/places.cuh.
#pragma once

#include "attention/attn_bwd.h"
#include "families/family.hpp"

#include <hstujit/hstujit.h>

namespace hstujit::attn_bwd {

/// Whether a gradient is asked for.
bool is_anything_wanted(const Problem& problem);
/// Whether dk and dv are, whose sums may be apart.
bool are_both_of_keys_wanted(const Problem& problem);

/// The tiles of a block of threads.
struct Tiles {
  int own, walk;  ///< its own rows, and those of the other side a step
  bool apart;     ///< dk and dv at places of their own
  int threads, smem_bytes;
};
/// Fills the params and sets the grid.
void bind(const hstu_attention_backward_args& args, const Problem& problem, const Tiles& tiles,
          const DeviceFacts& device, Launch& launch);

}  // namespace hstujit::attn_bwd
