// The kernel families of this room, each defined in the file of its name or with its twins in one: a line each, of
// those of one operator the preferred first.
#pragma once

// clang-format off
#define HSTUJIT_JAGGED_FAMILIES(X) \
  X(Concat2dJaggedSm80) \
  X(Split2dJaggedSm80) \
  X(JaggedBmmSm90) \
  X(JaggedBmmSm80) \
  X(JaggedBroadcastAddSm80) \
  X(CompleteCumsumSm80) \
  X(CumsumTilesSm80) \
  X(Concat1dJaggedSm90) \
  X(Concat1dJaggedSm80) \
  X(Split1dJaggedSm90) \
  X(Split1dJaggedSm80) \
  X(Expand1dJaggedSm80) \
  X(ReplaceLastNSm80) \
  X(JaggedTranspose1dSm90) \
  X(JaggedTranspose1dSm80) \
  X(JaggedReduceSumSm80) \
  X(JaggedToPaddedDenseSm80) \
  X(DenseToJaggedSm80) \
  X(JaggedTruncateHistorySm80) \
  X(SortKvPairsSm80) \
  X(SortKvPartsSm80) \
  X(SortByLengthSm80) \
  X(SortByLengthPartsSm80) \
  X(JaggedRemove1dSm90) \
  X(JaggedRemove1dSm80)
// clang-format on
