#include "support/fake_driver/fake_state.hpp"

#include <string_view>

namespace fake {
namespace {

CUresult injected_failure(Index index) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().failures.find(index);
  if (found == state().failures.end() || found->second.times == 0) return CUDA_SUCCESS;
  if (found->second.times > 0) --found->second.times;
  return found->second.result;
}

}  // namespace

State& state() {
  static State& only = *new State;
  return only;
}

int index_of(const char* name) {
  for (int i = 0; i < kFunctionCount; ++i)
    if (std::string_view(kNames[i]) == name) return i;
  return -1;
}

CUresult enter(Index index, InCapture in_capture) {
  State& s = state();
  s.calls[static_cast<size_t>(index)].fetch_add(1, std::memory_order_relaxed);
  if (in_capture == InCapture::unsafe && capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      s.capture.load(std::memory_order_relaxed) != CU_STREAM_CAPTURE_STATUS_NONE)
    s.unsafe_in_capture.fetch_add(1, std::memory_order_relaxed);
  return s.failures_set.load(std::memory_order_relaxed) ? injected_failure(index) : CUDA_SUCCESS;
}

}  // namespace fake
