// What the families of kernels/norm/rows/row_norm.cuh share: the knobs of a team of threads per row, their rules, and
// what a configuration needs. Families add their facts and parameters.
#pragma once

#include "families/family.hpp"
#include "norm/row_norm.h"

namespace hstujit::row_norm {

enum : int { kThreads, kThreadsPerRow, kRowsPerThread, kWeights, kKnobCount, kPacked = kKnobCount, kRopeKnobCount };

/// kWeights: where a team gets weight and bias from; the numbers of kernels/norm/rows/row_affine.cuh.
enum : int { kWeightsLate = 0, kWeightsFirst = 1, kWeightsShared = 2 };

/// The problem as these kernels see it. A "row" is what has one mean: a matrix row or one of its groups.
struct Facts {
  int64_t length = 0;  ///< elements of a row
  int groups = 1;      ///< rows of a matrix row
  int vector = 1;      ///< elements of an access
  int element_bytes = 0;
  int weight_bytes = 0;             ///< of one weight; 0 without weights
  bool weights_per_column = false;  ///< else none, or one per group
  int weight_vectors = 2;           ///< weight and bias, or weight alone
  bool packable = false;            ///< rows may stay as stored, half as large
  bool compact = false;             ///< 64 registers do for a thread with a full share of a row
  int least_team = 1;               ///< threads that 128 columns under one scale need at least
  bool row_scales = false;          ///< results have a scale a row, for which the warps of a team agree on their own
  bool quantised = false;           ///< results are held until their scale is known
  bool in_turn = false;             ///< several rows a thread are taken one after the other, norm_fp8_in_turn.cuh
  bool rotated = false;             ///< as rms_norm_rope does it, by any team
  bool ahead = false;               ///< and with the next row on its way to shared memory
  int half_accesses = 1;            ///< to half a head
  int inputs = 1;                   ///< rows that a thread holds for each one it writes
  int results = 1;                  ///< elements written for one of a row
  bool rereads = false;             ///< results need the row again beside its norm
  int64_t rows = 0;                 ///< matrix rows, bucketed
};

/// Facts of a problem of one of these families.
Facts facts_of(const Problem& problem);

/// Threads, a power of two, that share `length` elements at up to `values` each.
int32_t team_of(int64_t length, int64_t values);

/// How a configuration covers a row.
struct Shape {
  int64_t accesses = 0;  ///< of each thread to one row
  int64_t values = 0;    ///< of one row in each thread
  bool looped = false;   ///< the row is too long to be held: a whole block reads it three times
  int rows_per_block = 0;
};
Shape shape_of(const Facts& facts, const Config& config);
/// Whether a thread takes its rows one after the other, kernels/norm/rows/norm_in_turn.cuh.
bool in_turn(const Facts& facts, const Config& config);

constexpr int kRuleCount = 10;
/// The last knob, kPacked, is rms_norm_rope's alone.
extern const Knob kAllKnobs[kRopeKnobCount];
constexpr std::span<const Knob> kKnobs{kAllKnobs, kKnobCount};
extern const Rule kRules[kRuleCount];
Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);

/// The knobs, and the facts that all families print alike.
void write_config(ConfigText& text, const Problem& problem, const Config& config);

/// Element, Weight, kHasWeight and kHasBias, from the fields of these indices.
void write_weights(ConfigText& text, const Problem& problem, int dtype, int has_weight, int weight_dtype, bool bias);

/// Fp8 and kScaling; of those whose results are never FP8, without a problem.
void write_scaling(ConfigText& text, hstu_dtype fp8, int scaling);
inline void write_scaling(ConfigText& text) { write_scaling(text, HSTU_DTYPE_NONE, 0); }

/// Whether a norm's results can be quantised as they are written.
bool covers_scaling(const Problem& problem, int scaling, int vector);

/// Where the scales of results in FP8 go. Params: of a family whose results may be.
template <class Params>
void bind_descale(const hstu_tensor& descale, hstu_fp8_scaling scaling, Params& params) {
  if (scaling == HSTU_FP8_TENSOR) return;
  params.descale = static_cast<float*>(descale.data);
  params.descale_row_stride = descale.stride[0];
  params.descale_column_stride = scaling == HSTU_FP8_GROUP ? descale.stride[1] : 0;
}

/// The launch of a norm of kernels/norm/rows/norm_rows.cuh, with no moments yet. Part of the hot path.
hstu::SavingNormParams& bind_norm(const hstu_tensor& x, const hstu_tensor& weight, const void* bias,
                                  const hstu_tensor& y, float eps, const Problem& problem, const Config& config,
                                  Launch& launch);

/// Its parameters alone.
hstu::SavingNormParams& bind_rows(const hstu_tensor& x, const hstu_tensor& weight, const void* bias,
                                  const hstu_tensor& y, float eps, Launch& launch);

/// Grid, block and shared memory for this many matrix rows. Part of the hot path.
void bind_shape(const Problem& problem, const Config& config, int64_t matrix_rows, Launch& launch);

}  // namespace hstujit::row_norm
