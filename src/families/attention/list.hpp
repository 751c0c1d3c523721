// The kernel families of this room, each defined in the file of its name or with its twins in one: a line each, of
// those of one operator the preferred first.
#pragma once

// clang-format off
#define HSTUJIT_ATTENTION_FAMILIES(X) \
  X(AttnFwdSm90) \
  X(AttnFwdSm80) \
  X(AttnSplitSm80) \
  X(AttnDeltaSm90) \
  X(AttnDeltaSm80) \
  X(AttnPagedSm90) \
  X(AttnPagedSm80) \
  X(AppendKvCacheSm80) \
  X(FlashAttnSm90) \
  X(FlashAttnSm80) \
  X(AttnF32Sm80) \
  X(FlashAttnF32Sm80) \
  X(AttnDeltaF32Sm80) \
  X(AttnPagedF32Sm80) \
  X(AttnFp8Sm90) \
  X(AttnFp8Sm80) \
  X(BuildSlaFuncSm80) \
  X(RelBiasSm90) \
  X(RelBiasSm80) \
  X(AttnBwdSm80) \
  X(AttnBwdF32Sm80)
// clang-format on
