// Tunes calls on the GPU: the queue of tune.hpp over the real bench, compiler and device.
#pragma once

#include "cuda/driver.hpp"
#include "jit/jit.hpp"
#include "specialise/kernel_sources.hpp"
#include "tuner/tune.hpp"

namespace hstujit {

/// Digest of the kernel sources that the families are made of, for Evidence::kernels.
std::string kernels_digest(const std::vector<const Family*>& families, KernelSources& sources);

struct CallToTune {
  Problem problem;
  const void* args;   ///< the operator's prepared args struct
  double weight = 1;  ///< TuneProblem::weight
};

/// Only its integer tensors' contents are read, from device memory (whatever
/// writes them must be complete); all other tensors are replaced by buffers of the tuner's own of the same shape and
/// strides, so their data may be null. The device's context must be current. One outcome per call, see tune() and
/// GpuBench.
std::vector<TuneOutcome> tune_calls(const Driver& driver, const DeviceFacts& device, Jit& jit, Records& records,
                                    const std::vector<CallToTune>& calls, const TuneOptions& options);

/// A call by itself. Throws its error.
TuneResult tune_call(const Driver& driver, const DeviceFacts& device, Jit& jit, Records& records,
                     const Problem& problem, const void* args, const TuneOptions& options);

inline TuneResult tune_call(const Driver& driver, const DeviceFacts& device, Jit& jit, Records& records,
                            const Problem& problem, const void* args, int64_t budget_ms) {
  TuneOptions options;
  options.budget_ms = budget_ms;
  return tune_call(driver, device, jit, records, problem, args, options);
}

}  // namespace hstujit
