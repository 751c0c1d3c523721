// The kernel families of this room, each defined in the file of its name or with its twins in one: a line each, of
// those of one operator the preferred first.
#pragma once

// clang-format off
#define HSTUJIT_POSITION_FAMILIES(X) \
  X(PositionalSm80) \
  X(TimestampPositionalSm80)
// clang-format on
