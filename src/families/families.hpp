// Declarations of every family, each defined in its room, in the file of its name or with its twins in one.
#pragma once

#include "families/family.hpp"

namespace hstujit {

extern const Family kLayerNormSm80;
extern const Family kLayerNormFp8Sm80;
extern const Family kAddmmThinSm80;
extern const Family kAddmmSplitSm90;
extern const Family kAddmmSm90;
extern const Family kAddmmSm80;
extern const Family kAttnFwdSm80;
extern const Family kAttnFwdSm90;
extern const Family kAttnSplitSm80;
extern const Family kAttnDeltaSm90;
extern const Family kAttnDeltaSm80;
extern const Family kAttnPagedSm90;
extern const Family kAttnPagedSm80;
extern const Family kAppendKvCacheSm80;
extern const Family kNormMulSm80;
extern const Family kNormMulFp8Sm80;
extern const Family kFp8AmaxSm80;
extern const Family kQuantizeFp8Sm80;
extern const Family kDequantizeFp8Sm80;
extern const Family kConcat2dJaggedSm80;
extern const Family kSplit2dJaggedSm80;
extern const Family kJaggedBmmSm90;
extern const Family kJaggedBmmSm80;
extern const Family kJaggedBroadcastAddSm80;
extern const Family kPositionalSm80;
extern const Family kTimestampPositionalSm80;
extern const Family kRmsNormSm80;
extern const Family kRmsNormFp8Sm80;
extern const Family kSwishLayerNormSm80;
extern const Family kGroupNormSm80;
extern const Family kRmsNormRopeSm80;
extern const Family kRmsNormRopeFp8Sm80;
extern const Family kSoftmaxSm80;
extern const Family kDropoutSm80;
extern const Family kFlashAttnSm90;
extern const Family kFlashAttnSm80;
extern const Family kCompleteCumsumSm80;
extern const Family kCumsumTilesSm80;
extern const Family kConcat1dJaggedSm90;
extern const Family kConcat1dJaggedSm80;
extern const Family kSplit1dJaggedSm90;
extern const Family kSplit1dJaggedSm80;
extern const Family kExpand1dJaggedSm80;
extern const Family kReplaceLastNSm80;
extern const Family kJaggedTranspose1dSm90;
extern const Family kJaggedTranspose1dSm80;
extern const Family kFp8GemmSm90;
extern const Family kFp8GemmSm80;
extern const Family kGatedMlpSm90;
extern const Family kGatedMlpSm80;
extern const Family kAttnF32Sm80;
extern const Family kFlashAttnF32Sm80;
extern const Family kAttnDeltaF32Sm80;
extern const Family kAttnPagedF32Sm80;
extern const Family kAttnFp8Sm90;
extern const Family kAttnFp8Sm80;
extern const Family kJaggedReduceSumSm80;
extern const Family kJaggedToPaddedDenseSm80;
extern const Family kDenseToJaggedSm80;
extern const Family kJaggedTruncateHistorySm80;
extern const Family kSortKvPairsSm80;
extern const Family kSortKvPartsSm80;
extern const Family kSortByLengthSm80;
extern const Family kSortByLengthPartsSm80;
extern const Family kBuildSlaFuncSm80;
extern const Family kRelBiasSm90;
extern const Family kRelBiasSm80;
extern const Family kJaggedRemove1dSm90;
extern const Family kJaggedRemove1dSm80;
extern const Family kGatedAddmmSm90;
extern const Family kGatedFp8GemmSm90;
extern const Family kNormAddmmSm90;

}  // namespace hstujit
