// What the families of kernels/tile/rank_sort.cuh share: knobs, a default.
#pragma once

#include "families/family.hpp"

namespace hstujit::rank_sort {

enum : int { kThreads, kItems, kKnobCount };
extern const Knob kKnobs[kKnobCount];

/// For `count` elements, bucketed.
Config default_config(int32_t count, const DeviceFacts& device);
Resources resources(int key_bytes, const Config& config);
void write_knobs(ConfigText& text, const Config& config);
/// Grid, block and shared memory.
void set_shape(int64_t count, int key_bytes, const Config& config, Launch& launch);

/// Of pairs or sequences, by whatever family.
void set_params(const hstu_sort_kv_pairs_args& args, Launch& launch);
void set_params(const hstu_sort_by_length_args& args, Launch& launch);
/// Key and Result of sort_by_length.
void write_length_types(ConfigText& text, const Problem& problem);

}  // namespace hstujit::rank_sort
