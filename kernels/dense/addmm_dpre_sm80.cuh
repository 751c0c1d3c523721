// Gradient through a product's activation, sm_80 generation: dpre = dout * act'(pre) on the first columns, dout on the
// others, in one pass bound by memory.
//
//   pre, dout ──16-byte loads──► registers ──► slope, product ──► dpre
//
// Work      kAccesses accesses of kVector elements a thread, each access of a block contiguous; loads first.
// In place  dpre may be pre or dout: a thread reads what it writes, before. In dout's place the columns that stay are
//           not visited.
// Config    facts: Element; kActivation (tile/activation.cuh); kPartial (columns are left from params.act_columns on);
//           kVector (elements of an aligned access); kFlat (rows lie one behind another: no division, and the last
//           elements are taken one by one; otherwise kVector divides rows). knobs: kThreads, kAccesses.
// Source    derived, d act(pre) / d pre.
#pragma once
#include "dense/addmm_dpre.h"
#include "tile/activation_slope.cuh"
#include "tile/row_pack.cuh"

namespace hstu {
namespace dpre {

// Where the elements [index, index + kVector) lie.
template <class Config>
struct Place {
  i64 row = 0, column;

  HSTU_PRIM Place(const AddmmDpreParams& p, i64 index) : column(index) {
    if constexpr (!Config::kFlat) {
      row = static_cast<i64>(static_cast<u64>(index) / static_cast<u64>(p.columns));
      column = index - row * p.columns;
    }
  }
  HSTU_PRIM i64 at(i64 row_stride) const { return row * row_stride + column; }
};

template <class Config, int kCount>
HSTU_PRIM void apply(tile::RowPack<typename Config::Element, kCount>& dout,
                     const tile::RowPack<typename Config::Element, kCount>& pre, i64 active) {
  using Element = typename Config::Element;
  float value[kCount], x[kCount];
  tile::unpack(value, dout);
  tile::unpack(x, pre);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const float changed = value[i] * tile::activation_slope<Config::kActivation, Element>(x[i]);
    value[i] = !Config::kPartial || i < active ? changed : value[i];
  }
  tile::pack(dout, value);
}

// The elements behind the last whole access of flat tensors, all of them activated.
template <class Config>
HSTU_PRIM void tail(const AddmmDpreParams& p, i64 from) {
  using Element = typename Config::Element;
  for (i64 index = from; index < p.elements; ++index) {
    tile::RowPack<Element, 1> pre, dout;
    tile::load(pre, static_cast<const Element*>(p.pre) + index);
    tile::load(dout, static_cast<const Element*>(p.dout) + index);
    apply<Config>(dout, pre, 1);
    tile::store(static_cast<Element*>(p.dpre) + index, dout);
  }
}

}  // namespace dpre

template <class Config>
__global__ void __launch_bounds__(Config::kThreads) addmm_dpre_sm80(const __grid_constant__ AddmmDpreParams p) {
  using Element = typename Config::Element;
  constexpr int kVector = Config::kVector, kStep = Config::kThreads * kVector;
  const i64 first = (static_cast<i64>(blockIdx.x) * Config::kAccesses * Config::kThreads + threadIdx.x) * kVector;
  tile::RowPack<Element, kVector> pre[Config::kAccesses], dout[Config::kAccesses];
#pragma unroll
  for (int a = 0; a < Config::kAccesses; ++a) {
    const i64 index = first + a * kStep;
    if (index + kVector > p.elements) continue;
    const dpre::Place<Config> place(p, index);
    tile::load(pre[a], static_cast<const Element*>(p.pre) + place.at(p.pre_row_stride));
    tile::load(dout[a], static_cast<const Element*>(p.dout) + place.at(p.dout_row_stride));
  }
#pragma unroll
  for (int a = 0; a < Config::kAccesses; ++a) {
    const i64 index = first + a * kStep;
    if (index + kVector <= p.elements) {
      const dpre::Place<Config> place(p, index);
      dpre::apply<Config>(dout[a], pre[a], p.act_columns - place.column);
      tile::store(static_cast<Element*>(p.dpre) + place.at(p.dpre_row_stride), dout[a]);
    } else if (Config::kFlat && kVector > 1 && index < p.elements) {
      dpre::tail<Config>(p, index);
    }
  }
}

}  // namespace hstu
