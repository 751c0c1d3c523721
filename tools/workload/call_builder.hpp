// The pieces that calls are built from: tensors placed in buffers, and one function per operator that puts placed
// tensors into its args struct.
#pragma once

#include "workload/calls.hpp"

#include <hstujit/hstujit.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit {

/// A tensor without memory, and where it will lie. Default: absent.
struct Placed {
  hstu_tensor tensor{};
  Place place;
};

/// Sequences drawn: what the integer tensors of attention hold.
struct Batch {
  std::vector<int64_t> offsets;  ///< batch + 1
  std::vector<int64_t> targets;  ///< batch, or empty: no such tensor
  int64_t total = 0, longest = 0;
};
Batch batch_of(const Sequences& sequences);

struct LayerNormTensors {
  Placed x, weight, bias, out;
};
struct AddmmTensors {
  Placed x, w, bias, residual, out;
};
struct AttentionTensors {
  Placed q, k, v, out, seq_offsets, num_targets;
};
struct NormMulTensors {
  Placed attn, u, weight, bias, out;
};
Call layer_norm_call(const LayerNormTensors& t, float eps);
Call addmm_call(const AddmmTensors& t, hstu_activation activation, int64_t activation_columns);
Call attention_call(const AttentionTensors& t, const AttentionOptions& options, const Batch& batch);
Call norm_mul_call(const NormMulTensors& t, const NormMulSpec& spec);  ///< spec.rows and dim are not read
/// Row by row.
Call quantize_fp8_call(const Placed& x, const Placed& q, const Placed& descale);

/// Parts of norm_mul's output rows.
int64_t segments(const NormMulSpec& spec);

/// Adds buffers, each holding one contiguous tensor.
class CallBuilder {
 public:
  using Shape = std::span<const int64_t>;

  explicit CallBuilder(std::vector<Buffer>& buffers) : buffers_(buffers) {}

  Placed input(std::string name, hstu_dtype dtype, Shape shape, float mean = 0, float deviation = 1);
  Placed output(std::string name, hstu_dtype dtype, Shape shape);
  Placed input(std::string name, hstu_dtype dtype, std::initializer_list<int64_t> shape, float mean = 0,
               float deviation = 1) {
    return input(std::move(name), dtype, Shape(shape.begin(), shape.size()), mean, deviation);
  }
  Placed output(std::string name, hstu_dtype dtype, std::initializer_list<int64_t> shape) {
    return output(std::move(name), dtype, Shape(shape.begin(), shape.size()));
  }
  /// [k, n], scaled so that a product with unit inputs has unit outputs; transposed: stored [n, k].
  Placed weight(std::string name, hstu_dtype dtype, int64_t k, int64_t n, bool transposed = false);
  /// A vector of integers.
  Placed integers(std::string name, hstu_dtype dtype, std::vector<int64_t> values);
  /// Offsets and targets of the batch.
  void integers(const Batch& batch, hstu_dtype dtype, AttentionTensors& t);

 private:
  Placed add(Buffer buffer, Shape shape);

  std::vector<Buffer>& buffers_;
};

/// How many elements a tensor of this name has. Throws Error where 64 bits cannot count their bytes.
int64_t elements_of(std::string_view name, std::span<const int64_t> shape);

/// The call as its args struct spells it. Throws Error where an extent names a tensor without lengths.
Call spelled_call(const CallSpec& spec, CallBuilder& build);

}  // namespace hstujit
