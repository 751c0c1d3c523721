// Relative attention bias: a number for each pair of positions, added to q . k before the logit scale.
#pragma once
#include "prim/memory.cuh"
#include "prim/types.cuh"

namespace hstu::variant {

template <class Config>
class RelativeBias {
 public:
  // Params: rab, rab_positions and its strides.
  template <class Params>
  HSTU_PRIM RelativeBias(const Params& p, int seq, int head)
      : bias_(static_cast<const Element*>(p.rab) + seq * p.rab_batch_stride + head * p.rab_head_stride),
        row_stride_(p.rab_row_stride),
        positions_(p.rab_positions) {}

  // Of query position i and key position j; nothing for positions that the table does not have.
  HSTU_PRIM float at(int i, int j) const {
    const bool inside = static_cast<u32>(i) < positions_ && static_cast<u32>(j) < positions_;
    return inside ? prim::to_float(bias_[i * row_stride_ + j]) : 0.0f;
  }

  // The same of one query and several keys, `first` and those behind it.
  struct Row {
    const typename Config::Element* from;
    int count;  // keys that the table has

    HSTU_PRIM float at(int key) const { return key < count ? prim::to_float(from[key]) : 0.0f; }
  };
  HSTU_PRIM Row row(int i, int first) const {
    const bool inside = static_cast<u32>(i) < positions_;
    return {bias_ + i * row_stride_ + first, inside ? static_cast<int>(positions_) - first : 0};
  }

  // Brings the numbers of query position i around key position j to L2 ahead of their use.
  HSTU_PRIM void prefetch(int i, int j) const {
    const bool inside = static_cast<u32>(i) < positions_ && static_cast<u32>(j) < positions_;
    if (inside) prim::prefetch_l2(bias_ + i * row_stride_ + j);
  }

 private:
  using Element = typename Config::Element;
  const Element* bias_;
  i64 row_stride_;
  u32 positions_;
};

}  // namespace hstu::variant
