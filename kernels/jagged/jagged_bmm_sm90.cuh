// Products of the sequences of a jagged tensor with matrices of their own, sm_90: out = jagged dense[b] + bias, f32
// inside, rounded once. Operands of 16 bits, dense in either storage order.
//
//   producer warp   rows, columns of dense[b] ──TMA──► ring of kStages in smem ─┐
//   warpgroups 0,1  wgmma ◄─────────────────────────────────────────────────────┘ accumulators ──► boxes ──TMA──► out
//
// Persistent: a block walks tiles (jagged/runs/jagged_tiles.cuh), those of one sequence at a time, whose end clips
// loads and stores alike (tile/jagged_map.cuh).
//   kResident  columns of dense[b], all of k, stay in shared memory for the sequence's rows, and only these run through
//              the ring. The next sequence's take their place slice by slice, each behind the last product that reads
//              the one before: it is fetched together with the first rows' slice, whose stage is only free then.
// On an H200, 419584 rows and 512 matrices of 512 x 512: resident tiles of 64 x 128 run at 570 TFLOP/s, and 1128 MB of
// compulsory traffic would allow 820.
//
// Shared memory  columns of dense[b], if resident | kStages x (rows | columns) | boxes of every warp | bias of every
//                warpgroup | biases' barriers | the product's barriers
// Registers      producer 40, consumers 232, of them rows kBlockN / 128 accumulators, rows = kBlockM, or half of it
// Config         as in addmm_sm90.cuh, without an activation and without clusters; Offset (i32, i64). The bias is a row
//                a sequence (kRowBias) or a row a row (kResidual).
// Sources        meta-recsys/generative-recommenders, jagged_dense_bmm_broadcast_add.
#pragma once
#include "jagged/jagged_bmm_sm90.h"
#include "jagged/runs/jagged_tiles.cuh"
#include "tile/addmm_terms.h"
#include "tile/bias_row.cuh"
#include "tile/jagged_map.cuh"
#include "tile/tma_product.cuh"
#include "tile/warp_boxes.cuh"

namespace hstu {

// The epilogue's shared memory, from its beginning.
template <class Config>
struct JaggedBmmBoxes {
  using Boxes = tile::WarpBoxes<Config::kBoxes>;
  enum : int { kRows = Config::kPingPong ? Config::kBlockM : Config::kBlockM / 2 };
  enum : int { kAtOnce = kRows * Config::kBlockN / 128 > 128 ? 1 : 4 };  // the registers that are left
  using Bias = tile::BiasRow<typename Config::Bias, Config::kBlockN, kAtOnce>;
  enum : int { kBiasAt = 8 * Boxes::kBytes };
  enum : int { kBiasesAt = kBiasAt + (Config::kBias == kRowBias ? 2 * Bias::kBytes : 0) };
  enum : int { kBytes = kBiasesAt + (Config::kBias == kResidual ? 8 * 8 : 0) };
};

template <class Config>
struct JaggedBmmShape
    : tile::TmaProductShape<Config, typename Config::Element, typename Config::Element, JaggedBmmBoxes<Config>::kBytes>,
      JaggedBmmBoxes<Config> {
  using Product =
      tile::TmaProductShape<Config, typename Config::Element, typename Config::Element, JaggedBmmBoxes<Config>::kBytes>;
  using Walk = tile::JaggedTileWalk<Config>;
  using Product::kRows;
  enum : bool { kSlicesHaveBarriers = false };
  static_assert(Config::kCluster == 1, "what a block fetches is its own");
  static_assert(!Config::kResident || Config::kStages <= Config::kSlices,
                "a stage that is free must tell that a resident slice is");

  HSTU_PRIM static u32 parts(i64 extent, int size) { return static_cast<u32>((extent + size - 1) / size); }
  HSTU_PRIM static Walk walk(const JaggedBmmTmaParams& p) {
    return Walk(p.seq_offsets, p.batch, p.tiles_m, parts(p.n, Config::kBlockN));
  }
};

template <class Config>
constexpr int jagged_bmm_sm90_smem_bytes = JaggedBmmShape<Config>::kSmemBytes;

// A slice of the columns of a sequence's matrix, which is a plane of the map.
template <class TileW>
HSTU_PRIM void jagged_bmm_load_columns(u32 to, const TensorMap* map, u32 barrier, i32 column, i32 k, i32 matrix) {
#pragma unroll
  for (int panel = 0; panel < TileW::kPanels; ++panel) {
    const i32 extent = column + 64 * panel;
    prim::tma_load_3d(to + panel * TileW::kPanelLines * 128, map, barrier, TileW::kMajor == 0 ? k : extent,
                      TileW::kMajor == 0 ? extent : k, matrix);
  }
}

// One thread: the slices of a tile's rows, and of the matrix's columns where `with_columns`.
template <class Shape>
HSTU_PRIM void jagged_bmm_fetch(const JaggedBmmTmaParams& p, const tile::JaggedTile& tile, bool with_columns,
                                typename Shape::Ring::State& write_state, u32 smem) {
  using TileX = typename Shape::TileX;
  using TileW = typename Shape::TileW;
  constexpr bool kResident = Shape::Config::kResident;
  const tile::JaggedBox rows(tile.start, tile.rows);
  const u32 slices = Shape::parts(p.k, Shape::kBlockK);
  for (u32 slice = 0; slice < slices; ++slice) {
    const i32 k = static_cast<i32>(slice) * Shape::kBlockK;
    const u32 full = Shape::ring(smem).acquire(write_state, TileX::kBytes + (with_columns ? TileW::kBytes : 0));
    const u32 stage = smem + Shape::kRingAt + write_state.stage * Shape::kStageBytes;
    rows.load(stage, &p.x, full, k, tile.row, 0);
    if (with_columns)
      jagged_bmm_load_columns<TileW>(kResident ? smem + slice * TileW::kBytes : stage + TileX::kBytes, &p.w, full,
                                     tile.column, k, tile.sequence * p.matrix_step);
    write_state.advance();
  }
}

// The warp that fetches.
template <class Shape>
HSTU_PRIM void jagged_bmm_produce(const JaggedBmmTmaParams& p, u32 smem) {
  typename Shape::Ring::State write_state;
  auto walk = Shape::walk(p);
  int resident = -1;
  for (tile::JaggedTile tile; walk.next(tile); resident = tile.sequence) {
    if (prim::lane_id() == 0)
      jagged_bmm_fetch<Shape>(p, tile, !Shape::Config::kResident || tile.sequence != resident, write_state, smem);
    __syncwarp();
  }
}

// acc + bias, rounded, to out: a warp's 16 rows of each fragment, box by box.
template <class Config>
class JaggedBmmEpilogue {
 public:
  using Shape = JaggedBmmShape<Config>;
  using Accumulators = typename Shape::Accumulators;
  enum : bool { kHasRow = Config::kBias == kRowBias, kHasRows = Config::kBias == kResidual };
  enum : int { kLineBoxes = Config::kBlockN / 64, kTileBoxes = Shape::kFragments * kLineBoxes };
  static_assert(!kHasRows || Config::kBoxes == kTileBoxes, "a warp's whole bias is fetched ahead");

  HSTU_PRIM JaggedBmmEpilogue(const JaggedBmmTmaParams& p, u32 smem, u32 warp)
      : p_(p),
        bias_(smem + Shape::kEpilogueAt + Shape::kBiasAt, warp / 4),
        boxes_(smem + Shape::kEpilogueAt + warp * Shape::Boxes::kBytes),
        landed_(smem + Shape::kEpilogueAt + Shape::kBiasesAt + 8 * warp) {}
  HSTU_PRIM static void init(u32 smem) {
    if constexpr (kHasRows)
      for (u32 warp = 0; warp < Shape::kConsumerWarps; ++warp)
        prim::mbarrier_init(smem + Shape::kEpilogueAt + Shape::kBiasesAt + 8 * warp, 1);
  }

  // Before the products of the tile, of which the warp has the rows from `row` on.
  HSTU_PRIM void begin(const tile::JaggedTile& tile, u32 row) {
    rows_ = tile::JaggedBox(tile.start, tile.rows);
    row_ = tile.row + static_cast<i32>(row);
    column_ = tile.column;
    if constexpr (kHasRow)
      bias_.fetch(static_cast<const typename Config::Bias*>(p_.bias) + tile.sequence * p_.bias_stride, 1, column_,
                  p_.n);
    if constexpr (kHasRows) fetch_rows();
  }

  // While they run.
  HSTU_PRIM void prepare() {
    if constexpr (kHasRow) {
      bias_.share();
      bias_.read(0);
    }
  }

  // After them.
  HSTU_PRIM void run(const Accumulators& acc) {
    if constexpr (kHasRows) {
      prim::mbarrier_wait(landed_, parity_);
      parity_ ^= 1;
    }
#pragma unroll
    for (int box = 0; box < kTileBoxes; ++box) {
#pragma unroll
      for (int group = 0; group < 4; group += Shape::kAtOnce) run(acc[box / kLineBoxes], box, group);
      boxes_.store(&p_.z, box % Config::kBoxes, rows_, column_of(box), row_of(box));
    }
  }

 private:
  using Element = typename Config::Element;
  HSTU_PRIM i32 row_of(int box) const { return row_ + box / kLineBoxes * 64; }
  HSTU_PRIM i32 column_of(int box) const { return column_ + box % kLineBoxes * 64; }

  HSTU_PRIM void fetch_rows() {
    boxes_.wait_for_all();
    if (boxes_.leads()) {
      prim::mbarrier_arrive_expect_tx(landed_, Shape::Boxes::kBytes);
#pragma unroll
      for (int box = 0; box < kTileBoxes; ++box)
        rows_.load(boxes_.at(box), &p_.y, landed_, column_of(box), row_of(box), 0);
    }
    __syncwarp();
  }

  // kAtOnce groups of 16 columns from 16 group of a box on.
  HSTU_PRIM void run(const float (&acc)[Config::kBlockN / 2], int box, int group) {
    const int slot = box % Config::kBoxes, next = box * 4 + group + Shape::kAtOnce;
    u32 word[Shape::kAtOnce][4];
#pragma unroll
    for (int i = 0; i < Shape::kAtOnce; ++i) {
      if constexpr (kHasRows) boxes_.read(slot, group + i, word[i]);
      convert(word[i], acc, box % kLineBoxes * 4 + group + i, i);
    }
    if constexpr (kHasRow)
      if (next < 4 * kTileBoxes) bias_.read(next % (4 * kLineBoxes));
    if (!kHasRows && group == 0) boxes_.template wait_for<kTileBoxes>(box);
#pragma unroll
    for (int i = 0; i < Shape::kAtOnce; ++i) boxes_.write(slot, group + i, word[i]);
  }

  // 16 columns: pairs of rows g, g + 8, then 8 columns further; what `word` holds of a bias is added.
  HSTU_PRIM void convert(u32 (&word)[4], const float (&acc)[Config::kBlockN / 2], int group, int held) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float lo = acc[8 * group + 2 * i], hi = acc[8 * group + 2 * i + 1];
      if constexpr (kHasRow) {
        lo += bias_.value(held, i / 2, 0);
        hi += bias_.value(held, i / 2, 1);
      }
      if constexpr (kHasRows) {
        lo += prim::unpack_lo<Element>(word[i]);
        hi += prim::unpack_hi<Element>(word[i]);
      }
      word[i] = prim::pack2<Element>(lo, hi);
    }
  }

  const JaggedBmmTmaParams& p_;
  typename Shape::Bias bias_;
  const typename Shape::Boxes boxes_;
  const u32 landed_;
  u32 parity_ = 0;
  tile::JaggedBox rows_{0, 0};
  i32 row_, column_;
};

// A warpgroup that multiplies.
template <class Config>
HSTU_PRIM void jagged_bmm_consume(const JaggedBmmTmaParams& p, u32 smem, u32 warp) {
  using Shape = JaggedBmmShape<Config>;
  const u32 warpgroup = warp / 4;
  tile::TmaConsumer<Shape> consumer(smem, warpgroup, Shape::parts(p.k, Shape::kBlockK));
  JaggedBmmEpilogue<Config> epilogue(p, smem, warp);
  auto walk = Shape::walk(p);
  u32 index = 0;
  for (tile::JaggedTile tile; walk.next(tile);) {
    if (Config::kPingPong && index++ % 2 != warpgroup) continue;
    epilogue.begin(tile, consumer.row + warp % 4 * 16);
    typename Shape::Accumulators acc;
    consumer.issue(acc);
    epilogue.prepare();
    consumer.finish(acc);
    epilogue.run(acc);
  }
  Shape::Boxes::wait_for_all();
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_bmm_sm90(const __grid_constant__ JaggedBmmTmaParams p) {
  using Shape = JaggedBmmShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage), warp = prim::warp_id();
  if (threadIdx.x == 0) {
    JaggedBmmEpilogue<Config>::init(smem);
    tile::init_product<Shape>(smem);
  }
  __syncthreads();

  if (warp >= Shape::kConsumerWarps) {
    prim::warpgroup_reg_dealloc<40>();
    if (warp == Shape::kConsumerWarps) jagged_bmm_produce<Shape>(p, smem);
  } else {
    prim::warpgroup_reg_alloc<232>();
    jagged_bmm_consume<Config>(p, smem, warp);
  }
}

}  // namespace hstu
