// What the families of kernels/norm/rows/norm_spans.cuh share: norms of rows of any length and alignment, quantised to
// FP8.
#pragma once

#include "families/family.hpp"

namespace hstujit::norm_spans {

enum : int { kThreadsPerRow, kKnobCount };

constexpr int kRuleCount = 4;
extern const Knob kKnobs[kKnobCount];
extern const Rule kRules[kRuleCount];

/// Whether the results of this scaling are in FP8 at all.
bool quantises(int32_t scaling);
Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);

/// kDim, kVector and what follows from the configuration. vector: elements that alignment allows an access.
void write_config(ConfigText& text, const Problem& problem, int vector, const Config& config);

int rows_per_block(const Config& config);

/// Grid, block and shared memory for this many rows. Part of the hot path.
void bind_shape(const Config& config, int64_t rows, Launch& launch);

}  // namespace hstujit::norm_spans
