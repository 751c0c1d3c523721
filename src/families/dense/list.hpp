// The kernel families of this room, each defined in the file of its name or with its twins in one: a line each, of
// those of one operator the preferred first.
#pragma once

// clang-format off
#define HSTUJIT_DENSE_FAMILIES(X) \
  X(AddmmThinSm80) \
  X(AddmmSplitSm90) \
  X(AddmmSm90) \
  X(AddmmSm80) \
  X(GatedMlpSm90) \
  X(GatedMlpSm80) \
  X(GatedAddmmSm90) \
  X(NormAddmmSm90)
// clang-format on
