// What families of copies of jagged vectors share, whose blocks add up all lengths
// (kernels/jagged/runs/length_sums.cuh): the facts of its Config, its storage, and how units are scheduled to blocks.
#pragma once

#include "families/jagged/jagged_lengths.hpp"

namespace hstujit::length_sums {

/// Whether rows and sums of them are counted in 32 bits: of up to 2^29 rows.
bool narrow(const Problem& problem);
int row_bytes(const Problem& problem);

/// Whether a block keeps the sums of all sequences; else of groups.
bool keeps_all(const Problem& problem);
/// sizeof(tile::SumsStorage) of a block of so many threads.
int smem_bytes(const Problem& problem, int threads);
/// Types, the element, kGroup, kEntries, kEach and kThreads.
void write_config(ConfigText& text, const Problem& problem, int threads);

/// What takes units of work, and how large they are.
struct UnitSchedule {
  int64_t unit_bytes;
  int64_t workers;     ///< of a block
  int64_t most;        ///< blocks
  int64_t sixteenths;  ///< of the units that are scheduled statically; the others by the counter
};

/// As jagged_lengths::bind, and the grid for a result, or a left part, of so many rows. Part of the hot path.
hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, int64_t rows, const Problem& problem,
                                const UnitSchedule& schedule, Launch& launch);

}  // namespace hstujit::length_sums
