// Which stages of a layer are fused into one product: the first, layer norm and projection, as norm_addmm; the output
// stage, by statistics that attention leaves of its rows, as gated_addmm or gated_fp8_gemm.
#pragma once

#include "cuda/device.hpp"
#include "operators/problem.hpp"

#include <hstujit/hstujit.h>

namespace hstujit::chain {

/// Whether norm_addmm has the first stage for results of this type, projected in it.
bool fused_has(hstu_dtype dtype);
/// Whether the products of the output stage have the options, for results of this type. That of FP8 has fast sums only.
bool fused_has(const hstu_output_options& options, hstu_dtype dtype);

/// Whether the device makes a stage by this product: there is a family for it, and it is faster than the two calls that
/// it replaces.
bool takes_fused(const DeviceFacts& device, const Problem& product);
/// Likewise, of an output stage. attention: with statistics.
bool takes_fused(const DeviceFacts& device, const Problem& attention, const Problem& product);

/// Fused stages, in place of two calls each.
struct FusedStages {
  bool uvqk = false, output = false;
  bool any() const { return uvqk || output; }
  bool operator==(const FusedStages&) const = default;
};

/// Who decides which stages are fused: a device, or somebody who asks for certain steps.
class Fusing {
 public:
  explicit Fusing(const DeviceFacts& device) : device_(&device) {}
  /// Those of these that the chain's arguments allow.
  explicit Fusing(FusedStages asked) : asked_(asked) {}

  bool uvqk(const Problem& product) const { return device_ ? takes_fused(*device_, product) : asked_.uvqk; }
  bool output(const Problem& attention, const Problem& product) const {
    return device_ ? takes_fused(*device_, attention, product) : asked_.output;
  }

 private:
  const DeviceFacts* device_ = nullptr;
  FusedStages asked_;
};

}  // namespace hstujit::chain
