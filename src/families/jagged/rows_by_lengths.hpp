// What the families of kernels/jagged/runs/rows_by_lengths.cuh share: knobs, rules, a default. replace_last_n_sm80 and
// jagged_truncate_history_sm80 add their tensors.
#pragma once

#include "families/jagged/jagged_lengths.hpp"

namespace hstujit::rows_by_lengths {

enum : int { kThreads = jagged_lengths::kThreads, kRounds = jagged_lengths::kRounds, kAccesses, kKnobCount };

constexpr int kRuleCount = 2;
extern const Knob kKnobs[kKnobCount];
extern const Rule kRules[kRuleCount];

Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);
void write_config(ConfigText& text, const Problem& problem, const Config& config);

/// As jagged_lengths::bind, and grid, block and shared memory. Part of the hot path.
hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, const Problem& problem, const Config& config,
                                Launch& launch);

}  // namespace hstujit::rows_by_lengths
