// Calls of one kernel family, whether or not the library would choose it: where several cover a problem, the C API
// takes the first, and the others are tested through these.
#pragma once

#include "families/family.hpp"
#include "launch/module.hpp"
#include "problem/operators.hpp"
#include "support/gpu.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

namespace hstujit::test {

/// The family's default configuration for the problem, compiled for the GPU and loaded. Kept for the process.
std::shared_ptr<const LoadedKernel> default_kernel(const Family& family, const Problem& problem);

/// Queues one launch on the default stream and waits for it.
void launch_and_wait(const LoadedKernel& kernel, Launch& launch);

/// Makes one call on tensors in the device's memory; args is the operator's struct, not prepared.
using Launcher = std::function<hstu_status(const void* args)>;

struct FamilyCall {
  const Family* family;
  Launcher launcher;
};

/// Calls of all families that cover the problem on the GPU but the first; none without a GPU.
template <class Args>
std::vector<FamilyCall> other_families(const Args& args) {
  std::vector<FamilyCall> out;
  if (!gpu()) return out;
  Args prepared = args;
  const Problem problem = prepare(prepared);
  const auto families = families_for(problem, gpu()->facts);
  for (size_t i = 1; i < families.size(); ++i) {
    const Family& family = *families[i];
    out.push_back({&family, [&family, kernel = default_kernel(family, problem)](const void* given) {
                     Args moved;
                     std::memcpy(&moved, given, sizeof moved);
                     const Problem same = prepare(moved);
                     Launch launch;
                     const DeviceFacts& facts = gpu()->facts;
                     bind(family, &moved, same, family.default_config(same, facts), facts,
                          gpu()->tile_counters->address(), launch);
                     if (launch.grid[0] > 0) launch_and_wait(*kernel, launch);
                     return HSTU_OK;
                   }});
  }
  return out;
}

}  // namespace hstujit::test
