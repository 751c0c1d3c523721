// Tunes one call on the GPU: the orchestrator of tune.hpp over the real bench, compiler and device.
#pragma once

#include "cuda/driver.hpp"
#include "jit/jit.hpp"
#include "specialise/kernel_sources.hpp"
#include "tuner/tune.hpp"

namespace hstujit {

/// Digest of the kernel sources that the families are made of, for Evidence::kernels.
std::string kernels_digest(const std::vector<const Family*>& families, KernelSources& sources);

/// args: the operator's prepared args struct. Only its integer tensors' contents are read, from device memory (whatever
/// writes them must be complete); all other tensors are replaced by buffers of the tuner's own of the same shape and
/// strides, so their data may be null. The device's context must be current. Throws Error, see tune() and GpuBench.
TuneResult tune_call(const Driver& driver, const DeviceFacts& device, Jit& jit, Records& records,
                     const Problem& problem, const void* args, const TuneOptions& options);

inline TuneResult tune_call(const Driver& driver, const DeviceFacts& device, Jit& jit, Records& records,
                            const Problem& problem, const void* args, int64_t budget_ms) {
  TuneOptions options;
  options.budget_ms = budget_ms;
  return tune_call(driver, device, jit, records, problem, args, options);
}

}  // namespace hstujit
