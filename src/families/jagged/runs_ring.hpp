// What the families of kernels/jagged/runs/runs_ring.cuh share: knobs, rules, a default. Each stands beside the one of
// kernels/jagged/runs/runs_by_lengths.cuh for the same operator.
#pragma once

#include "families/jagged/jagged_lengths.hpp"

#include <cstddef>
#include <string_view>

namespace hstujit::runs_ring {

enum : int { kPipes, kConsumers, kStages, kChunk, kKnobCount };

constexpr int kRuleCount = 1;
extern const Knob kKnobs[kKnobCount];
extern const Rule kRules[kRuleCount];

bool covers(const Problem& problem, const DeviceFacts& device);
Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);
void write_config(ConfigText& text, const Problem& problem, const Config& config);

/// As runs_by_lengths::bind.
hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, int64_t rows, const Problem& problem, const Config& config,
                                const DeviceFacts& device, Launch& launch);

/// The family of one operator, which adds its tensors in `bind`.
constexpr Family family(std::string_view name, Op op, std::string_view smem_expression, decltype(Family::bind) bind) {
  return {
      .name = name,
      .room = "jagged",
      .op = op,
      .min_compute_capability = 90,
      .knobs = kKnobs,
      .rules = kRules,
      .covers = covers,
      .default_config = default_config,
      .resources = resources,
      .write_config = write_config,
      .smem_expression = smem_expression,
      .bind = bind,
      .tile_counters_at = offsetof(hstu::JaggedLengthsParams, tile_counters),
  };
}

}  // namespace hstujit::runs_ring
