// What the families of kernels/jagged/runs/jagged_copy.cuh share: knobs and a default. concat_2d_jagged_sm80 and
// split_2d_jagged_sm80 add their parameters.
#pragma once

#include "families/family.hpp"
#include "jagged/jagged_copy.h"
#include "operators/jagged/jagged_copy.hpp"

namespace hstujit::jagged_copy {

enum : int { kThreads, kAccesses, kKnobCount };

extern const Knob kKnobs[kKnobCount];

bool covers(const Problem& problem, const DeviceFacts& device);
Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);
void write_config(ConfigText& text, const Problem& problem, const Config& config);

/// Blocks that copy `rows` rows. Part of the hot path, as is what follows.
int64_t blocks(const Problem& problem, const Config& config, int64_t rows);
void bind_shape(const Config& config, int64_t blocks, Launch& launch);
/// The tensors of a call; element_bytes turns strides into bytes.
void bind_tensors(const hstu_tensor& left, const hstu_tensor& right, const hstu_tensor& offsets_left,
                  const hstu_tensor& offsets_right, const hstu_tensor& combined, const Parts& parts,
                  hstu::JaggedCopyParams& params);

}  // namespace hstujit::jagged_copy
