// Key fields of the dense products: indices into Problem::field, in the order of fields_of(op).
#pragma once

namespace hstujit {

namespace addmm {
enum : int {
  kDtype,
  kN,
  kK,
  kBias /* 0 none, 1 row, 2 residual */,
  kBiasDtype,
  kActivation,
  kActColumns,
  kWeightTransposed,
  kVectorX,
  kVectorW,
  kVectorZ /* z and residual y */,
  kM
};
}

}  // namespace hstujit
