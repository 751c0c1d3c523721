// Product of each sequence's rows with a matrix of its own, plus bias, sm80: out[r] = jagged[r] dense[b] + bias. The
// product of a tile is addmm_sm80's, with a ring of slices copied ahead; here is what makes it jagged.
//
//   tile number ──bisection──► sequence, tile within it ──► a product of its own: rows and matrix of the sequence
//
// Tiles     start at the first row of a sequence, so that one matrix serves all rows of a tile. Sequence b owns the
//           tile numbers from floor(start(b) / kBlockM) + b on: enough for its rows whatever its start, at most one
//           too many, and known without a sum over the sequences before. The number too many is a block that returns
//           at once.
// Config    as in addmm_sm80.cuh (kActivation 0, kPersistent false; x is jagged, w is dense); Offset (i32, i64). The
//           bias is a row per sequence (kRowBias) or per row (kResidual).
// Sources   meta-recsys/generative-recommenders, jagged_dense_bmm_broadcast_add.
#pragma once
#include "dense/addmm_sm80.cuh"
#include "jagged/jagged_bmm.h"
#include "tile/jagged.cuh"

namespace hstu {

namespace jagged_bmm {

// Numbers of the first tiles of sequences, see above.
template <class Config>
struct TileStarts {
  HSTU_PRIM explicit TileStarts(const void* seq_offsets) : sequences(seq_offsets, 0) {}
  HSTU_PRIM i64 start(int sequence) const { return sequences.start(sequence) / Config::kBlockM + sequence; }

  const tile::SequenceStarts<typename Config::Offset> sequences;
};

template <class Element>
HSTU_PRIM const void* advanced(const void* p, i64 elements) {
  return static_cast<const Element*>(p) + elements;
}

// The product of one sequence, as addmm knows it.
template <class Config>
HSTU_PRIM AddmmParams product_of(const JaggedBmmParams& p, int sequence, i64 start, i64 rows) {
  using Element = typename Config::Element;
  using Bias = typename Config::Bias;
  AddmmParams product;
  product.x = advanced<Element>(p.jagged, start * p.jagged_row_stride);
  product.w = advanced<Element>(p.dense, sequence * p.dense_batch_stride);
  product.bias = advanced<Bias>(p.bias, sequence * p.bias_row_stride);
  product.residual = advanced<Element>(p.bias, start * p.bias_row_stride);
  product.out[0] = static_cast<Element*>(p.out) + start * p.out_row_stride;
  product.m = rows;
  product.n = p.n;
  product.k = p.k;
  product.x_row_stride = p.jagged_row_stride;
  product.w_row_stride = p.dense_row_stride;
  product.residual_row_stride = p.bias_row_stride;
  product.out_row_stride[0] = p.out_row_stride;
  product.w_column_stride = p.dense_element_stride;
  product.x_column_stride = product.bias_stride = product.residual_column_stride = 1;
  product.act_columns = 0;
  return product;
}

}  // namespace jagged_bmm

template <class Config>
constexpr int jagged_bmm_sm80_smem_bytes = AddmmShape<Config>::kSmemBytes;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_bmm_sm80(const __grid_constant__ JaggedBmmParams p) {
  using Shape = AddmmShape<Config>;
  static_assert(!Config::kPersistent, "a block computes one tile");
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage);

  const u32 tiles_n = (static_cast<u64>(p.n) + Config::kBlockN - 1) / Config::kBlockN;
  tile::TilePosition at = tile::grouped_raster<Config::kGroup>(blockIdx.x, p.tiles_m, tiles_n);
  const jagged_bmm::TileStarts<Config> tiles(p.seq_offsets);
  const int sequence = tile::find_sequence_together(tiles, 0, p.batch, at.m);
  at.m -= static_cast<u32>(tiles.start(sequence));
  const i64 start = tiles.sequences.start(sequence), rows = tiles.sequences.start(sequence + 1) - start;
  if (static_cast<i64>(at.m) * Config::kBlockM >= rows) return;

  const AddmmParams product = jagged_bmm::product_of<Config>(p, sequence, start, rows);
  const tile::ProductSchedule<Shape> schedule(product);
  tile::ProductProducer<Shape> producer(product, schedule, at, smem);
  tile::fill_ring(producer, schedule);
  const tile::ProductWarp<Shape> warp;
  AddmmRowBias<Config> bias;
  bias.load(product, warp.column(at));
  tile::ProductConsumer<Shape> consumer(smem, warp);
  consumer.fetch(0);
  if constexpr ((Config::kBias & kResidual) != 0) tile::prefetch_residual<Shape>(product, at);

  tile::ProductAccumulators<Shape> acc;
  bias.start(acc);
  tile::multiply_tile(acc, consumer, producer, schedule);

  const u32 staging = smem + Config::kStages * Shape::kStageBytes + prim::warp_id() * Shape::Staged::kBytes;
  tile::ResultRows<Shape> epilogue(product, warp.row(at), warp.column(at), staging);
  epilogue.template run<false>(acc);
  prim::cp_async_wait<0>();
}

}  // namespace hstu
