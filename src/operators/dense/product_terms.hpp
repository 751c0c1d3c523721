// What the products share as problems: how operands lie in memory, and what stands around a product: a bias, an
// activation, results in parts.
#pragma once

#include "operators/checks.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>
#include <optional>

namespace hstujit {

/// Memory is contiguous along k (lines along k) or along the other dimension; or along neither: then vector is 0, and
/// lines are along k with elements apart.
struct Operand {
  bool along_k = true;
  int32_t vector = 0;  ///< elements an access
};

/// k: the dimension summed over, 0 or 1. A first stride that addresses nothing becomes 1.
Operand operand_of(hstu_tensor& t, int k);

/// Strides between lines, and between the elements of a line where they are gathered.
inline int64_t line_stride(const hstu_tensor& t, int k, bool along_k) { return t.stride[along_k ? 1 - k : k]; }
inline int64_t element_stride(const hstu_tensor& t, int k) { return t.stride[k]; }

}  // namespace hstujit

namespace hstujit::product_terms {

/// What messages call the members of an args struct.
struct Names {
  const char* op;
  const char* parts[4];
  const char* descale;  ///< null where they are not in FP8
  const char* rows;     ///< what their rows must be: "m = x.shape[0]"
  const char* columns;  ///< and their columns, together: "n = w.shape[1]"
};

/// The tensors that the columns of a result go to, one to four.
class Outputs {
 public:
  /// first: parts[0], that is required; the others may be absent.
  Outputs(const Names& names, const checks::Tensor& first, hstu_tensor* const (&parts)[4], int64_t rows,
          int64_t columns);

  bool whole() const { return count_ == 1; }
  checks::Tensor part(int i) const { return {names_.parts[i], *parts_[i], bytes_[i]}; }
  /// None of them shares memory with the input.
  void disjoint_from(const checks::Tensor& in) const {
    for (int i = 0; i < count_; ++i) checks::disjoint(part(i), in);
  }

  /// kRowBias of a bias that is there, [n], apart from the outputs; else kNoBias.
  int32_t check_bias(hstu_tensor& bias, bool any_strides) const;
  /// kResidual of a residual that is there, a number for every element; else kNoBias. It has the outputs' type, or if
  /// they are in FP8 one of 16 bits or f32.
  int32_t check_residual(hstu_tensor& residual, bool any_strides) const;
  /// The one scale of outputs in FP8, which no others have.
  void check_descale(hstu_tensor& descale) const;

  checks::Vector vector;  ///< elements of an aligned access to any of them
  int32_t split = 0;      ///< the power of two, 64 at most, that cuts the result into its parts; 0: it is in one

 private:
  bool quantised() const;
  void add(const checks::Tensor& part, bool another_follows);

  const Names& names_;
  hstu_tensor* const (&parts_)[4];
  int64_t rows_, columns_;
  int64_t bytes_[4] = {};
  int count_ = 0;
  int64_t first_ = 0;  ///< of the next one's columns
  checks::Vector cut_{64};
};

/// The one scale of a result in FP8, which no other has.
std::optional<checks::Tensor> check_descale(const char* name, hstu_tensor& descale, const checks::Tensor& out);

/// Which activations a product has, besides none.
enum class Activations { silu, silu_and_gelu };

/// One of those, or NONE; columns that the caller left 0 become all n.
void check_activation(const Names& names, Activations covered, const hstu_activation& activation, int64_t& columns,
                      int64_t n);

}  // namespace hstujit::product_terms
