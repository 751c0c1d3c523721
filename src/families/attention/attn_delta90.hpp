// What attn_delta_sm90 and attn_paged_sm90 share, whose kernels are kernels/attention/sm90/delta_block.cuh: they differ
// in where keys and values lie.
#pragma once

#include "families/attention/attn90.hpp"

namespace hstujit::attn_delta90 {

extern const std::span<const Knob> kKnobs;
extern const std::span<const Rule> kRules;

bool covers(const Problem& problem, const DeviceFacts& device);
Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);
void write_config(ConfigText& text, const Problem& problem, const Config& config);

/// Fills q, out and attn of the kernel's parameters but for what says where keys lie, and sets the launch's shape.
/// Null: there is nothing to do.
template <class Params, class Args>
Params* bind(const Args& args, const Problem& problem, const Config& config, const DeviceFacts& device, Launch& launch);

}  // namespace hstujit::attn_delta90
