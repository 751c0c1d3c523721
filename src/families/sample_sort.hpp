// What the families of kernels/tile/sample_sort.cuh share: knobs, rules, a default.
#pragma once

#include "families/family.hpp"

namespace hstujit::sample_sort {

enum : int { kThreads, kRoom, kKnobCount };
extern const Knob kKnobs[kKnobCount];
enum : int { kRuleCount = 2 };
extern const Rule kRules[kRuleCount];

bool covers(const Problem& problem, const DeviceFacts& device);
Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);
void write_knobs(ConfigText& text, const Config& config);
/// Grid, block and shared memory for `count` elements.
void set_shape(int64_t count, const Problem& problem, const Config& config, const DeviceFacts& device, Launch& launch);

}  // namespace hstujit::sample_sort
