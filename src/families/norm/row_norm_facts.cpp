// What the operators of these families ask of their kernels.
#include "families/norm/row_norm.hpp"
#include "operators/norm/group_norm.hpp"
#include "operators/norm/layer_norm.hpp"
#include "operators/norm/norm_mul.hpp"
#include "operators/norm/rms_norm.hpp"
#include "operators/norm/rms_norm_rope.hpp"
#include "operators/norm/softmax.hpp"

#include <algorithm>
#include <bit>

namespace hstujit::row_norm {
namespace {

int bytes_of(const Problem& p, int field) { return size_of(static_cast<hstu_dtype>(p[field])); }

/// layer_norm, swish_layer_norm and rms_norm, whose keys begin alike.
Facts facts_of_norm(const Problem& p, int dim, int vector, int rows, int vectors) {
  static_assert(int{rms_norm::kDtype} == int{layer_norm::kDtype} &&
                int{rms_norm::kWeightDtype} == int{layer_norm::kWeightDtype} &&
                int{rms_norm::kHasWeight} == int{layer_norm::kHasWeight});
  Facts f;
  f.length = p[dim];
  f.vector = p[vector];
  f.element_bytes = bytes_of(p, layer_norm::kDtype);
  f.weight_bytes = bytes_of(p, layer_norm::kWeightDtype);
  f.weights_per_column = p[layer_norm::kHasWeight] != 0;
  f.weight_vectors = vectors;
  f.rows = p[rows];
  return f;
}

/// `f` with what an FP8 result of this scaling asks for.
Facts quantised(Facts f, int scaling) {
  f.quantised = scaling != HSTU_FP8_TENSOR;
  f.row_scales = scaling == HSTU_FP8_ROW;
  f.in_turn = f.quantised;
  if (scaling == HSTU_FP8_GROUP) f.least_team = team_of(std::min<int64_t>(f.length, 128), f.vector);
  return f;
}

Facts facts_of_layer_norm(const Problem& p) {
  Facts f =
      quantised(facts_of_norm(p, layer_norm::kDim, layer_norm::kVector, layer_norm::kRows, 2), p[layer_norm::kScaling]);
  f.compact = !f.quantised && p[layer_norm::kDtype] == HSTU_DTYPE_BF16 &&
              p[layer_norm::kWeightDtype] == HSTU_DTYPE_BF16 && f.vector == 8;
  return f;
}

Facts facts_of_swish(const Problem& p) {
  Facts f = facts_of_norm(p, swish_layer_norm::kDim, swish_layer_norm::kVector, swish_layer_norm::kRows, 2);
  f.rereads = true;
  return f;
}

Facts facts_of_group_norm(const Problem& p) {
  Facts f = facts_of_norm(p, group_norm::kDim, group_norm::kVector, group_norm::kRows, 2);
  f.groups = std::max(1, p[group_norm::kGroups]);
  f.length /= f.groups;
  f.weights_per_column = false;
  return f;
}

Facts facts_of_norm_mul(const Problem& p) {
  Facts f;
  f.groups = std::max(1, p[norm_mul::kGroups]);
  f.length = p[norm_mul::kDim] / f.groups;
  f.vector = p[norm_mul::kVector];
  f.element_bytes = bytes_of(p, norm_mul::kDtype);
  f.weight_bytes = bytes_of(p, norm_mul::kWeightDtype);
  f.weights_per_column = p[norm_mul::kGroups] == 0;
  f.weight_vectors = p[norm_mul::kNorm] == HSTU_NORM_RMS ? 1 : 2;
  f.inputs = 2;
  f.rows = p[norm_mul::kRows];
  f.results = 1 + p[norm_mul::kConcatU] + p[norm_mul::kConcatX];
  f = quantised(f, p[norm_mul::kScaling]);
  f.in_turn = false;  // 1 to 4 % slower than one row a thread
  return f;
}

Facts facts_of_softmax(const Problem& p) {
  Facts f;
  f.length = p[softmax::kDim];
  f.vector = p[softmax::kVector];
  f.element_bytes = bytes_of(p, softmax::kDtype);
  f.rows = p[softmax::kRows];
  return f;
}

/// An access is a pair: as many elements of a head's second half as of its first.
Facts facts_of_rope(const Problem& p) {
  Facts f;
  f.length = p[rms_norm_rope::kDim];
  f.vector = 2 * p[rms_norm_rope::kVector];
  f.element_bytes = bytes_of(p, rms_norm_rope::kDtype);
  f.weight_bytes = bytes_of(p, rms_norm_rope::kWeightDtype);
  f.rows = int64_t{p[rms_norm_rope::kBatch]} * p[rms_norm_rope::kLength];
  const int32_t scaling = p[rms_norm_rope::kScaling];
  f.packable = f.element_bytes == 2 && scaling == HSTU_FP8_TENSOR;  // else rows are held as results, too
  f = quantised(f, scaling);
  f.rotated = f.in_turn;
  const int pair_bytes = p[rms_norm_rope::kVector] * f.element_bytes;
  f.ahead = pair_bytes == 16 && p[rms_norm_rope::kVector] * bytes_of(p, rms_norm_rope::kAngleDtype) == 16;
  f.half_accesses = p[rms_norm_rope::kHeadDim] / 2 / p[rms_norm_rope::kVector];
  f.row_scales = false;  // the exchange of sums of squares carries amax, too
  f.compact = scaling == HSTU_FP8_ROW && f.vector == 16 && f.weight_bytes == 2 &&
              bytes_of(p, rms_norm_rope::kAngleDtype) == 2 &&
              std::has_single_bit(static_cast<uint32_t>(p[rms_norm_rope::kHeadDim])) &&
              p[rms_norm_rope::kHeadDim] <= 256;  // a thread's accesses have the same angles
  // Halves of heads of 256 and more lie in units of their own, whose threads take half an access to each.
  if (scaling == HSTU_FP8_GROUP && p[rms_norm_rope::kHeadDim] % 256 == 0) f.least_team *= 2;
  return f;
}

}  // namespace

Facts facts_of(const Problem& p) {
  switch (p.op) {
    case Op::norm_mul:
      return facts_of_norm_mul(p);
    case Op::rms_norm:
      return quantised(facts_of_norm(p, rms_norm::kDim, rms_norm::kVector, rms_norm::kRows, 1), p[rms_norm::kScaling]);
    case Op::softmax:
      return facts_of_softmax(p);
    case Op::rms_norm_rope:
      return facts_of_rope(p);
    case Op::group_norm:
      return facts_of_group_norm(p);
    case Op::swish_layer_norm:
      return facts_of_swish(p);
    case Op::layer_norm:
    default:
      return facts_of_layer_norm(p);
  }
}

}  // namespace hstujit::row_norm
