// Matrices in E4M3 with their scales, as intermediate results in a workspace.
#pragma once

#include "chain/workspace.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>

namespace hstujit::chain {

struct Quantised {
  hstu_tensor q, descale;
};

/// Where one lies, or several one after another.
struct QuantisedSpace {
  std::byte *q, *descale;

  /// Room for any matrix of so many rows, up to this many columns and scales of ROW or GROUP.
  static QuantisedSpace take(Workspace& space, int64_t rows, int64_t columns, hstu_fp8_scaling scaling);
  Quantised matrix(int64_t rows, int64_t columns, hstu_fp8_scaling scaling) const;
};

}  // namespace hstujit::chain
