// What the families of jagged tensors given by lengths share, whether they copy long rows (rows_by_lengths.hpp) or
// elements (runs_by_lengths.hpp).
#pragma once

#include "families/family.hpp"
#include "jagged/jagged_lengths.h"
#include "operators/jagged/jagged_lengths.hpp"

namespace hstujit::jagged_lengths {

/// Knobs of those that copy rows.
enum : int { kThreads, kRounds };

/// Rows that a block moves, and whether there are so many that its rounds make sense.
int64_t block_rows(const Problem& problem, const Config& config);
bool blocks_have_rows(const Problem& problem, const Config& config, const DeviceFacts& device);

bool covers(const Problem& problem, const DeviceFacts& device);
/// Of lengths and offsets.
void write_types(ConfigText& text, const Problem& problem);
/// Of copies of rows: these, the accesses, kThreads and kRows.
void write_facts(ConfigText& text, const Problem& problem, const Config& config);

/// The members that all of these kernels use. Part of the hot path.
hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, Launch& launch);

}  // namespace hstujit::jagged_lengths
