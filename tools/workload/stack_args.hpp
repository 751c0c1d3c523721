// The same layers as a Stack's calls, as one call of hstu_stack on the same buffers.
#pragma once

#include "workload/stack.hpp"
#include "workload/workload.hpp"

#include <hstujit/hstujit.h>

#include <vector>

namespace hstujit {

/// Args with what they point to. The result goes where the calls leave theirs; the workspace is allocated from
/// `memory`.
class StackArgs {
 public:
  StackArgs(const Workload& workload, const Stack& stack, Memory& memory);
  StackArgs(const StackArgs&) = delete;
  StackArgs& operator=(const StackArgs&) = delete;

  const hstu_stack_args& args() const { return args_; }

 private:
  std::vector<hstu_layer_weights> layers_;
  std::vector<hstu_fp8_layer_weights> fp8_layers_;  // of projections in FP8
  hstu_stack_args args_{};
};

}  // namespace hstujit
