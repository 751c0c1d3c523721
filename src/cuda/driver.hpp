// The CUDA driver, opened at run time: the library loads and works for the CPU on machines that have none. The only
// rooms that say cu* are this one and launch.
#pragma once

#include "cuda/device.hpp"

#include <cuda.h>

#include <memory>
#include <string>

namespace hstujit {

class Library;

// X(member, symbol, API version asked of cuGetProcAddress)
#define HSTU_DRIVER_FUNCTIONS(X)              \
  X(cuInit, 2000)                             \
  X(cuDriverGetVersion, 2020)                 \
  X(cuGetErrorName, 6000)                     \
  X(cuGetErrorString, 6000)                   \
  X(cuDeviceGet, 2000)                        \
  X(cuDeviceGetCount, 2000)                   \
  X(cuDeviceGetName, 2000)                    \
  X(cuDeviceGetAttribute, 2000)               \
  X(cuDevicePrimaryCtxRetain, 7000)           \
  X(cuDevicePrimaryCtxRelease, 11000)         \
  X(cuCtxGetCurrent, 4000)                    \
  X(cuCtxPushCurrent, 4000)                   \
  X(cuCtxPopCurrent, 4000)                    \
  X(cuModuleLoadData, 2000)                   \
  X(cuModuleUnload, 2000)                     \
  X(cuModuleGetFunction, 2000)                \
  X(cuFuncGetAttribute, 2020)                 \
  X(cuFuncSetAttribute, 9000)                 \
  X(cuLaunchKernelEx, 11060)                  \
  X(cuStreamIsCapturing, 10000)               \
  X(cuThreadExchangeStreamCaptureMode, 10010) \
  X(cuStreamCreate, 2000)                     \
  X(cuStreamDestroy, 4000)                    \
  X(cuStreamSynchronize, 2000)                \
  X(cuEventCreate, 2000)                      \
  X(cuEventDestroy, 4000)                     \
  X(cuEventRecord, 2000)                      \
  X(cuEventSynchronize, 2000)                 \
  X(cuEventElapsedTime, 2000)                 \
  X(cuMemAlloc, 3020)                         \
  X(cuMemFree, 3020)                          \
  X(cuMemGetInfo, 3020)                       \
  X(cuMemcpyHtoD, 3020)                       \
  X(cuMemcpyDtoH, 3020)                       \
  X(cuMemcpyDtoDAsync, 3020)                  \
  X(cuMemsetD8Async, 3020)                    \
  X(cuMemsetD32Async, 3020)                   \
  X(cuTensorMapEncodeTiled, 12000)            \
  X(cuTensorMapReplaceAddress, 12000)

/// The driver's functions, as members named like the functions themselves.
struct Driver {
#define HSTU_DECLARE(function, version) decltype(&::function) function = nullptr;
  HSTU_DRIVER_FUNCTIONS(HSTU_DECLARE)
#undef HSTU_DECLARE
  int version = 0;                         ///< 13000 for CUDA 13.0
  std::string path;                        ///< the library that was opened
  std::shared_ptr<const Library> library;  ///< keeps the functions callable

  /// Throws Error{DEVICE} naming what was being done, the call's error name and its text.
  void check(CUresult result, const char* doing) const;

  /// Copies from the host, and waits for it: else streams that do not wait for the legacy one could overtake the copy.
  void upload(CUdeviceptr to, const void* from, size_t bytes) const;
};

/// Opens the driver on first use ($HSTUJIT_LIBCUDA, else libcuda.so.1) and calls cuInit. Throws Error{DEVICE} saying
/// what was looked for; a failure is remembered.
const Driver& driver();

/// The same for one library, remembering nothing.
Driver open_driver(const std::string& library);

/// Facts of device `ordinal`.
DeviceFacts device_facts(const Driver& driver, int ordinal);

}  // namespace hstujit
