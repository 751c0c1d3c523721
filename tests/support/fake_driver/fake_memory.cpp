// Streams, events and memory of the fake driver. Copies and fills happen at once, whatever the stream.
#include "support/fake_driver/fake_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fake {
namespace {

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace

// ---- Streams and events

CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  HSTU_ENTER(cuStreamIsCapturing, safe);
  *status = state().capture;
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  HSTU_ENTER(cuThreadExchangeStreamCaptureMode, safe);
  std::swap(*mode, capture_mode);
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
  try {
    s.allocations[*address] = bytes;
  } catch (...) {
    std::free(memory);
    throw;
  }
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
/// HSTU_FAKE_FILLS_MOST: fills of more bytes do nothing, for processes that push much through the cache.
bool too_large(size_t bytes) {
  static const char* const most = std::getenv("HSTU_FAKE_FILLS_MOST");
  return most && bytes > std::strtoull(most, nullptr, 10);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream) {
  HSTU_ENTER(cuMemsetD8Async, safe);
  if (too_large(count)) return CUDA_SUCCESS;
  std::memset(host(to), value, count);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream) {
  HSTU_ENTER(cuMemsetD32Async, safe);
  std::fill_n(static_cast<unsigned*>(host(to)), count, value);
  return CUDA_SUCCESS;
}

// Keeps the address and the extents, and refuses what the real driver would: a thread without a context, pitches and
// addresses off 16 bytes.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank, void* base,
                                const cuuint64_t* extent, const cuuint64_t* stride, const cuuint32_t* box,
                                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  HSTU_ENTER(cuTensorMapEncodeTiled, safe);
  HSTU_NEEDS_CONTEXT;
  if (rank < 1 || rank > 5 || reinterpret_cast<uintptr_t>(base) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
  *map = {};
  map->opaque[0] = reinterpret_cast<uintptr_t>(base);
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (extent[i] == 0 || box[i] == 0 || box[i] > 256) return CUDA_ERROR_INVALID_VALUE;
    if (i + 1 < rank && stride[i] % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    if (i > 0 && extent[i] > 1 && stride[i - 1] == 0) return CUDA_ERROR_INVALID_VALUE;
    map->opaque[i + 1] = extent[i];
  }
  return CUDA_SUCCESS;
}
CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* base) {
  HSTU_ENTER(cuTensorMapReplaceAddress, safe);
  if (reinterpret_cast<uintptr_t>(base) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
  map->opaque[0] = reinterpret_cast<uintptr_t>(base);
  return CUDA_SUCCESS;
}

}  // namespace fake
