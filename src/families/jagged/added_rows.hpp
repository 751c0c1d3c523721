// What the families of kernels/tile/added_rows.cuh share: knobs, rules, a default and the common parameters.
// positional_sm80, timestamp_positional_sm80 and jagged_broadcast_add_sm80 add theirs.
#pragma once

#include "families/family.hpp"
#include "operators/jagged/added_rows.hpp"
#include "tile/added_rows.h"

namespace hstujit::added_rows {

enum : int { kThreads, kAccesses, kRounds, kKnobCount };

constexpr int kRuleCount = 3;
extern const Knob kKnobs[kKnobCount];
extern const Rule kRules[kRuleCount];

bool covers(const Problem& problem, const DeviceFacts& device);
Config default_config(const Problem& problem, const DeviceFacts& device);
/// tables: how many rows are added to each row.
template <int kTables>
Resources resources(const Problem& problem, const Config& config);
/// Facts and knobs of the shared tile.
void write_config(ConfigText& text, const Problem& problem, const Config& config);
/// The facts of num_targets, and how many rows a target has.
void write_targets(ConfigText& text, const Problem& problem);
inline int targets_factor(int32_t interleave_targets) { return interleave_targets != 0 ? 2 : 1; }

/// Grid, block, shared memory and the common parameters. Part of the hot path.
template <int kTables>
void bind(const hstu_tensor& x, const hstu_tensor& out, const hstu_tensor& seq_offsets,
          const hstu_tensor* const (&tables)[kTables], float alpha, const Problem& problem, const Config& config,
          Launch& launch, hstu::AddedRowsParams& params);

}  // namespace hstujit::added_rows
