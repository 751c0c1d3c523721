// One NVRTC compilation, headers in memory, from Source to CompiledKernel.
#pragma once

#include "cuda/nvrtc.hpp"
#include "jit/compiled_kernel.hpp"
#include "specialise/kernel_sources.hpp"
#include "specialise/source.hpp"

namespace hstujit {

/// Throws Error{COMPILE} with options and the whole log. Any number of threads may call it; at most one compilation per
/// core runs at a time (about 100 MB each), the others wait.
CompiledKernel compile(const Nvrtc& nvrtc, const Source& source, const SourceClosure& headers);

}  // namespace hstujit
