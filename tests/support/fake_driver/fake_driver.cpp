// The fake driver behind fake_driver.h: the functions of src/cuda/driver.hpp over host memory, with the rules of the
// real one that our code could break (current context, opted-in shared memory, nothing unsafe under capture).
#include "support/fake_driver/fake_driver.h"

#include "cuda/driver.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

// Opaque in cuda.h, ours to define.
struct CUctx_st {
  int ordinal = 0;
};
struct CUstream_st {};
struct CUevent_st {
  double at_us = 0;
};
struct CUfunc_st {
  std::string entry;
  std::atomic<int> max_dynamic_smem{48 * 1024};
};
struct CUkern_st {
  CUfunc_st function;
};
struct CUlib_st {
  std::map<std::string, CUkern_st> kernels;
};

namespace {

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
  std::atomic<int> device_count{1}, recording{1}, failures_set{0}, hook_set{0}, launch_needs_context{0};
  std::array<CUctx_st, kMaxDevices> primary{};

  std::mutex mutex;  // of all below
  std::map<int, Failure> failures;
  std::map<int, int> attributes;
  std::map<CUdeviceptr, size_t> allocations;
  size_t params_bytes = 0;
  fake_launch last{};
  fake_launch_hook hook = nullptr;
  void* hook_user = nullptr;
  double now_us = 0;
};

State& state() {
  static State& only = *new State;
  return only;
}

thread_local std::vector<CUcontext> current_contexts;

CUcontext current() { return current_contexts.empty() ? nullptr : current_contexts.back(); }

int index_of(const char* name) {
  for (int i = 0; i < kFunctionCount; ++i)
    if (std::string_view(kNames[i]) == name) return i;
  return -1;
}

CUresult injected_failure(Index index) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().failures.find(index);
  if (found == state().failures.end() || found->second.times == 0) return CUDA_SUCCESS;
  if (found->second.times > 0) --found->second.times;
  return found->second.result;
}

// Counts the call; what a test asked it to fail with.
CUresult enter(Index index, InCapture in_capture) {
  State& s = state();
  s.calls[static_cast<size_t>(index)].fetch_add(1, std::memory_order_relaxed);
  if (in_capture == InCapture::unsafe && s.capture.load(std::memory_order_relaxed) != CU_STREAM_CAPTURE_STATUS_NONE)
    s.unsafe_in_capture.fetch_add(1, std::memory_order_relaxed);
  return s.failures_set.load(std::memory_order_relaxed) ? injected_failure(index) : CUDA_SUCCESS;
}

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

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace

namespace fake {

// ---- Errors, version, devices

CUresult cuInit(unsigned) {
  HSTU_ENTER(cuInit, unsafe);
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  HSTU_ENTER(cuDriverGetVersion, safe);
  *version = CUDA_VERSION;
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

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  HSTU_ENTER(cuDevicePrimaryCtxRetain, unsafe);
  *context = &state().primary[static_cast<size_t>(device)];
  (*context)->ordinal = device;
  ++state().live_handles;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  HSTU_ENTER(cuDevicePrimaryCtxRelease, unsafe);
  --state().live_handles;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  HSTU_ENTER(cuCtxGetCurrent, safe);
  *context = current();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  HSTU_ENTER(cuCtxPushCurrent, safe);
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  current_contexts.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  HSTU_ENTER(cuCtxPopCurrent, safe);
  HSTU_NEEDS_CONTEXT;
  if (context) *context = current();
  current_contexts.pop_back();
  return CUDA_SUCCESS;
}

// ---- Kernels

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned, CUlibraryOption*,
                           void**, unsigned) {
  HSTU_ENTER(cuLibraryLoadData, unsafe);
  return code ? make(library) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuLibraryUnload(CUlibrary library) {
  HSTU_ENTER(cuLibraryUnload, unsafe);
  return destroy(library);
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  HSTU_ENTER(cuLibraryGetKernel, safe);
  if (!library || !name || !*name) return CUDA_ERROR_NOT_FOUND;
  const std::lock_guard lock(state().mutex);
  *kernel = &library->kernels[name];
  (*kernel)->function.entry = name;
  return CUDA_SUCCESS;
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  HSTU_ENTER(cuKernelGetFunction, unsafe);
  HSTU_NEEDS_CONTEXT;
  *function = &kernel->function;
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

// ---- Streams and events

CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  HSTU_ENTER(cuStreamIsCapturing, safe);
  *status = state().capture;
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  HSTU_ENTER(cuStreamCreate, unsafe);
  HSTU_NEEDS_CONTEXT;
  return make(stream);
}
CUresult cuStreamDestroy(CUstream stream) {
  HSTU_ENTER(cuStreamDestroy, unsafe);
  return destroy(stream);
}
CUresult cuStreamSynchronize(CUstream) {
  HSTU_ENTER(cuStreamSynchronize, unsafe);
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned) {
  HSTU_ENTER(cuEventCreate, unsafe);
  HSTU_NEEDS_CONTEXT;
  return make(event);
}
CUresult cuEventDestroy(CUevent event) {
  HSTU_ENTER(cuEventDestroy, unsafe);
  return destroy(event);
}
CUresult cuEventRecord(CUevent event, CUstream) {
  HSTU_ENTER(cuEventRecord, safe);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  const std::lock_guard lock(state().mutex);
  event->at_us = state().now_us;
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) {
  HSTU_ENTER(cuEventSynchronize, unsafe);
  return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent stop) {
  HSTU_ENTER(cuEventElapsedTime, unsafe);
  if (!start || !stop) return CUDA_ERROR_INVALID_HANDLE;
  const std::lock_guard lock(state().mutex);
  *ms = static_cast<float>((stop->at_us - start->at_us) / 1000);
  return CUDA_SUCCESS;
}

// ---- Memory

CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  HSTU_ENTER(cuMemAlloc, unsafe);
  HSTU_NEEDS_CONTEXT;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.live_bytes + static_cast<int64_t>(bytes) > kMemoryBytes) return CUDA_ERROR_OUT_OF_MEMORY;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(memory);
  s.allocations[*address] = bytes;
  s.live_bytes += static_cast<int64_t>(bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  HSTU_ENTER(cuMemFree, unsafe);
  if (!address) return CUDA_SUCCESS;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto found = s.allocations.find(address);
  if (found == s.allocations.end()) return CUDA_ERROR_INVALID_VALUE;
  s.live_bytes -= static_cast<int64_t>(found->second);
  s.allocations.erase(found);
  std::free(host(address));
  return CUDA_SUCCESS;
}
CUresult cuMemGetInfo(size_t* free, size_t* total) {
  HSTU_ENTER(cuMemGetInfo, unsafe);
  HSTU_NEEDS_CONTEXT;
  *free = static_cast<size_t>(kMemoryBytes - state().live_bytes);
  *total = static_cast<size_t>(kMemoryBytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  HSTU_ENTER(cuMemcpyHtoD, unsafe);
  std::memcpy(host(to), from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  HSTU_ENTER(cuMemcpyDtoH, unsafe);
  std::memcpy(to, host(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
  HSTU_ENTER(cuMemcpyDtoDAsync, safe);
  std::memmove(host(to), host(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream) {
  HSTU_ENTER(cuMemsetD8Async, safe);
  std::memset(host(to), value, count);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream) {
  HSTU_ENTER(cuMemsetD32Async, safe);
  std::fill_n(static_cast<unsigned*>(host(to)), count, value);
  return CUDA_SUCCESS;
}

}  // namespace fake

namespace {

// ---- The controls

std::map<int, int> h200_attributes() {
  return {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
          {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
          {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
          {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 * 1024},
          {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 * 1024},
          {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
          {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
          {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 60 * 1024 * 1024},
          {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1'980'000},
          {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3'201'000},
          {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144}};
}

void reset() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (auto& count : s.calls) count = 0;
  s.unsafe_in_capture = 0;
  s.launches = 0;
  s.capture = CU_STREAM_CAPTURE_STATUS_NONE;
  s.device_count = 1;
  s.recording = 1;
  s.launch_needs_context = 0;
  s.failures_set = 0;
  s.hook_set = 0;
  s.failures.clear();
  s.attributes = h200_attributes();
  s.params_bytes = 0;
  s.last = {};
  s.hook = nullptr;
}

int64_t calls(const char* name) {
  int64_t sum = 0;
  if (!name) {
    for (const auto& count : state().calls) sum += count;
    return sum;
  }
  const int index = index_of(name);
  return index < 0 ? -1 : state().calls[static_cast<size_t>(index)].load();
}

void fail_calls(const char* name, CUresult result, int times) {
  const int index = index_of(name);
  if (index < 0) std::abort();  // a test that misspells a function must not pass
  const std::lock_guard lock(state().mutex);
  state().failures[index] = {result, times};
  state().failures_set = 1;
}

void set_attribute(CUdevice_attribute attribute, int value) {
  const std::lock_guard lock(state().mutex);
  state().attributes[attribute] = value;
}

void set_params_bytes(size_t bytes) {
  const std::lock_guard lock(state().mutex);
  state().params_bytes = std::min(bytes, sizeof(fake_launch::params));
}

fake_launch last_launch() {
  const std::lock_guard lock(state().mutex);
  return state().last;
}

void set_launch_hook(fake_launch_hook hook, void* user) {
  const std::lock_guard lock(state().mutex);
  state().hook = hook;
  state().hook_user = user;
  state().hook_set = hook != nullptr;
}

constexpr fake_driver_controls kControls = {
    reset,
    calls,
    [] { return state().unsafe_in_capture.load(); },
    [](CUstreamCaptureStatus status) { state().capture = status; },
    fail_calls,
    set_attribute,
    [](int count) { state().device_count = std::clamp(count, 0, kMaxDevices); },
    [](int on) { state().launch_needs_context = on; },
    [](int on) { state().recording = on; },
    set_params_bytes,
    [] { return state().launches.load(); },
    last_launch,
    set_launch_hook,
    [] { return state().live_bytes.load(); },
    [] { return state().live_handles.load(); },
};

void* function_named(std::string_view name) {
#define HSTU_MATCH(function, version) \
  if (name == #function) return reinterpret_cast<void*>(static_cast<decltype(&::function)>(&fake::function));
  HSTU_DRIVER_FUNCTIONS(HSTU_MATCH)
#undef HSTU_MATCH
  return nullptr;
}

}  // namespace

extern "C" {

const fake_driver_controls* fake_driver(void) {
  static const bool once = (reset(), true);
  (void)once;
  return &kControls;
}

// Expands to cuGetProcAddress_v2, the one symbol that src/cuda looks up by dlsym besides cuDriverGetVersion.
__attribute__((visibility("default"))) CUresult CUDAAPI cuGetProcAddress(const char* symbol, void** function, int,
                                                                         cuuint64_t,
                                                                         CUdriverProcAddressQueryResult* found) {
  fake_driver();
  *function = function_named(symbol);
  if (found) *found = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

__attribute__((visibility("default"))) CUresult CUDAAPI cuDriverGetVersion(int* version) {
  return fake::cuDriverGetVersion(version);
}

}  // extern "C"
