// Matrix product with bias, residual and activation, sm_90: z = act(x w + y), f32 inside, rounded once. Operands of 16
// bits in either layout.
//
//   producer warp   x, w slices ──TMA──► ring of kStages in smem ─┐
//   warpgroups 0,1  wgmma ◄───────────────────────────────────────┘ accumulators ──► act, round ──► boxes ──TMA──► z
//
// Persistent: a block walks output tiles (tile/tma_product.cuh, also for kPingPong, kResident, kCluster). On an H200
// ping-pong with tiles of 128 x 192 or 128 x 128 is best for long k, residency for short; multicast in pairs never is.
//
// Shared memory  w, if resident | kStages x (x slice | w slice) | boxes of every warp | bias of every warpgroup |
//                residuals' barriers | the product's barriers
// Registers      producer 40, consumers 232, of them rows kBlockN / 128 accumulators, rows = kBlockM, or half of it
// Barriers       full, empty of each stage; w's slices, if resident; turns of the warpgroups; residual of each warp
//
// Config, problem facts
//   Element             bf16 or f16: x, w, z, a residual
//   Bias                element type of a bias row
//   kBias               kNoBias, kRowBias ([n]), kResidual ([m, n])
//   kActivation         0 none, or tile/activation.cuh's, on columns below params.act_columns
//   kActivatesPart      of the columns of some tile
//   kSplitColumns       z is several matrices, each with a part of the columns, whole boxes
//   Fp8                 e4m3 or e5m2: z; left out where z is of Element
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
  enum : int { kResidualsAt = kBiasAt + (Config::kBias == kRowBias ? 2 * Bias::kBytes : 0) };
  enum : int { kBytes = kResidualsAt + (Config::kBias == kResidual ? 8 * 8 : 0) };
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

// act(acc + y), rounded, to z.
template <class Config>
class AddmmEpilogue {
 public:
  using Shape = AddmmShape<Config>;
  using Params = typename Shape::Params;
  using Results = tile::ResultBoxes<Shape>;
  using Accumulators = typename Shape::Accumulators;
  enum : bool { kHasBias = Config::kBias == kRowBias };

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
