// What the fake driver knows and how every call of it begins: counted, checked against the capture, failed on demand.
#pragma once

#include "cuda/driver.hpp"
#include "support/fake_driver/fake_driver.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>

// Opaque in cuda.h, ours to define.
struct CUctx_st {
  int ordinal = 0;
  int retained = 0;  ///< how often; without, the context is destroyed
};
struct CUstream_st {};
struct CUevent_st {
  double at_us = 0;
};
struct CUfunc_st {
  std::string entry;
  std::atomic<int> max_dynamic_smem{48 * 1024};
};
struct CUmod_st {
  CUcontext context = nullptr;  ///< that it was loaded into
  std::map<std::string, CUfunc_st> functions;
};

namespace fake {

enum Index : int {
#define HSTU_INDEX(function, version) kIndex_##function,
  HSTU_DRIVER_FUNCTIONS(HSTU_INDEX)
#undef HSTU_INDEX
      kFunctionCount
};

constexpr const char* kNames[] = {
#define HSTU_NAME(function, version) #function,
    HSTU_DRIVER_FUNCTIONS(HSTU_NAME)
#undef HSTU_NAME
};

enum class InCapture { safe, unsafe };

constexpr int kMaxDevices = 8;
constexpr int64_t kMemoryBytes = int64_t{8} << 30;

struct Failure {
  CUresult result = CUDA_SUCCESS;
  int times = 0;
};

struct State {
  std::array<std::atomic<int64_t>, kFunctionCount> calls{};
  std::atomic<int64_t> unsafe_in_capture{0}, launches{0}, live_bytes{0}, live_handles{0};
  std::atomic<CUstreamCaptureStatus> capture{CU_STREAM_CAPTURE_STATUS_NONE};
  std::atomic<int> version{CUDA_VERSION}, device_count{1}, recording{1}, failures_set{0}, hook_set{0},
      launch_needs_context{0};
  std::array<CUctx_st, kMaxDevices> primary{};

  std::mutex mutex;  // of all below
  std::map<int, Failure> failures;
  std::map<int, int> attributes;
  std::map<CUdeviceptr, size_t> allocations;
  std::set<CUmodule> modules;
  size_t params_bytes = 0;
  fake_launch last{};
  fake_launch_hook hook = nullptr;
  void* hook_user = nullptr;
  double now_us = 0;
};

State& state();

/// This thread's stack of current contexts. Needs no memory when a thread begins or ends, as a driver's should not.
struct ContextStack {
  static constexpr int kMost = 32;
  CUcontext contexts[kMost] = {};
  int count = 0;
};
inline constinit thread_local ContextStack current_contexts;
/// This thread's mode of looking at captures; in relaxed mode it disturbs none.
inline constinit thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
/// The stack's top, or null.
inline CUcontext current() {
  const ContextStack& stack = current_contexts;
  return stack.count == 0 ? nullptr : stack.contexts[stack.count - 1];
}

/// Position of a function in State::calls, or -1.
int index_of(const char* name);

/// Counts the call; what a test asked it to fail with.
CUresult enter(Index index, InCapture in_capture);

#define HSTU_ENTER(function, in_capture) \
  if (const CUresult failure = enter(kIndex_##function, InCapture::in_capture); failure != CUDA_SUCCESS) return failure
#define HSTU_NEEDS_CONTEXT                             \
  do {                                                 \
    if (!current()) return CUDA_ERROR_INVALID_CONTEXT; \
  } while (false)

template <class Handle>
CUresult make(Handle* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = new std::remove_pointer_t<Handle>;
  ++state().live_handles;
  return CUDA_SUCCESS;
}
template <class Handle>
CUresult destroy(Handle handle) {
  if (!handle) return CUDA_ERROR_INVALID_HANDLE;
  delete handle;
  --state().live_handles;
  return CUDA_SUCCESS;
}

// The driver's functions, in a namespace of their own.
#define HSTU_DECLARE(function, version) decltype(::function) function;
HSTU_DRIVER_FUNCTIONS(HSTU_DECLARE)
#undef HSTU_DECLARE

}  // namespace fake
