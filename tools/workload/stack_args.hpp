// What hstu_stack and its gradient take of a workload file: their arguments filled in, and the buffers that they lie
// in. What the layers are made of is the chains' to say.
#pragma once

#include "workload/stack.hpp"
#include "workload/workload.hpp"

#include <hstujit/hstujit.h>

#include <span>
#include <vector>

namespace hstujit {

/// For a result alone, or for a training step: then the stack keeps what its gradient reads.
enum class StackUse { inference, training };

/// Args with what they point to. The workload must have a stack.
class StackArgs {
 public:
  /// Before there is memory: gives `calls` the buffers, and the calls to be made once. Addresses are made up.
  StackArgs(const Workload& workload, Calls& calls, StackUse use = StackUse::inference);
  /// On the buffers of such calls, made for the same use. The result goes where theirs does.
  StackArgs(const Workload& workload, const Stack& stack, StackUse use = StackUse::inference);
  StackArgs(const StackArgs&) = delete;
  StackArgs& operator=(const StackArgs&) = delete;

  const hstu_stack_args& args() const { return args_; }
  /// One layer as a stack of its own: from the buffer that the one in front wrote to the other.
  hstu_stack_args layer(int64_t index) const;
  /// The gradients of x and of all parameters.
  const hstu_stack_backward_args& backward() const { return backward_; }

 private:
  struct Tensors;
  void fill(const Workload& workload, const Tensors& tensors, std::span<void* const> bases);
  /// Of tensors for training, once there is a forward call.
  void fill_backward(const Tensors& tensors, std::span<void* const> bases);
  /// What both calls take of a workspace that they share.
  size_t workspace_size(StackUse use) const;
  void set_workspace(void* data, size_t bytes);

  std::vector<hstu_layer_weights> layers_;
  std::vector<hstu_fp8_layer_weights> fp8_layers_;  // of projections in FP8
  std::vector<hstu_tensor> between_;                // what layers read, and behind them the result
  hstu_stack_args args_{};
  std::vector<hstu_layer_weights> gradients_;
  hstu_stack_backward_args backward_{};
};

}  // namespace hstujit
