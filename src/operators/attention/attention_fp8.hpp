// The key of hstu_attention_fp8, and its call as the attention that it is but for its tensors' types and scales.
#pragma once

#include "operators/attention/attention.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>

namespace hstujit {

/// Of those that hstu_attention has, too, dtype is out's, and vector the bytes of an access to q, k and v, up to 16.
#define HSTUJIT_ATTENTION_FP8_FIELDS(X)                        \
  HSTUJIT_JAGGED_ATTENTION_FIELDS(X)                           \
  X(kScaling, scaling, exact) /* hstu_fp8_attention_scaling */ \
  X(kVectorOut, vector_out, exact)                             \
  X(kFastSums, fast_sums, exact)                               \
  X(kHeadsPerKv, heads_per_kv, exact)
HSTUJIT_KEY_FIELDS(attention_fp8, HSTUJIT_ATTENTION_FP8_FIELDS)

namespace attention_fp8 {

/// The call of hstu_attention with the same tensors and options; its q, k and v are E4M3 nevertheless.
hstu_attention_args as_attention(const hstu_attention_fp8_args& args);

/// Distances in descales, 0 where one is for all: from a sequence (BLOCK: from 128 rows) to the next, from a head to
/// the next.
int64_t unit_stride(const hstu_tensor& descale, hstu_fp8_attention_scaling scaling);
int64_t head_stride(const hstu_tensor& descale, hstu_fp8_attention_scaling scaling);

}  // namespace attention_fp8

}  // namespace hstujit
