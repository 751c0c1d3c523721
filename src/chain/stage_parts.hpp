// What the calls of single stages and of whole layers are made of: columns of the projection, checks under the caller's
// names, and arguments of the operators, filled in.
#pragma once

#include "chain/stages.hpp"
#include "operators/checks.hpp"
#include "operators/operators.hpp"

#include <cstddef>

namespace hstujit::chain {

/// Of the projection's output, which is u, v, q and k.
struct Columns {
  int64_t value = 0;  ///< of u and of v: num_heads * hidden_dim
  int64_t query = 0;  ///< of q and of k
  int64_t all = 0;
};
/// Throws Error where the dimensions make no sense.
Columns columns_of(const hstu_layer_dims& dims);

int64_t segments_of(const hstu_output_options& options);
int64_t gated_columns(const hstu_compute_output_args& args);

/// Columns [first, first + heads * dim) of a matrix as [rows, heads, dim].
hstu_tensor heads_of(const hstu_tensor& matrix, int64_t first, int64_t heads, int64_t dim);

/// Scratch of a stage, before anything but x is known to be right.
std::byte* take(Workspace& space, const hstu_tensor& x, int64_t columns);

/// x as the workspace needs it: its rows and dtype.
void check_rows(const char* name, const hstu_tensor& x);
void check_vector(const char* name, hstu_tensor& t, int64_t length, const char* what);
void require_absent(const char* name, hstu_tensor t);

// What messages call the extents of the projections' weights.
inline constexpr const char *kAllColumns = "2 * num_heads * (hidden_dim + attn_dim)",
                            *kEmbedding = "embedding = x.shape[1]", *kGatedColumns = "segments * attn.shape[1]",
                            *kOutColumns = "embedding = out.shape[1]";

/// x, and the parameters of the norm and of the projection's bias.
void fill(hstu_layer_norm_args& norm, hstu_compute_uvqk_args& args, const Columns& c);
/// All but the tensors that the projection goes to.
void fill(UvqkCalls& calls, hstu_compute_uvqk_args& args, const Columns& c, std::byte* normed);
/// The same of x, once it is known where the projection goes. The two calls may write it on x, which is read by then.
std::optional<hstu_norm_addmm_args> as_fused(const UvqkCalls& calls);

/// v, q and k are columns of `projected` from `first` on.
void fill(hstu_attention_args& call, const hstu_attention_args& given, const hstu_tensor& projected, int64_t first,
          const hstu_layer_dims& dims, const Columns& c);

/// A stage's projection, in FP8 or not.
template <class Calls>
void add_projection(Steps& steps, const char* name, Calls& calls) {
  if (calls.product)
    steps.add(name, *calls.product);
  else
    steps.add(name, calls.project);
}

/// All but where the gate writes; the residual and out of the projection are checked here.
void fill(hstu_norm_mul_args& gate, hstu_compute_output_args& args);
void fill(OutputCalls& calls, hstu_compute_output_args& args, std::byte* gated);

}  // namespace hstujit::chain
