// The kernel families of this room, each defined in the file of its name or with its twins in one: a line each, of
// those of one operator the preferred first.
#pragma once

// clang-format off
#define HSTUJIT_FP8_FAMILIES(X) \
  X(Fp8AmaxSm80) \
  X(QuantizeFp8Sm80) \
  X(DequantizeFp8Sm80) \
  X(Fp8GemmSm90) \
  X(Fp8GemmSm80) \
  X(GatedFp8GemmSm90)
// clang-format on
