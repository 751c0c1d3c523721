// A compiled kernel in the driver's hands, ready to launch. Loading happens off the hot path; launching is one call.
#pragma once

#include "cuda/driver.hpp"
#include "families/family.hpp"
#include "jit/compiled_kernel.hpp"
#include "launch/device_context.hpp"

#include <cuda.h>

namespace hstujit {

class LoadedKernel {
 public:
  /// Loads the binary into the thread's current context, which must be one of the device, and lets its blocks use
  /// `smem_bytes` of dynamic shared memory. Throws Error{DEVICE}.
  LoadedKernel(const Driver& driver, const CompiledKernel& kernel, int smem_bytes);
  /// Any context may be current.
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  /// Queues one launch. The hot path: no heap, no strings, no environment.
  CUresult launch(const Launch& launch, CUstream stream) const;

  static constexpr int kMostAttributes = 2;
  /// What a launch asks of the driver, in its own terms; attributes has room for kMostAttributes, and outlives it.
  CUlaunchConfig driver_config(const Launch& launch, CUstream stream, CUlaunchAttribute* attributes) const;

  CUfunction function() const { return function_; }
  const Driver& driver() const { return driver_; }

 private:
  const Driver& driver_;
  const HomeContext home_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

/// A launch with all decided, in the driver's own terms. What the call needs lies together: the driver leaves little of
/// anybody else in the processor's first cache.
class ReadyLaunch {
 public:
  /// kernel and launch outlive it. stream: the one that it will most likely be launched on. Launches nothing when
  /// kernel is null or the grid is empty.
  ReadyLaunch(const LoadedKernel* kernel, const Launch& launch, CUstream stream);
  ReadyLaunch(const ReadyLaunch&) = delete;
  ReadyLaunch& operator=(const ReadyLaunch&) = delete;

  /// Any number of threads at once.
  CUresult operator()(CUstream stream) const {
    if (stream == config_.hStream) [[likely]]
      return call_(&config_, function_, params_, nullptr);
    return elsewhere(stream);
  }

 private:
  CUresult elsewhere(CUstream stream) const;

  decltype(&::cuLaunchKernelEx) call_;
  CUfunction function_ = nullptr;
  mutable void* params_[1] = {};  ///< the driver reads them, by a type that says otherwise, and copies what is there
  CUlaunchConfig config_{};
  CUlaunchAttribute attributes_[LoadedKernel::kMostAttributes]{};
};

}  // namespace hstujit
