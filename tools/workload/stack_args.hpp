// What hstu_stack takes of a workload file: its arguments filled in, and the buffers that they lie in. What the layers
// are made of is the chain's to say.
#pragma once

#include "workload/stack.hpp"
#include "workload/workload.hpp"

#include <hstujit/hstujit.h>

#include <span>
#include <vector>

namespace hstujit {

/// Args with what they point to. The workload must have a stack.
class StackArgs {
 public:
  /// Before there is memory: gives `calls` the buffers, and the calls to be made once. Addresses are made up.
  StackArgs(const Workload& workload, Calls& calls);
  /// On the buffers of such calls. The result goes where theirs does.
  StackArgs(const Workload& workload, const Stack& stack);
  StackArgs(const StackArgs&) = delete;
  StackArgs& operator=(const StackArgs&) = delete;

  const hstu_stack_args& args() const { return args_; }
  /// One layer as a stack of its own: from the buffer that the one in front wrote to the other.
  hstu_stack_args layer(int64_t index) const;

 private:
  struct Tensors;
  void fill(const Workload& workload, const Tensors& tensors, std::span<void* const> bases);

  std::vector<hstu_layer_weights> layers_;
  std::vector<hstu_fp8_layer_weights> fp8_layers_;  // of projections in FP8
  std::vector<hstu_tensor> between_;                // what layers read, and behind them the result
  hstu_stack_args args_{};
};

}  // namespace hstujit
