// A tensor of one call: torch's handle and the view that the C API takes.
#pragma once

#include "refuse.hpp"

#include <hstujit/hstujit.h>

#include <torch/csrc/stable/c/shim.h>

#include <cstdint>
#include <initializer_list>

namespace hstujit_torch {

/// Extents of a tensor that is to be made.
struct Shape {
  int rank = 0;
  int64_t extents[HSTU_MAX_RANK] = {};

  Shape() = default;
  Shape(std::initializer_list<int64_t> list) {
    for (const int64_t extent : list) extents[rank++] = extent;
  }
};

/// Borrowed: the Call owns what stands behind it.
class Argument {
 public:
  Argument(const char* op, const char* name) : op_(op), name_(name) {}

  explicit operator bool() const { return handle != nullptr; }
  const char* name() const { return name_; }
  int rank() const { return view.rank; }
  /// An extent, counted from the end where i is negative. Refuses an absent tensor and one of fewer dimensions.
  int64_t size(int i) const {
    const int dim = i < 0 ? view.rank + i : i;
    if (dim < 0 || dim >= view.rank) refuse_rank(i);
    return view.shape[dim];
  }
  Shape shape() const {
    size(0);
    Shape out;
    out.rank = view.rank;
    for (int i = 0; i < view.rank; ++i) out.extents[i] = view.shape[i];
    return out;
  }

  AtenTensorHandle handle = nullptr;
  hstu_tensor view{};
  int32_t dtype = 0;  ///< torch's

 private:
  [[noreturn]] void refuse_rank(int dim) const {
    if (!handle)
      refuse(op_, HSTU_ERROR_INVALID_ARGUMENT, name_, " is absent, and a result has its shape or type from it");
    refuse(op_, HSTU_ERROR_SHAPE_MISMATCH, name_, " has ", view.rank, " dimensions: this call reads dimension ", dim);
  }

  const char* op_;
  const char* name_;
};

}  // namespace hstujit_torch
