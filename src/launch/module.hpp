// A compiled kernel in the driver's hands, ready to launch. Loading happens off the hot path; launching is one call.
#pragma once

#include "cuda/driver.hpp"
#include "families/family.hpp"
#include "jit/compiled_kernel.hpp"

#include <cuda.h>

namespace hstujit {

class LoadedKernel {
 public:
  /// Loads the binary and lets its blocks use `smem_bytes` of dynamic shared memory. A context of the device must be
  /// current. Throws Error{DEVICE}.
  LoadedKernel(const Driver& driver, const CompiledKernel& kernel, int smem_bytes);
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  /// Queues one launch. The hot path: no heap, no strings, no environment.
  CUresult launch(const Launch& launch, CUstream stream) const;

  static constexpr int kMostAttributes = 2;
  /// What a launch asks of the driver, in its own terms; attributes has room for kMostAttributes, and outlives it.
  CUlaunchConfig driver_config(const Launch& launch, CUstream stream, CUlaunchAttribute* attributes) const;

  CUfunction function() const { return function_; }

 private:
  const Driver& driver_;
  CUlibrary library_ = nullptr;
  CUfunction function_ = nullptr;
};

/// Makes a context current for one scope, and the caller's own current again afterwards.
class CurrentContext {
 public:
  CurrentContext(const Driver& driver, CUcontext context);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const Driver& driver_;
};

}  // namespace hstujit
