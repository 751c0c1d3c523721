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
//   kActivation         0 none, 1 SiLU, on columns below params.act_columns
//   kSplitColumns       z is several matrices, each with a part of the columns, whole boxes
//   kXAlongK, kWAlongK  whether memory is contiguous along k: x row-major; w column-major
// Config, knobs
//   kBlockM, kBlockN    tile: of a block, or with kPingPong of a warpgroup
//   kStages             slices of 64 k in the ring
//   kPingPong, kResident, kCluster  above
//   kSlices             slices of k that stay, if resident
//   kGroup              tile rows walked together (tile/raster.cuh)
//   kBoxes              of 16 rows x 64 columns a warp: stores in flight; its part of a tile, for a residual
#pragma once
#include "params/addmm_sm90.h"
#include "params/addmm_terms.h"
#include "tile/activation.cuh"
#include "tile/bias_row.cuh"
#include "tile/tma_product.cuh"
#include "tile/warp_boxes.cuh"

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

enum class Activated { kNothing, kAll, kSome };  // of a tile's columns

// act(acc + y), rounded, to z: a warp's 16 rows of each fragment, box by box.
template <class Config>
class AddmmEpilogue {
 public:
  using Shape = AddmmShape<Config>;
  using Params = typename Shape::Params;
  using Accumulators = typename Shape::Accumulators;
  enum : bool { kHasBias = Config::kBias == kRowBias, kHasResidual = Config::kBias == kResidual };
  enum : int { kLineBoxes = Config::kBlockN / 64, kTileBoxes = Shape::kFragments * kLineBoxes };
  static_assert(!kHasResidual || Config::kBoxes == kTileBoxes, "a warp's whole residual is fetched ahead");

  HSTU_PRIM AddmmEpilogue(const Params& p, u32 smem, u32 warp)
      : p_(p),
        bias_(smem + Shape::kEpilogueAt + Shape::kBiasAt, warp / 4),
        boxes_(smem + Shape::kEpilogueAt + warp * Shape::Boxes::kBytes),
        residual_(smem + Shape::kEpilogueAt + Shape::kResidualsAt + 8 * warp) {}
  HSTU_PRIM static void init(u32 smem) {
    if constexpr (kHasResidual)
      for (u32 warp = 0; warp < Shape::kConsumerWarps; ++warp)
        prim::mbarrier_init(smem + Shape::kEpilogueAt + Shape::kResidualsAt + 8 * warp, 1);
  }

  // Before the products of the tile at `column`, of which the warp has the rows from `row` on.
  HSTU_PRIM void begin(i32 row, i32 column) {
    row_ = row;
    column_ = column;
    if constexpr (kHasBias) bias_.fetch(p_.bias, p_.bias_stride, column, p_.n);
    if constexpr (kHasResidual) fetch_residual();
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
    if constexpr (kHasResidual) {
      prim::mbarrier_wait(residual_, parity_);
      parity_ ^= 1;
    }
    active_ = static_cast<i32>(min(p_.act_columns - column_, i64{Config::kBlockN}));
    if (Config::kActivation == 0 || active_ <= 0)
      run<Activated::kNothing>(acc);
    else if (active_ == Config::kBlockN)
      run<Activated::kAll>(acc);
    else
      run<Activated::kSome>(acc);
  }

 private:
  using Element = typename Config::Element;
  HSTU_PRIM i32 row_of(int box) const { return row_ + box / kLineBoxes * 64; }
  HSTU_PRIM i32 column_of(int box) const { return column_ + box % kLineBoxes * 64; }

  HSTU_PRIM void fetch_residual() {
    boxes_.wait_for_all();
    if (boxes_.leads()) {
      prim::mbarrier_arrive_expect_tx(residual_, Shape::Boxes::kBytes);
#pragma unroll
      for (int box = 0; box < kTileBoxes; ++box)
        prim::tma_load_2d(boxes_.at(box), &p_.y, residual_, column_of(box), row_of(box));
    }
    __syncwarp();
  }

  template <Activated kActivated>
  HSTU_PRIM void run(const Accumulators& acc) {
#pragma unroll
    for (int box = 0; box < kTileBoxes; ++box) {
#pragma unroll
      for (int group = 0; group < 4; group += Shape::kAtOnce) run<kActivated>(acc[box / kLineBoxes], box, group);
      store(box % Config::kBoxes, column_of(box), row_of(box));
    }
  }
  HSTU_PRIM void store(int slot, i32 column, i32 row) const {
    int part = 0;
    if constexpr (Config::kSplitColumns)
      part = (column >= p_.z_first[1]) + (column >= p_.z_first[2]) + (column >= p_.z_first[3]);
    boxes_.store(&p_.z[part], slot, Config::kSplitColumns ? column - p_.z_first[part] : column, row);
  }

  // kAtOnce groups of 16 columns from 16 group of a box on.
  template <Activated kActivated>
  HSTU_PRIM void run(const float (&acc)[Config::kBlockN / 2], int box, int group) {
    const int slot = box % Config::kBoxes, next = box * 4 + group + Shape::kAtOnce;
    u32 word[Shape::kAtOnce][4];
#pragma unroll
    for (int i = 0; i < Shape::kAtOnce; ++i) {
      if constexpr (kHasResidual) boxes_.read(slot, group + i, word[i]);
      convert<kActivated>(word[i], acc, box % kLineBoxes * 4 + group + i, i);
    }
    if constexpr (kHasBias)
      if (next < 4 * kTileBoxes) bias_.read(next % (4 * kLineBoxes));
    if (!kHasResidual && group == 0) boxes_.template wait_for<kTileBoxes>(box);
#pragma unroll
    for (int i = 0; i < Shape::kAtOnce; ++i) boxes_.write(slot, group + i, word[i]);
  }

  // 16 columns: pairs of rows g, g + 8, then 8 columns further; what `word` holds of a residual is added.
  template <Activated kActivated>
  HSTU_PRIM void convert(u32 (&word)[4], const float (&acc)[Config::kBlockN / 2], int group, int held) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float lo = acc[8 * group + 2 * i], hi = acc[8 * group + 2 * i + 1];
      if constexpr (kHasBias) {
        lo += bias_.value(held, i / 2, 0);
        hi += bias_.value(held, i / 2, 1);
      }
      if constexpr (kHasResidual) {
        lo += prim::unpack_lo<Element>(word[i]);
        hi += prim::unpack_hi<Element>(word[i]);
      }
      const i32 column = 16 * group + 8 * (i / 2) + 2 * static_cast<i32>(prim::lane_id() % 4);
      word[i] = prim::pack2<Element>(activate<kActivated>(lo, column), activate<kActivated>(hi, column + 1));
    }
  }

  template <Activated kActivated>
  HSTU_PRIM float activate(float x, i32 column) const {
    if constexpr (kActivated == Activated::kNothing)
      return x;
    else if constexpr (kActivated == Activated::kAll)
      return tile::silu<Element>(x);
    else
      return column < active_ ? tile::silu<Element>(x) : x;
  }

  const Params& p_;
  typename Shape::Bias bias_;
  const typename Shape::Boxes boxes_;
  const u32 residual_;
  u32 parity_ = 0;
  i32 row_, column_, active_;  // active_: columns of the tile under the activation
};

template <class Config>
struct AddmmRoles {
  using Shape = AddmmShape<Config>;

  HSTU_PRIM static void init(u32 smem) { AddmmEpilogue<Config>::init(smem); }

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
