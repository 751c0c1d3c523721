// NVRTC, opened at run time and only by those who compile: a warm start never maps its 100 MB.
#pragma once

#include "cuda/library.hpp"

#include <nvrtc.h>

#include <span>
#include <string>
#include <vector>

namespace hstujit {

#define HSTU_NVRTC_FUNCTIONS(X) \
  X(nvrtcVersion)               \
  X(nvrtcGetErrorString)        \
  X(nvrtcGetNumSupportedArchs)  \
  X(nvrtcGetSupportedArchs)     \
  X(nvrtcCreateProgram)         \
  X(nvrtcDestroyProgram)        \
  X(nvrtcCompileProgram)        \
  X(nvrtcGetPTXSize)            \
  X(nvrtcGetPTX)                \
  X(nvrtcGetCUBINSize)          \
  X(nvrtcGetCUBIN)              \
  X(nvrtcGetProgramLogSize)     \
  X(nvrtcGetProgramLog)         \
  X(nvrtcAddNameExpression)     \
  X(nvrtcGetLoweredName)        \
  X(nvrtcSetFlowCallback)

/// NVRTC's functions, as members named like the functions themselves, and which NVRTC it is.
struct Nvrtc {
#define HSTU_DECLARE(function) decltype(&::function) function = nullptr;
  HSTU_NVRTC_FUNCTIONS(HSTU_DECLARE)
#undef HSTU_DECLARE
  Library library;
  int version = 0;         ///< 13000 for 13.0
  std::string identity;    ///< "NVRTC 13.0 65be0db3...": version, ELF build id, flags of the environment; equal means
                           ///< equal code
  std::vector<int> archs;  ///< compute capabilities it compiles for: 80, 86, ...

  /// Opens the library at `path`, or with "" the first of nvrtc_candidates(). Throws Error{COMPILE}.
  explicit Nvrtc(const std::string& path);
};

/// The NVRTC at `path` ("" for the usual names), opened on first use and kept open. Throws Error{COMPILE}.
const Nvrtc& nvrtc_at(const std::string& path);

/// Where NVRTC is looked for when no path is given: by name, then in CUDA_HOME, CUDA_PATH and /usr/local/cuda.
std::vector<std::string> nvrtc_candidates();

/// What to compile for so that a device of this compute capability can run it: "sm_90a" where the compiler knows the
/// device, else "compute_XX" (PTX) of the newest architecture it knows that is not newer than the device. Throws
/// Error{UNSUPPORTED} when there is none.
std::string target_for(int compute_capability, std::span<const int> supported_archs);

/// target_for() without loading NVRTC for the architectures every supported version knows (up to 90). For newer ones
/// NVRTC's own list is asked for; where none is installed, those of CUDA 13.0.
std::string target_of_device(int compute_capability);

}  // namespace hstujit
