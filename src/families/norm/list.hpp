// The kernel families of this room, each defined in the file of its name or with its twins in one: a line each, of
// those of one operator the preferred first.
#pragma once

// clang-format off
#define HSTUJIT_NORM_FAMILIES(X) \
  X(LayerNormSm80) \
  X(LayerNormFp8Sm80) \
  X(NormMulSm80) \
  X(NormMulFp8Sm80) \
  X(RmsNormSm80) \
  X(RmsNormFp8Sm80) \
  X(SwishLayerNormSm80) \
  X(GroupNormSm80) \
  X(RmsNormRopeSm80) \
  X(RmsNormRopeFp8Sm80) \
  X(SoftmaxSm80) \
  X(DropoutSm80) \
  X(LayerNormBwdSm80)
// clang-format on
