// What the references of operators share: activations, normalised rows, where results go, and a loop over threads.
#pragma once

#include "support/element.hpp"

#include <hstujit/hstujit.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace hstujit::reference {

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double silu(double x) { return x / (1 + std::exp(-x)); }
inline double activate(hstu_activation activation, double x) {
  switch (activation) {
    case HSTU_ACTIVATION_SILU:
      return silu(x);
    case HSTU_ACTIVATION_SIGMOID:
      return sigmoid(x);
    case HSTU_ACTIVATION_GELU:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case HSTU_ACTIVATION_GELU_TANH:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.141592653589793) * (x + 0.044715 * x * x * x)));
    case HSTU_ACTIVATION_NONE:
      break;
  }
  return x;
}

/// x <- (x - mean) / sqrt(var + eps), in two passes.
void normalise(double* x, int64_t count, double eps);

/// x <- x / sqrt(mean(x^2) + eps).
void normalise_rms(double* x, int64_t count, double eps);

/// The values as a floating-point type of up to 32 bits would hold them.
void round_to(hstu_dtype dtype, double* x, int64_t count);

/// A whole vector tensor; `count` times `absent` if it is not there.
std::vector<double> load_vector(const hstu_tensor& t, int64_t count, double absent);

/// Rows of results: rounded into a tensor, or unrounded into a contiguous buffer.
class Output {
 public:
  /// exact: as Operator::reference takes it; output: index of the tensor among the operator's outputs.
  Output(const hstu_tensor& tensor, double* const* exact, int output = 0)
      : tensor_(tensor), exact_(exact ? exact[output] : nullptr), skipped_(exact && !exact_) {}

  /// `count` values of row `row` from column `column`; for rank 3, of head `head`. Rank 1 is one row.
  void write(int64_t row, int64_t column, int64_t count, const double* values, int64_t head = 0) const {
    if (skipped_) return;
    const bool heads = tensor_.rank == 3;
    if (exact_) {
      const int64_t start = heads ? (row * tensor_.shape[1] + head) * tensor_.shape[2] : row * tensor_.shape[1];
      for (int64_t i = 0; i < count; ++i) exact_[start + column + i] = values[i];
    } else {
      store(tensor_, row * tensor_.stride[0] + (heads ? head * tensor_.stride[1] : 0) + column, count, values);
    }
  }

 private:
  const hstu_tensor& tensor_;
  double* exact_;
  bool skipped_;
};

/// Calls body(0) ... body(count - 1), on several threads when the work (about as many operations) is worth it. Rethrows
/// one of the exceptions thrown.
void parallel_for(int64_t count, double operations, const std::function<void(int64_t)>& body);

}  // namespace hstujit::reference
