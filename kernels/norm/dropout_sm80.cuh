// Seeded dropout, sm80: y = kept ? x / (1 - ratio) : 0. An element's random bits depend on the seed and on its index in
// row-major order alone, so any schedule gives the same result.
//
//   x ──16-byte loads──► registers ──► Philox of the elements' indices ──► keep, scale ──► y
//
// Work      kAccesses accesses of kVector elements a thread, each access of a block contiguous; loads first.
// Bound     by memory for f32 and, with kWords 4, for 16-bit types. With one counter per element a 16-bit element costs
//           about 40 instructions for 4 bytes, 16 of them wide products: on an H200 these keep the pipe that makes them
//           86 % busy at 36 % of the rate of a copy, the other integer pipe 61 %. Making the high words of one to all
//           of four counters' products by f64 frees that pipe (79 to 54 %) but takes two instructions for each, and
//           was 2 to 5 % slower in every mixture: 65 to 78 % of all cycles issue then.
// Config    facts: Element; kVector (elements of an aligned access); kFlat (rows lie one behind another: no division,
//           and the last elements are taken one by one; otherwise kVector divides rows); kWords (elements that share a
//           counter: element i takes word i % kWords of counter i / kWords; 1 or 4); kActive false for ratio 0: a copy.
//           knobs: kThreads, kAccesses; kMinBlocks is 1.
#pragma once
#include "norm/rows/drop.cuh"
#include "tile/row_pack.cuh"

namespace hstu {
namespace dropout {

// Where the elements [index, index + kVector) lie in x and in y.
template <class Config>
struct Place {
  i64 x, y;

  HSTU_PRIM Place(const DropoutParams& p, i64 index) : x(index), y(index) {
    if constexpr (!Config::kFlat) {
      const u64 row = static_cast<u64>(index) / static_cast<u64>(p.dim);
      const i64 column = index - static_cast<i64>(row) * p.dim;
      x = static_cast<i64>(row) * p.x_row_stride + column;
      y = static_cast<i64>(row) * p.y_row_stride + column;
    }
  }
};

// Which of the elements [index, index + kCount) drop out, a bit each; index is a multiple of kCount.
template <class Config, int kCount>
HSTU_PRIM u32 drawn(i64 index, const DropoutRate& rate) {
  constexpr int kWords = Config::kWords;
  u32 mask[kWords], bits = 0;
  if constexpr (kCount >= kWords) {
    tile::draw<kWords, kCount / kWords>(mask, static_cast<u64>(index) / kWords, rate);
#pragma unroll
    for (int i = 0; i < kCount; ++i) bits |= (mask[i % kWords] >> i / kWords & 1u) << i;
  } else {  // the elements share one counter with others
    tile::draw<kWords, 1>(mask, static_cast<u64>(index) / kWords, rate);
#pragma unroll
    for (int w = 0; w < kWords; ++w) bits |= (mask[w] & 1u) << w;
    bits >>= static_cast<u32>(index) % kWords;
  }
  return bits;
}

// Elements of one access as stored, to what is stored of them.
template <class Config, int kCount>
HSTU_PRIM void drop_pack(tile::RowPack<typename Config::Element, kCount>& pack, u32 mask, const DropoutParams& p) {
  if constexpr (Config::kActive) {
    float value[kCount];
    tile::unpack(value, pack);
    tile::drop(value, mask, p.rate);
    tile::pack(pack, value);
  }
}

// The elements behind the last whole access of a flat tensor.
template <class Config>
HSTU_PRIM void tail(const DropoutParams& p, i64 from) {
  using Element = typename Config::Element;
  for (i64 index = from; index < p.elements; ++index) {
    tile::RowPack<Element, 1> pack;
    tile::load(pack, static_cast<const Element*>(p.x) + index);
    drop_pack<Config>(pack, drawn<Config, 1>(index, p.rate), p);
    tile::store(static_cast<Element*>(p.y) + index, pack);
  }
}

}  // namespace dropout

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    dropout_sm80(const __grid_constant__ DropoutParams p) {
  using Element = typename Config::Element;
  constexpr int kVector = Config::kVector, kStep = Config::kThreads * kVector;
  const i64 first = (static_cast<i64>(blockIdx.x) * Config::kAccesses * Config::kThreads + threadIdx.x) * kVector;
  tile::RowPack<Element, kVector> pack[Config::kAccesses];
#pragma unroll
  for (int a = 0; a < Config::kAccesses; ++a) {
    const i64 index = first + a * kStep;
    if (index + kVector <= p.elements)
      tile::load(pack[a], static_cast<const Element*>(p.x) + dropout::Place<Config>(p, index).x);
  }
  u32 mask[Config::kAccesses] = {};
  if constexpr (Config::kActive) {
#pragma unroll
    for (int a = 0; a < Config::kAccesses; ++a) mask[a] = dropout::drawn<Config, kVector>(first + a * kStep, p.rate);
  }
#pragma unroll
  for (int a = 0; a < Config::kAccesses; ++a) {
    const i64 index = first + a * kStep;
    if (index + kVector <= p.elements) {
      dropout::drop_pack<Config>(pack[a], mask[a], p);
      tile::store(static_cast<Element*>(p.y) + dropout::Place<Config>(p, index).y, pack[a]);
    } else if (Config::kFlat && kVector > 1 && index < p.elements) {
      dropout::tail<Config>(p, index);
    }
  }
}

}  // namespace hstu
