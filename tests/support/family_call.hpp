// Calls of one kernel family, whether or not the library would choose it: where several cover a problem, the C API
// takes the first, and the others are tested through these.
#pragma once

#include "families/family.hpp"
#include "jit/jit.hpp"
#include "launch/module.hpp"
#include "operators/operators.hpp"
#include "support/gpu.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hstujit::test {

/// $HSTUJIT_TEST_STORE: the folder that kernels for tests are taken from and kept in; "" where it is not set.
std::string store_of_tests();
/// Kernels for tests, from that folder or compiled into it; in memory only without one.
Jit& jit_of_tests();

/// All families that cover the problem on the device but the first, which the library takes.
std::vector<const Family*> other_families(const Problem& problem, const DeviceFacts& device);

/// One configuration of a family, compiled for the device.
std::shared_ptr<const CompiledKernel> compiled(const Family& family, const Problem& problem, const Config& config,
                                               const DeviceFacts& device);

/// The kernel in the GPU's hands, kept for the process.
std::shared_ptr<const LoadedKernel> loaded(const std::shared_ptr<const CompiledKernel>& kernel, int smem_bytes);

/// Queues one launch on the default stream and waits for it.
void launch_and_wait(const LoadedKernel& kernel, const Launch& launch);

/// Makes one call on tensors in the device's memory; args is the operator's struct, not prepared.
using Launcher = std::function<hstu_status(const void* args)>;

/// Calls of the family in this configuration. The device outlives them.
template <class Args>
Launcher launcher_of(const Family& family, const Config& config, std::shared_ptr<const LoadedKernel> kernel,
                     const DeviceFacts& device) {
  return [&family, config, kernel = std::move(kernel), &device](const void* given) {
    Args args;
    std::memcpy(&args, given, sizeof args);
    const Problem problem = prepare(args);
    Launch launch;
    bind(family, &args, problem, config, device, gpu()->tile_counters->address(), launch);
    if (launch.grid[0] > 0) launch_and_wait(*kernel, launch);
    return HSTU_OK;
  };
}

}  // namespace hstujit::test
