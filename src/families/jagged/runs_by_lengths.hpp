// What the families of kernels/jagged/runs/runs_by_lengths.cuh share: knobs, rules, a default. concat_1d_jagged_sm80,
// split_1d_jagged_sm80, jagged_remove_1d_sm80 and jagged_transpose_1d_sm80 add their tensors.
#pragma once

#include "families/jagged/jagged_lengths.hpp"

#include <cstddef>
#include <string_view>

namespace hstujit::runs_by_lengths {

enum : int { kThreads, kAccesses, kSpans, kKnobCount };

constexpr int kRuleCount = 1;
extern const Knob kKnobs[kKnobCount];
extern const Rule kRules[kRuleCount];

Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);
void write_config(ConfigText& text, const Problem& problem, const Config& config);

/// As jagged_lengths::bind, and all of the launch for a result, or a left part, of so many rows. Part of the hot path.
hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, int64_t rows, const Problem& problem, const Config& config,
                                const DeviceFacts& device, Launch& launch);

/// The family of one operator, which adds its tensors in `bind`.
constexpr Family family(std::string_view name, Op op, std::string_view smem_expression, decltype(Family::bind) bind) {
  return {
      .name = name,
      .room = "jagged",
      .op = op,
      .min_compute_capability = 80,
      .knobs = kKnobs,
      .rules = kRules,
      .covers = jagged_lengths::covers,
      .default_config = default_config,
      .resources = resources,
      .write_config = write_config,
      .smem_expression = smem_expression,
      .bind = bind,
      .tile_counters_at = offsetof(hstu::JaggedLengthsParams, tile_counters),
  };
}

}  // namespace hstujit::runs_by_lengths
