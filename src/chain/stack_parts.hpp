// What hstu_stack and its gradient share: the layers' parameter sets on the host, and where a layer's saved tensors
// lie.
#pragma once

#include "chain/chains.hpp"
#include "chain/stage_parts.hpp"

#include <cstdint>

namespace hstujit::chain {

/// Columns [first, first + columns) of a contiguous matrix.
hstu_tensor part_of(const hstu_tensor& matrix, int64_t first, int64_t columns);

// ---- Parameter sets on the host. Here alone they are addressed: by the size of an element that the host gives, so
// that arrays of hosts with another size can be taken once there is a second one.

template <class Element>
const Element& element_of(const Element* array, size_t element_size, int64_t index) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(array);
  return *reinterpret_cast<const Element*>(bytes + static_cast<size_t>(index) * element_size);
}
inline const hstu_layer_weights& weights_of(const hstu_stack_args& args, int64_t index) {
  return element_of(args.layers, args.layer_size, index);
}

/// The number of layers; throws Error where there are none, or no parameters for them.
int64_t layers_of(const hstu_stack_args& args);

// ---- What a call keeps for its gradient

/// The tensors of a layer. Those that are not kept have no address.
struct Saved {
  hstu_tensor x;     ///< [rows, embedding]; of the first layer the caller's
  hstu_tensor uvqk;  ///< [rows, all columns], behind SiLU; not with HSTU_RECOMPUTE_UVQK
  hstu_tensor attn;  ///< [rows, num_heads * hidden_dim]
  hstu_tensor lse;   ///< f32 [num_softmax_heads, rows], or absent
};

/// Of layer `index`. Throws Error unless all layers' slabs lie in args.saved.
Saved saved_of(const hstu_stack_args& args, const Columns& c, int64_t index);

/// Bytes of args.saved, whatever that is.
size_t saved_bytes(const hstu_stack_args& args);

/// Throws Error where the call cannot keep what its gradient reads.
void check_saving(const hstu_stack_args& args);

// ---- The stages of a layer

/// All of the first stage but where its result goes.
hstu_compute_uvqk_args uvqk_stage(const hstu_stack_args& args, int64_t index, const hstu_tensor& x);
/// All of the last stage but its tensors of rows.
hstu_compute_output_args output_stage(const hstu_stack_args& args, int64_t index);

}  // namespace hstujit::chain
