// The controls of fake_driver.h and the two symbols that src/cuda looks up by dlsym.
#include "support/fake_driver/fake_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>

namespace fake {
namespace {

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

/// For processes that no test can steer from inside.
int variable(const char* name, int otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::atoi(value) : otherwise;
}

void reset() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.version = variable("HSTU_FAKE_DRIVER_VERSION", CUDA_VERSION);
  for (auto& count : s.calls) count = 0;
  s.unsafe_in_capture = 0;
  s.launches = 0;
  s.capture = CU_STREAM_CAPTURE_STATUS_NONE;
  s.device_count = std::clamp(variable("HSTU_FAKE_DEVICES", 1), 0, kMaxDevices);
  s.recording = 1;
  s.launch_needs_context = 0;
  s.failures_set = 0;
  s.failures.clear();
  s.attributes = h200_attributes();
  s.params_bytes = 0;
  s.last = {};
  s.hook = fake_driver_first_hook;
  s.hook_user = nullptr;
  s.hook_set = s.hook != nullptr;
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

/// The function as hosts call it: memory that runs out is a status, too.
template <auto kFunction>
struct Called;
template <class... Args, CUresult (*kFunction)(Args...)>
struct Called<kFunction> {
  static CUresult call(Args... args) {
    try {
      return kFunction(args...);
    } catch (const std::bad_alloc&) { return CUDA_ERROR_OUT_OF_MEMORY; }
  }
};

void* function_named(std::string_view name) {
#define HSTU_MATCH(function, version) \
  if (name == #function)              \
    return reinterpret_cast<void*>(&Called<static_cast<decltype(&::function)>(&fake::function)>::call);
  HSTU_DRIVER_FUNCTIONS(HSTU_MATCH)
#undef HSTU_MATCH
  return nullptr;
}

}  // namespace
}  // namespace fake

extern "C" {

fake_launch_hook fake_driver_first_hook = nullptr;

const fake_driver_controls* fake_driver(void) {
  static const bool once = (fake::reset(), true);
  (void)once;
  return &fake::kControls;
}

// Expands to cuGetProcAddress_v2, the one symbol that src/cuda looks up by dlsym besides cuDriverGetVersion.
__attribute__((visibility("default"))) CUresult CUDAAPI cuGetProcAddress(const char* symbol, void** function, int since,
                                                                         cuuint64_t,
                                                                         CUdriverProcAddressQueryResult* found) {
  try {
    fake_driver();
  } catch (const std::bad_alloc&) { return CUDA_ERROR_OUT_OF_MEMORY; }
  *function = since <= fake::state().version ? fake::function_named(symbol) : nullptr;
  if (found) *found = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

__attribute__((visibility("default"))) CUresult CUDAAPI cuDriverGetVersion(int* version) {
  try {
    fake_driver();
  } catch (const std::bad_alloc&) { return CUDA_ERROR_OUT_OF_MEMORY; }
  return fake::cuDriverGetVersion(version);
}

}  // extern "C"
