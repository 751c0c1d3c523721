// Matrix product with bias, residual and activation, sm_90: out = act(x w + bias + residual), f32 inside, rounded
// once. Operands of 16 bits in either layout.
//
//   producer warp   x, w slices ──TMA──► ring of kStages in smem ─┐
//   warpgroups 0,1  wgmma ◄───────────────────────────────────────┘ accumulators ──► act, round ──► boxes ──TMA──► out
//
// Persistent: a block walks output tiles (tile/tma_product.cuh, also for kPingPong, kResident, kCluster). On an H200
// ping-pong with tiles of 128 x 192 or 128 x 128 is best for long k, residency for short; multicast in pairs never is.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   block      barriers; wait for the kernels before; warps to their roles  tma_product.cuh, dependent_launch.cuh
//   producer   for each tile of the block                                   tma_product.cuh, raster.cuh
//                for each slice of k: acquire a stage                       tma_product.cuh, tma_ring.cuh
//                  x and w, unless it is resident, to the stage             wgmma_operand.cuh
//   consumer   for each tile, of the block or of the warpgroup              AddmmRoles::consume
//                load the bias row; copy the residual to the boxes          bias_row.cuh, result_boxes.cuh
//                ping-pong: wait for the other's mainloop                   tma_product.cuh, PingPongBarrier
//                for each slice: wait for its stage, acc += x w             tma_product.cuh, wgmma_operand.cuh
//                  release the stage before                                 tma_ring.cuh
//                + bias, + residual, activation, rounding                   AddmmEpilogue, result_boxes.cuh
//                boxes to out by TMA                                        warp_boxes.cuh
//
// Shared memory  w, if resident | kStages x (x slice | w slice) | boxes of every warp | bias of every warpgroup |
//                residuals' barriers | the product's barriers
// Registers      producer 40, consumers 232, of them rows kBlockN / 128 accumulators, rows = kBlockM, or half of it
// Barriers       full, empty of each stage; w's slices, if resident; ping-pong; residual of each warp
//
// Config, problem facts
//   Element             bf16 or f16: x, w, out, a residual
//   Bias                element type of a bias row
//   kBias               a row [n], a residual [m, n], both or none (tile/addmm_terms.h)
//   kActivation         0 none, or tile/activation.cuh's, on columns below params.act_columns
//   kActivatesPart      of the columns of some tile
//   kSplitColumns       out is several matrices, each with a part of the columns, whole boxes
//   Fp8                 e4m3 or e5m2: out; left out where out is of Element
//   kXAlongK, kWAlongK  whether memory is contiguous along k: x row-major; w column-major
// Config, knobs
//   kBlockM, kBlockN    tile: of a block, or with kPingPong of a warpgroup
//   kStages             slices of 64 k in the ring
//   kPingPong, kResident, kCluster  above
//   kSlices             slices of k that stay, if resident
//   kGroup              tile rows walked together (tile/raster.cuh)
//   kBoxes              of 16 rows x 64 columns a warp: stores in flight; its part of a tile, for a residual
#pragma once
#include "dense/addmm_sm90.h"
#include "tile/addmm_terms.h"
#include "tile/bias_row.cuh"
#include "tile/result_boxes.cuh"
#include "tile/tma_product.cuh"

namespace hstu {

// The epilogue's shared memory, from its beginning.
template <class Config>
struct AddmmBoxes {
  using Boxes = tile::WarpBoxes<Config::kBoxes>;
  enum : int { kRows = Config::kPingPong ? Config::kBlockM : Config::kBlockM / 2 };
  enum : int { kAccumulators = kRows * Config::kBlockN / 128 };
  enum : int { kAtOnce = kAccumulators > 128 ? 1 : 4 };  // groups of 16 columns; the registers that are left
  using Bias = tile::BiasRow<typename Config::Bias, Config::kBlockN, kAtOnce>;
  enum : int { kBiasAt = 8 * Boxes::kBytes };
  enum : int { kResidualsAt = kBiasAt + ((Config::kBias & kRowBias) != 0 ? 2 * Bias::kBytes : 0) };
  enum : int { kBytes = kResidualsAt + ((Config::kBias & kResidual) != 0 ? 8 * 8 : 0) };
};

template <class Config>
struct AddmmShape
    : tile::TmaProductShape<Config, typename Config::Element, typename Config::Element, AddmmBoxes<Config>::kBytes>,
      AddmmBoxes<Config> {
  using Product =
      tile::TmaProductShape<Config, typename Config::Element, typename Config::Element, AddmmBoxes<Config>::kBytes>;
  using Params = AddmmTmaParams<Config::kSplitColumns ? 4 : 1>;
  using Product::kRows;
  enum : int { kTileColumns = Config::kBlockN };

  HSTU_PRIM static void load_x(u32 to, const Params& p, u32 barrier, i32 row, i32 k) {
    Product::TileX::load(to, &p.x, barrier, row, k, 0);
  }
  HSTU_PRIM static void prefetch_x(const Params& p, i32 row, i32 k) { Product::TileX::prefetch(&p.x, row, k); }
  HSTU_PRIM static void load_w(u32 to, const Params& p, u32 barrier, i32 column, i32 k, u32 rank) {
    Product::TileW::load(to, &p.w, barrier, column, k, rank);
  }
};

template <class Config>
constexpr int addmm_sm90_smem_bytes = AddmmShape<Config>::kSmemBytes;

// act(acc + bias + residual), rounded, to out.
template <class Config>
class AddmmEpilogue {
 public:
  using Shape = AddmmShape<Config>;
  using Params = typename Shape::Params;
  using Results = tile::ResultBoxes<Shape>;
  using Accumulators = typename Shape::Accumulators;
  enum : bool { kHasBias = (Config::kBias & kRowBias) != 0 };

  HSTU_PRIM AddmmEpilogue(const Params& p, u32 smem, u32 warp)
      : p_(p), bias_(smem + Shape::kEpilogueAt + Shape::kBiasAt, warp / 4), results_(p, smem, warp) {}

  // Before the products of the tile at `column`, of which the warp has the rows from `row` on.
  HSTU_PRIM void begin(i32 row, i32 column) {
    if constexpr (kHasBias) bias_.fetch(p_.bias, p_.bias_stride, column, p_.n);
    results_.begin(row, column);
  }

  // While they run.
  HSTU_PRIM void prepare() {
    if constexpr (kHasBias) {
      bias_.share();
      bias_.read(0);
    }
  }

  // After them.
  HSTU_PRIM void run(const Accumulators& acc) {
    Biased biased{acc, bias_};
    results_.run(biased);
  }

 private:
  // acc + bias, of which it holds a few columns: the source of tile/result_boxes.cuh.
  struct Biased {
    HSTU_PRIM float value(int fragment, int i, int held) const {
      const float x = acc[fragment][i];
      return kHasBias ? x + bias.value(held, i >> 2 & 1, i & 1) : x;
    }
    HSTU_PRIM void next(int box, int group) {
      if (kHasBias && box < Results::kTileBoxes) bias.read(box % Results::kLineBoxes * 4 + group);
    }
    const Accumulators& acc;
    typename Shape::Bias& bias;
  };

  const Params& p_;
  typename Shape::Bias bias_;
  Results results_;
};

template <class Config>
struct AddmmRoles {
  using Shape = AddmmShape<Config>;

  HSTU_PRIM static void init(u32 smem) { tile::ResultBoxes<Shape>::init(smem); }

  // A warpgroup that multiplies.
  HSTU_PRIM static void consume(const typename Shape::Params& p, const tile::TmaSchedule<Shape>& schedule, u32 smem,
                                u32 warp) {
    tile::TmaConsumer<Shape> consumer(smem, warp / 4, schedule.slices);
    AddmmEpilogue<Config> epilogue(p, smem, warp);
    for (u32 i = consumer.first_tile; i < schedule.count; i += consumer.kTileStep) {
      const tile::TilePosition tile = schedule.position(i);
      epilogue.begin(schedule.row(tile) + static_cast<i32>(consumer.row + warp % 4 * 16), schedule.column(tile));
      typename Shape::Accumulators acc;
      consumer.issue(acc);
      epilogue.prepare();
      consumer.finish(acc);
      epilogue.run(acc);
    }
    Shape::Boxes::wait_for_all();
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    addmm_sm90(const __grid_constant__ typename AddmmShape<Config>::Params p) {
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  tile::run_roles<AddmmRoles<Config>>(p, prim::smem_addr(smem_storage));
}

}  // namespace hstu
