#include "chain/workspace.hpp"

#include "operators/problem.hpp"
#include "support/error.hpp"

namespace hstujit::chain {

std::byte* Workspace::take(int64_t bytes) {
  const size_t rounded = (static_cast<size_t>(bytes) + kWorkspaceAlignment - 1) / kWorkspaceAlignment;
  const size_t begin = used_;
  if (__builtin_add_overflow(used_, rounded * kWorkspaceAlignment, &used_))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "x: the workspace for its rows overflows 64 bits; pass the buffer's real shape");
  return real_ ? base_ + begin : nullptr;
}

void Workspace::check() const {
  if (used_ > 0 && !base_)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "workspace = NULL: {} bytes of device memory are needed", used_);
  if (reinterpret_cast<uintptr_t>(base_) % kWorkspaceAlignment != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "workspace = {}: it must be aligned to {} bytes", static_cast<void*>(base_),
         kWorkspaceAlignment);
  if (used_ > bytes_) fail(HSTU_ERROR_INVALID_ARGUMENT, "workspace_size = {}: {} bytes are needed", bytes_, used_);
}

int64_t matrix_bytes(hstu_dtype dtype, int64_t rows, int64_t columns) {
  int64_t elements = 0, bytes = 0;
  if (__builtin_mul_overflow(rows, columns, &elements) || __builtin_mul_overflow(elements, size_of(dtype), &bytes) ||
      bytes > INT64_MAX - static_cast<int64_t>(kWorkspaceAlignment))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "x.shape[0] = {}: {} columns of workspace overflow 64 bits", rows, columns);
  return bytes;
}

}  // namespace hstujit::chain
