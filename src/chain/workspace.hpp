// Cuts tensors out of a caller's workspace, or only adds up what they would take.
#pragma once

#include "operators/operators.hpp"

#include <hstujit/hstujit.h>

#include <cstddef>
#include <cstdint>

namespace hstujit::chain {

class Workspace {
 public:
  /// Adds up only: tensors get no address.
  Workspace() = default;
  Workspace(void* base, size_t bytes) : base_(static_cast<std::byte*>(base)), bytes_(bytes), real_(true) {}

  /// Room of so many bytes, aligned; throws INVALID_ARGUMENT when the sum overflows.
  std::byte* take(int64_t bytes);

  /// Throws INVALID_ARGUMENT unless the workspace is there, aligned and holds all that was taken.
  void check() const;
  size_t used() const { return used_; }

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0, used_ = 0;
  bool real_ = false;
};

/// Bytes of a dense matrix; throws INVALID_ARGUMENT when they overflow 63 bits.
int64_t matrix_bytes(hstu_dtype dtype, int64_t rows, int64_t columns);

}  // namespace hstujit::chain
