// run --train: a training step of a workload's stack, that is hstu_stack and hstu_stack_backward with all gradients.
#pragma once

#include "hstu_tune/command.hpp"

#include <string>

namespace hstujit::tool {

struct TrainingRun {
  std::string device;  ///< "": no GPU, so compile for sm_80 and sm_90a and run a small version on the CPU
  std::string json;    ///< file for the results; "": none
  std::string name;    ///< of the figures
  double budget_s = 40;
  bool retune = false;
  StoreChoice store;
};

/// What the command returns.
int run_training(const Workload& workload, const TrainingRun& run);

}  // namespace hstujit::tool
