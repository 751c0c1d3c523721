// The list of kernel families: the one place to add a line to.
#include "families/families.hpp"

#include <algorithm>

namespace hstujit {
namespace {

// Per operator, the preferred family first. A line each.
// clang-format off
const Family* const kFamilies[] = {
    &kLayerNormSm80,
    &kLayerNormFp8Sm80,
    &kAddmmThinSm80,
    &kAddmmSplitSm90,
    &kAddmmSm90,
    &kAddmmSm80,
    &kAttnFwdSm90,
    &kAttnFwdSm80,
    &kAttnSplitSm80,
    &kAttnDeltaSm90,
    &kAttnDeltaSm80,
    &kAttnPagedSm90,
    &kAttnPagedSm80,
    &kAppendKvCacheSm80,
    &kNormMulSm80,
    &kNormMulFp8Sm80,
    &kFp8AmaxSm80,
    &kQuantizeFp8Sm80,
    &kDequantizeFp8Sm80,
    &kConcat2dJaggedSm80,
    &kSplit2dJaggedSm80,
    &kJaggedBmmSm90,
    &kJaggedBmmSm80,
    &kJaggedBroadcastAddSm80,
    &kPositionalSm80,
    &kTimestampPositionalSm80,
    &kRmsNormSm80,
    &kRmsNormFp8Sm80,
    &kSwishLayerNormSm80,
    &kGroupNormSm80,
    &kRmsNormRopeSm80,
    &kRmsNormRopeFp8Sm80,
    &kSoftmaxSm80,
    &kDropoutSm80,
    &kFlashAttnSm90,
    &kFlashAttnSm80,
    &kCompleteCumsumSm80,
    &kCumsumTilesSm80,
    &kConcat1dJaggedSm90,
    &kConcat1dJaggedSm80,
    &kSplit1dJaggedSm90,
    &kSplit1dJaggedSm80,
    &kExpand1dJaggedSm80,
    &kReplaceLastNSm80,
    &kJaggedTranspose1dSm90,
    &kJaggedTranspose1dSm80,
    &kFp8GemmSm90,
    &kFp8GemmSm80,
    &kGatedMlpSm90,
    &kGatedMlpSm80,
    &kAttnF32Sm80,
    &kFlashAttnF32Sm80,
    &kAttnDeltaF32Sm80,
    &kAttnPagedF32Sm80,
    &kAttnFp8Sm90,
    &kAttnFp8Sm80,
    &kJaggedReduceSumSm80,
    &kJaggedToPaddedDenseSm80,
    &kDenseToJaggedSm80,
    &kJaggedTruncateHistorySm80,
    &kSortKvPairsSm80,
    &kSortKvPartsSm80,
    &kSortByLengthSm80,
    &kSortByLengthPartsSm80,
    &kBuildSlaFuncSm80,
    &kRelBiasSm90,
    &kRelBiasSm80,
    &kJaggedRemove1dSm90,
    &kJaggedRemove1dSm80,
    &kGatedAddmmSm90,
    &kGatedFp8GemmSm90,
    &kNormAddmmSm90,
};
// clang-format on

}  // namespace

std::span<const Family* const> all_families() { return kFamilies; }

namespace {

bool covers(const Family& family, const Problem& problem, const DeviceFacts& device) {
  return family.op == problem.op && device.compute_capability >= family.min_compute_capability &&
         family.covers(problem, device);
}

}  // namespace

std::vector<const Family*> families_for(const Problem& problem, const DeviceFacts& device) {
  std::vector<const Family*> found;
  for (const Family* family : kFamilies)
    if (covers(*family, problem, device)) found.push_back(family);
  return found;
}

bool is_covered(const Problem& problem, const DeviceFacts& device) {
  return std::ranges::any_of(kFamilies, [&](const Family* family) { return covers(*family, problem, device); });
}

const Family* family_named(std::string_view name) {
  for (const Family* family : kFamilies)
    if (family->name == name) return family;
  return nullptr;
}

}  // namespace hstujit
