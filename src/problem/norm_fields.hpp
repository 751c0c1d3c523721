// Key fields of the normalising operators: indices into Problem::field, in the order of fields_of(op).
#pragma once

namespace hstujit {

namespace layer_norm {
enum : int { kDtype, kWeightDtype, kHasWeight, kDim, kVector, kRows };
}
namespace norm_mul {
enum : int {
  kDtype,
  kWeightDtype,
  kDim,
  kGroups /* 0 layer norm */,
  kActivation,
  kConcatU,
  kConcatX,
  kSiluU,
  kVector,
  kRows
};
}

}  // namespace hstujit
