// Devices, contexts, kernels and launches of the fake driver.
#include "support/fake_driver/fake_state.hpp"

#include <cstdio>
#include <cstring>

namespace fake {

// ---- Errors, version, devices

CUresult cuInit(unsigned) {
  HSTU_ENTER(cuInit, unsafe);
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  HSTU_ENTER(cuDriverGetVersion, safe);
  *version = state().version;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** text) {
  HSTU_ENTER(cuGetErrorName, safe);
  struct Name {
    CUresult error;
    const char* text;
  };
#define HSTU_NAMED(error) \
  { error, #error }
  static constexpr Name kErrors[] = {
      HSTU_NAMED(CUDA_ERROR_INVALID_VALUE),     HSTU_NAMED(CUDA_ERROR_OUT_OF_MEMORY),
      HSTU_NAMED(CUDA_ERROR_NO_DEVICE),         HSTU_NAMED(CUDA_ERROR_INVALID_DEVICE),
      HSTU_NAMED(CUDA_ERROR_INVALID_CONTEXT),   HSTU_NAMED(CUDA_ERROR_INVALID_HANDLE),
      HSTU_NAMED(CUDA_ERROR_NOT_FOUND),         HSTU_NAMED(CUDA_ERROR_ILLEGAL_ADDRESS),
      HSTU_NAMED(CUDA_ERROR_LAUNCH_FAILED),     HSTU_NAMED(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
      HSTU_NAMED(CUDA_ERROR_NO_BINARY_FOR_GPU), HSTU_NAMED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
  };
#undef HSTU_NAMED
  for (const Name& name : kErrors)
    if (name.error == error) return *text = name.text, CUDA_SUCCESS;
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  HSTU_ENTER(cuGetErrorString, safe);
  *text = "the fake driver says so";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  HSTU_ENTER(cuDeviceGetCount, safe);
  *count = state().device_count;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  HSTU_ENTER(cuDeviceGet, safe);
  if (ordinal < 0 || ordinal >= state().device_count) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  HSTU_ENTER(cuDeviceGetName, safe);
  std::snprintf(name, static_cast<size_t>(bytes), "NVIDIA H200");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  HSTU_ENTER(cuDeviceGetAttribute, safe);
  const std::lock_guard lock(state().mutex);
  const auto& set = state().attributes;
  const auto found = set.find(attribute);
  if (found == set.end()) return CUDA_ERROR_INVALID_VALUE;
  *value = found->second;
  return CUDA_SUCCESS;
}

// ---- Contexts

bool is_retained(CUcontext context) {
  const std::lock_guard lock(state().mutex);
  return context->retained > 0;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  HSTU_ENTER(cuDevicePrimaryCtxRetain, unsafe);
  const std::lock_guard lock(state().mutex);
  *context = &state().primary[static_cast<size_t>(device)];
  (*context)->ordinal = device;
  ++(*context)->retained;
  ++state().live_handles;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  HSTU_ENTER(cuDevicePrimaryCtxRelease, unsafe);
  const std::lock_guard lock(state().mutex);
  CUctx_st& context = state().primary[static_cast<size_t>(device)];
  --state().live_handles;
  if (--context.retained > 0) return CUDA_SUCCESS;
  std::erase_if(state().modules, [&](CUmodule module) {  // what is loaded goes with its context
    return module->context == &context && destroy(module) == CUDA_SUCCESS;
  });
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  HSTU_ENTER(cuCtxGetCurrent, safe);
  *context = current();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  HSTU_ENTER(cuCtxPushCurrent, safe);
  if (!context || !is_retained(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (current_contexts.count == ContextStack::kMost) return CUDA_ERROR_OUT_OF_MEMORY;
  current_contexts.contexts[current_contexts.count++] = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  HSTU_ENTER(cuCtxPopCurrent, safe);
  HSTU_NEEDS_CONTEXT;
  if (context) *context = current();
  --current_contexts.count;
  return CUDA_SUCCESS;
}

// ---- Kernels

CUresult cuModuleLoadData(CUmodule* module, const void* code) {
  HSTU_ENTER(cuModuleLoadData, unsafe);
  HSTU_NEEDS_CONTEXT;
  if (!code) return CUDA_ERROR_INVALID_VALUE;
  const CUresult made = make(module);
  if (made != CUDA_SUCCESS) return made;
  (*module)->context = current();
  const std::lock_guard lock(state().mutex);
  state().modules.insert(*module);
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  HSTU_ENTER(cuModuleUnload, unsafe);
  const std::lock_guard lock(state().mutex);
  if (!state().modules.contains(module)) return CUDA_ERROR_INVALID_HANDLE;
  if (module->context != current()) return CUDA_ERROR_INVALID_CONTEXT;
  state().modules.erase(module);
  return destroy(module);
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  HSTU_ENTER(cuModuleGetFunction, unsafe);
  if (!module || !name || !*name) return CUDA_ERROR_NOT_FOUND;
  if (module->context != current()) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard lock(state().mutex);
  *function = &module->functions[name];
  (*function)->entry = name;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  HSTU_ENTER(cuFuncGetAttribute, safe);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function->max_dynamic_smem;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = 64;
      return CUDA_SUCCESS;
    default:
      *value = 0;
      return CUDA_SUCCESS;
  }
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  HSTU_ENTER(cuFuncSetAttribute, unsafe);
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
  const std::lock_guard lock(state().mutex);
  if (value < 0 || value > state().attributes[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN])
    return CUDA_ERROR_INVALID_VALUE;
  function->max_dynamic_smem = value;
  return CUDA_SUCCESS;
}

bool launchable(const CUlaunchConfig& config, CUfunction function) {
  const uint64_t threads = uint64_t{config.blockDimX} * config.blockDimY * config.blockDimZ;
  return config.gridDimX && config.gridDimY && config.gridDimZ && config.gridDimY < 65536 && config.gridDimZ < 65536 &&
         threads > 0 && threads <= 1024 &&
         config.sharedMemBytes <= static_cast<unsigned>(function->max_dynamic_smem.load(std::memory_order_relaxed));
}

void record(const CUlaunchConfig& config, CUfunction function, void** params) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.last = {config, function, current(), function->entry.c_str(), {}};
  if (s.params_bytes > 0 && params && params[0]) std::memcpy(s.last.params, params[0], s.params_bytes);
}

void run_hook(const CUlaunchConfig& config, CUfunction function, void** params) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  const fake_launch_hook hook = s.hook;
  void* const user = s.hook_user;
  lock.unlock();
  const double took_us = hook ? hook(&config, function->entry.c_str(), params, user) : 0;
  lock.lock();
  s.now_us += took_us;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params, void** extra) {
  HSTU_ENTER(cuLaunchKernelEx, safe);
  if (state().launch_needs_context.load(std::memory_order_relaxed)) HSTU_NEEDS_CONTEXT;
  if (!config || !function || extra) return CUDA_ERROR_INVALID_VALUE;
  if (!launchable(*config, function)) return CUDA_ERROR_INVALID_VALUE;
  state().launches.fetch_add(1, std::memory_order_relaxed);
  if (state().recording.load(std::memory_order_relaxed)) record(*config, function, params);
  if (state().hook_set.load(std::memory_order_relaxed)) run_hook(*config, function, params);
  return CUDA_SUCCESS;
}

}  // namespace fake
