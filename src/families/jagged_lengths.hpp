// What the families of kernels/tile/jagged_lengths.cuh share: knobs, rules, a default. concat_1d_jagged_sm80,
// split_1d_jagged_sm80, jagged_remove_1d_sm80 and jagged_transpose_1d_sm80 add their tensors.
#pragma once

#include "families/family.hpp"
#include "params/jagged_lengths.h"
#include "problem/jagged_lengths.hpp"

namespace hstujit::jagged_lengths {

enum : int { kThreads, kRounds, kKnobCount };

constexpr int kRuleCount = 1;
extern const Knob kKnobs[kKnobCount];
extern const Rule kRules[kRuleCount];

/// Rows that a block moves, and whether there are so many that its rounds make sense.
int64_t block_rows(const Problem& problem, const Config& config);
bool blocks_have_rows(const Problem& problem, const Config& config, const DeviceFacts& device);

bool covers(const Problem& problem, const DeviceFacts& device);
Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);
/// All but kMinBlocks, and it.
void write_facts(ConfigText& text, const Problem& problem, const Config& config);
void write_config(ConfigText& text, const Problem& problem, const Config& config);

/// Grid, block, shared memory, and the members that all of these kernels use. Part of the hot path.
hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, const Problem& problem, const Config& config,
                                Launch& launch);

}  // namespace hstujit::jagged_lengths
