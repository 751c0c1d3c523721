// What jagged_to_padded_dense_sm80 and dense_to_jagged_sm80 share: knobs, rules, a default.
#pragma once

#include "families/family.hpp"
#include "jagged/padded.h"

namespace hstujit::padded {

enum : int { kThreads, kAccesses, kRounds, kKnobCount };
constexpr int kRuleCount = 1;
extern const Knob kKnobs[kKnobCount];
extern const Rule kRules[kRuleCount];

bool covers(const Problem& problem, const DeviceFacts& device);
Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);
void write_config(ConfigText& text, const Problem& problem, const Config& config);

/// Grid, block and all members but the padding, for `rows` rows to write.
hstu::PaddedParams& bind(const hstu_tensor& jagged, const hstu_tensor& dense, const hstu_tensor& offsets, int64_t rows,
                         const Problem& problem, const Config& config, Launch& launch);

}  // namespace hstujit::padded
