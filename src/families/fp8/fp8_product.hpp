// What the families of fp8_gemm read of a problem alike.
#pragma once

#include "operators/fp8/fp8_gemm.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/problem.hpp"
#include "tile/addmm_terms.h"

namespace hstujit::fp8_product {

/// Of a residual and of results, or what these are made of, if they are in FP8.
inline hstu_dtype element_of(const Problem& p) {
  const auto stored = static_cast<hstu_dtype>(p[fp8_gemm::kDtype]);
  if (!fp8::stores(stored)) return stored;
  if ((p[fp8_gemm::kBias] & hstu::kResidual) == 0) return HSTU_DTYPE_BF16;
  const bool both = (p[fp8_gemm::kBias] & hstu::kRowBias) != 0;
  return static_cast<hstu_dtype>(p[both ? fp8_gemm::kResidualDtype : fp8_gemm::kBiasDtype]);
}

inline bool scales_along_k(const Problem& p) {
  return fp8::changes_along_k(p[fp8_gemm::kScalingA]) || fp8::changes_along_k(p[fp8_gemm::kScalingB]);
}

}  // namespace hstujit::fp8_product
