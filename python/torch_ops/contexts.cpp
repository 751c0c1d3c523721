#include "contexts.hpp"

#include "refuse.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <iterator>
#include <mutex>
#include <string>

namespace hstujit_torch {
namespace {

constexpr int kMaxDevices = 64;

/// What contexts are made with; hstujit_torch_configure changes it.
struct Options {
  bool store_given = false, system_store_given = false;
  std::string store, system_store;
  hstu_miss_policy miss = HSTU_MISS_DEFAULT;
};

// Never destroyed: calls come from threads that live as long as the process. The first is "cpu".
std::atomic<hstu_context*> contexts[1 + kMaxDevices];
std::mutex making;  // of a context, and of `options`
Options& options() {
  static Options& all = *new Options;
  return all;
}

// A context belongs to the process that made it, so a child begins without any.
void before_fork() { making.lock(); }
void in_parent() { making.unlock(); }
void in_child() {
  for (std::atomic<hstu_context*>& each : contexts) each.store(nullptr, std::memory_order_relaxed);
  making.unlock();
}
[[maybe_unused]] const int at_fork = pthread_atfork(before_fork, in_parent, in_child);

hstu_status make(hstu_context** out, size_t slot) {
  const std::string device = slot == 0 ? "cpu" : "cuda:" + std::to_string(slot - 1);
  hstu_context_options with{};
  with.struct_size = sizeof with;
  with.device = device.c_str();
  with.miss_policy = options().miss;
  if (options().store_given) with.store_path = options().store.c_str();
  if (options().system_store_given) with.system_store_path = options().system_store.c_str();
  return hstu_context_create(out, &with);
}

hstu_status obtain(hstu_context** out, size_t slot) {
  const std::lock_guard lock(making);
  *out = contexts[slot].load(std::memory_order_acquire);
  if (*out) return HSTU_OK;
  const hstu_status status = make(out, slot);
  if (status == HSTU_OK) contexts[slot].store(*out, std::memory_order_release);
  return status;
}

using StreamOf = int32_t (*)(int32_t device, void** stream);

/// Of libtorch_cuda, which is in the process once there is a tensor on such a device. Null without it.
StreamOf find_stream_of() {
  void* library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return nullptr;
  void* const found = dlsym(library, "aoti_torch_get_current_cuda_stream");
  dlclose(library);  // it stays: torch holds it
  return reinterpret_cast<StreamOf>(found);
}

}  // namespace

hstu_context* context_of(const char* op, bool cuda, int32_t index) {
  if (cuda && (index < 0 || index >= kMaxDevices))
    refuse(op, HSTU_ERROR_UNSUPPORTED, "CUDA device ", index, ": at most ", kMaxDevices, " have a context");
  const size_t slot = cuda ? static_cast<size_t>(index) + 1 : 0;
  hstu_context* context = contexts[slot].load(std::memory_order_acquire);
  if (context) return context;
  const hstu_status status = obtain(&context, slot);
  if (status != HSTU_OK) refuse(op, status, hstu_last_error());
  return context;
}

hstu_stream current_stream(const char* op, int32_t index) {
  static std::atomic<StreamOf> found;
  StreamOf stream_of = found.load(std::memory_order_acquire);
  if (!stream_of) {
    stream_of = find_stream_of();
    if (!stream_of) refuse(op, HSTU_ERROR_DEVICE, "libtorch_cuda.so is not loaded, so there is no stream of its");
    found.store(stream_of, std::memory_order_release);
  }
  void* stream = nullptr;
  if (stream_of(index, &stream) != 0) refuse(op, HSTU_ERROR_DEVICE, "torch gives no stream of CUDA device ", index);
  return static_cast<hstu_stream>(stream);
}

}  // namespace hstujit_torch

// For hstujit's Python: which stores and which miss policy contexts get that are made from now on; NULL: the
// environment's. Those that exist get the policy.
extern "C" HSTU_API hstu_status hstujit_torch_configure(const char* store, const char* system_store, int32_t miss) {
  using namespace hstujit_torch;
  const std::lock_guard lock(making);
  Options& all = options();
  all.store_given = store != nullptr;
  all.store = store ? store : "";
  all.system_store_given = system_store != nullptr;
  all.system_store = system_store ? system_store : "";
  all.miss = static_cast<hstu_miss_policy>(miss);
  for (const std::atomic<hstu_context*>& each : contexts) {
    hstu_context* const context = each.load(std::memory_order_acquire);
    if (!context) continue;
    const hstu_status status = hstu_context_set_miss_policy(context, all.miss);
    if (status != HSTU_OK) return status;
  }
  return HSTU_OK;
}

// The context of "cpu" (-1) or of a CUDA device. One that is not there yet is made, or is NULL where make is 0.
extern "C" HSTU_API hstu_status hstujit_torch_context(hstu_context** out, int32_t device, int32_t make_it) {
  using namespace hstujit_torch;
  if (!out || device < -1 || device >= kMaxDevices) return HSTU_ERROR_INVALID_ARGUMENT;
  const auto slot = static_cast<size_t>(device + 1);
  if (make_it) return obtain(out, slot);
  *out = contexts[slot].load(std::memory_order_acquire);
  return HSTU_OK;
}
