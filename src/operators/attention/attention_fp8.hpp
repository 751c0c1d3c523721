// FP8 attention as the attention that it is, but for its tensors' types and scales.
#pragma once

#include <hstujit/hstujit.h>

#include <cstdint>

namespace hstujit::attention_fp8 {

/// The call of hstu_attention with the same tensors and options; its q, k and v are E4M3 nevertheless.
hstu_attention_args as_attention(const hstu_attention_fp8_args& args);

/// Distances in descales, 0 where one is for all: from a sequence (BLOCK: from 128 rows) to the next, from a head to
/// the next.
int64_t unit_stride(const hstu_tensor& descale, hstu_fp8_attention_scaling scaling);
int64_t head_stride(const hstu_tensor& descale, hstu_fp8_attention_scaling scaling);

}  // namespace hstujit::attention_fp8
