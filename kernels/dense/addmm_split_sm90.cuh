// Matrix product with bias, residual and activation, sm_90, for results of few tiles: out = act(x w + bias + residual),
// f32 inside, rounded once. Such a call is as long as its longest wait, so this is split-K within a cluster: a
// tile's k is divided among its blocks, each of which has all of its slices in flight at once, and the partial sums are
// reduced through distributed shared memory.
//
//   producer thread ──TMA──► kStages slices ──► wgmma ──► sums ──st.async──► the block that owns them: added in the
//                                                                          order of k, + terms, act, round ──► out
//
// One operand has wgmma's 64 rows a warpgroup ("tall"), the other its columns ("wide"). With kSwap w is the tall one:
// for few rows of x, of which 64 would be mostly waste.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   producer   init barriers; prefetch w to L2                           SplitProducer::open
//   block      wait for the kernels before                               dependent_launch.cuh
//   producer   for each slice of the block's part of k: acquire a stage  SplitProducer, tma_ring.cuh
//                tall and wide operand to the stage                      wgmma_operand.cuh
//   consumer   load bias and residual of the results that it owns        SplitEpilogue::fetch
//              for each slice: wait, wgmma, release the stage before     split_multiply
//              partial sums to the blocks that own them                  split_scatter, prim/cluster.cuh
//              wait for all blocks' sums; add them in the order of k     SplitEpilogue::run
//              + bias, + residual, activation, rounding, to out          SplitEpilogue::store, activation.cuh
//
// Shared memory  kStages x (tall slice | wide slice) | a block's own sums from every block | barriers
// Registers      wide / 2 accumulators, as many terms for the results that a thread finishes
// Barriers       full, empty of each stage; arrived: sums of all blocks. The cluster's barrier tells that arrived
//                is ready; it is passed on the way to the first slice
// Results are the same from run to run: block r has a fixed part of k, and sums are added in the order of r.
//
// Config, problem facts
//   Element             bf16 or f16: x, w, out, a residual
//   Bias                element type of a bias row
//   kBias               a row, a residual, both or none (tile/addmm_terms.h)
//   kActivation         0 none, or tile/activation.cuh's, on columns below params.act_columns
//   kXAlongK, kWAlongK  whether memory is contiguous along k: x row-major; w column-major
// Config, knobs
//   kBlockM, kBlockN    tile
//   kSwap               above
//   kSplit              blocks a cluster
//   kStages             slices of 64 k in the ring
#pragma once
#include "dense/addmm_split.h"
#include "prim/cluster.cuh"
#include "prim/memory.cuh"
#include "prim/warpgroup.cuh"
#include "tile/activation.cuh"
#include "tile/addmm_terms.h"
#include "tile/dependent_launch.cuh"
#include "tile/tma_ring.cuh"
#include "tile/wgmma_operand.cuh"

namespace hstu {

// Everything that follows from a Config. A unit is four sums of a thread: two rows of the tall operand, 8 apart, by two
// of the wide one. Unit u belongs to thread u % kConsumers, which has it of every 8 of the wide extent.
template <class Config_>
struct AddmmSplitShape {
  using Config = Config_;
  using Element = typename Config::Element;
  enum : int { kTall = Config::kSwap ? Config::kBlockN : Config::kBlockM };
  enum : int { kWide = Config::kSwap ? Config::kBlockM : Config::kBlockN };
  enum : int { kConsumers = 2 * kTall, kConsumerWarps = kConsumers / 32 };
  static_assert(kTall % 64 == 0 && Config::kThreads == kConsumers + 32, "a warpgroup for 64 rows, and the producer's");

  using Tall = tile::WgmmaOperand<Element, kTall, Config::kSwap ? Config::kWAlongK : Config::kXAlongK>;
  using Wide = tile::WgmmaOperand<Element, kWide, Config::kSwap ? Config::kXAlongK : Config::kWAlongK>;
  using Ring = tile::TmaRing<Config::kStages, kConsumers / 128>;
  using Accumulators = float[kWide / 2];
  enum : int { kChains = kWide <= 32 ? 2 : 1 };  // of products that wait for each other, a short one's latency

  enum : int { kUnits = kConsumers * kWide / 8, kOwned = kUnits / Config::kSplit };
  enum : int { kPerThread = (kOwned + kConsumers - 1) / kConsumers };
  static_assert(kUnits % (32 * Config::kSplit) == 0, "a block owns units of whole warps");

  enum : int { kStageBytes = Tall::kBytes + Wide::kBytes };
  enum : int { kSumsAt = Config::kStages * kStageBytes };
  enum : int { kSumsBytes = Config::kSplit > 1 ? kUnits * 16 : 0 };
  enum : int { kRingAt = kSumsAt + kSumsBytes };
  enum : int { kArrivedAt = kRingAt + Ring::kBytes };
  enum : int { kSmemBytes = kArrivedAt + 8 };
};

template <class Config>
constexpr int addmm_split_sm90_smem_bytes = AddmmSplitShape<Config>::kSmemBytes;

// The block's tile, and its part of k in slices.
template <class Config>
struct SplitPart {
  HSTU_PRIM explicit SplitPart(const AddmmSplitParams& p) : rank(Config::kSplit > 1 ? blockIdx.x % Config::kSplit : 0) {
    row = static_cast<i32>(blockIdx.x / Config::kSplit * Config::kBlockM);
    column = static_cast<i32>(blockIdx.y * Config::kBlockN);
    const u32 slices = static_cast<u32>((static_cast<u64>(p.k) + 63) / 64);
    first = slices * rank / Config::kSplit;
    count = slices * (rank + 1) / Config::kSplit - first;
  }

  const u32 rank;
  i32 row, column;
  u32 first, count;
};

// One thread: what the ring holds at once, then slice after slice as stages are released.
template <class Config>
class SplitProducer {
 public:
  using Shape = AddmmSplitShape<Config>;

  HSTU_PRIM SplitProducer(const AddmmSplitParams& p, const SplitPart<Config>& part, u32 smem)
      : p_(p), part_(part), smem_(smem), ring_(smem + Shape::kRingAt) {}

  // Opens the barriers and brings the first slices of w to L2.
  HSTU_PRIM void open() const {
    ring_.init();
    if constexpr (Config::kSplit > 1) prim::mbarrier_init(smem_ + Shape::kArrivedAt, 1);
    prim::mbarrier_fence_init();
    if constexpr (Config::kSplit > 1) prim::mbarrier_arrive_expect_tx(smem_ + Shape::kArrivedAt, Shape::kSumsBytes);
    if constexpr (tile::kStartsEarly)
      for (u32 i = 0; i < part_.count && i < Config::kStages; ++i) prefetch(static_cast<i32>(part_.first + i) * 64);
  }
  HSTU_PRIM void start() {
    while (next_ < part_.count && next_ < Config::kStages) load();
  }
  HSTU_PRIM void finish() {
    while (next_ < part_.count) load();
  }

 private:
  HSTU_PRIM void prefetch(i32 k) const {
    if constexpr (Config::kSwap)
      Shape::Tall::prefetch(&p_.w, part_.column, k);
    else
      Shape::Wide::prefetch(&p_.w, part_.column, k);
  }
  HSTU_PRIM void load() {
    const i32 k = static_cast<i32>(part_.first + next_++) * 64;
    const u32 full = ring_.acquire(write_state_, Shape::kStageBytes),
              stage = smem_ + write_state_.stage * Shape::kStageBytes;
    const TensorMap &tall = Config::kSwap ? p_.w : p_.x, &wide = Config::kSwap ? p_.x : p_.w;
    Shape::Tall::load(stage, &tall, full, Config::kSwap ? part_.column : part_.row, k, 0);
    Shape::Wide::load(stage + Shape::Tall::kBytes, &wide, full, Config::kSwap ? part_.row : part_.column, k, 0);
    write_state_.advance();
  }

  const AddmmSplitParams& p_;
  const SplitPart<Config>& part_;
  const u32 smem_;
  const typename Shape::Ring ring_;
  typename Shape::Ring::State write_state_;
  u32 next_ = 0;
};

// acc = the part's sums of the warpgroup's 64 rows.
template <class Config>
HSTU_PRIM void split_multiply(typename AddmmSplitShape<Config>::Accumulators& acc, const SplitPart<Config>& part,
                              u32 smem) {
  using Shape = AddmmSplitShape<Config>;
  using Tall = typename Shape::Tall;
  using Wide = typename Shape::Wide;
  const typename Shape::Ring ring(smem + Shape::kRingAt);
  typename Shape::Ring::State read_state, release_state;
  typename Shape::Accumulators sums[Shape::kChains];
  for (u32 i = 0; i < part.count; ++i) {
    ring.wait(read_state);
    const u32 stage = smem + read_state.stage * Shape::kStageBytes;
    const u64 tall = Tall::descriptor(stage, static_cast<int>(threadIdx.x / 128) * 64);
    const u64 wide = Wide::descriptor(stage + Tall::kBytes, 0);
    prim::wgmma_fence();
#pragma unroll
    for (int step = 0; step < Tall::kSteps; ++step)
      prim::Wgmma<Shape::kWide>::template ss<typename Shape::Element, typename Shape::Element, Tall::kMajor,
                                             Wide::kMajor>(sums[step % Shape::kChains], Tall::at_step(tall, step),
                                                           Wide::at_step(wide, step), step >= Shape::kChains || i > 0);
    prim::wgmma_commit();
    if (i > 0) {
      prim::wgmma_wait<1>();
      ring.release(release_state);
    }
    release_state = read_state;
    read_state.advance();
  }
  prim::wgmma_wait<0>();
#pragma unroll
  for (int chain = 0; chain < Shape::kChains; ++chain) prim::warpgroup_fence_operand(sums[chain]);
#pragma unroll
  for (int i = 0; i < Shape::kWide / 2; ++i)
    acc[i] = Shape::kChains == 1 ? sums[0][i] : sums[0][i] + sums[Shape::kChains - 1][i];
}

// Reduce-scatter, its first half: every unit of partial sums to the block that owns it.
template <class Config>
HSTU_PRIM void split_scatter(const typename AddmmSplitShape<Config>::Accumulators& acc, u32 rank, u32 smem) {
  using Shape = AddmmSplitShape<Config>;
#pragma unroll
  for (int i = 0; i < Shape::kWide / 8; ++i) {
    const u32 unit = i * Shape::kConsumers + threadIdx.x, owner = unit / Shape::kOwned;
    const u32 to = smem + Shape::kSumsAt + (rank * Shape::kOwned + unit % Shape::kOwned) * 16;
    prim::st_async_f32x4(prim::cluster_addr(to, owner), acc[4 * i], acc[4 * i + 1], acc[4 * i + 2], acc[4 * i + 3],
                         prim::cluster_addr(smem + Shape::kArrivedAt, owner));
  }
}

// The units that a thread finishes: the i-th is number i kConsumers + threadIdx.x of those the block owns. All have the
// same two lines of the tall operand, and each is 8 of the wide one further than the one before.
template <class Config>
class SplitEpilogue {
 public:
  using Shape = AddmmSplitShape<Config>;
  using Accumulators = typename Shape::Accumulators;

  HSTU_PRIM SplitEpilogue(const AddmmSplitParams& p, const SplitPart<Config>& part) : p_(p) {
    const u32 unit = part.rank * Shape::kOwned + threadIdx.x, thread = unit % Shape::kConsumers;
    const i32 tall = static_cast<i32>(thread / 32 * 16 + thread % 32 / 4);
    const i32 wide = static_cast<i32>(unit / Shape::kConsumers * 8 + 2 * (unit % 4));
    row_ = part.row + (Config::kSwap ? wide : tall);
    column_ = part.column + (Config::kSwap ? tall : wide);
    const bool has = Shape::kOwned % Shape::kConsumers == 0 || threadIdx.x < Shape::kOwned;
    rows_ = has ? left(p.m - row_) : 0;
    columns_ = left(p.n - column_);
    active_ = left(p.act_columns - column_);
  }

  // What will be added to the sums; before them.
  HSTU_PRIM void fetch() {
#pragma unroll
    for (int i = 0; i < Shape::kPerThread; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) added_[i][e] = Config::kBias != kNoBias && has(i, e) ? fetch(i, e) : 0.0f;
  }

  // Sums of all of k.
  HSTU_PRIM void run(const Accumulators& acc) const {
#pragma unroll
    for (int i = 0; i < Shape::kPerThread; ++i) store(i, {acc[4 * i], acc[4 * i + 1], acc[4 * i + 2], acc[4 * i + 3]});
  }
  // Sums of the blocks' parts of it.
  HSTU_PRIM void run(u32 smem) const {
    prim::mbarrier_wait_cluster(smem + Shape::kArrivedAt, 0);
#pragma unroll
    for (int i = 0; i < Shape::kPerThread; ++i) {
      Sums sums = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
      for (int from = 0; from < Config::kSplit; ++from) {
        const u32 unit = from * Shape::kOwned + i * Shape::kConsumers + threadIdx.x % Shape::kOwned;
        const prim::Quad part = prim::ld_shared(smem + Shape::kSumsAt + unit * 16);
#pragma unroll
        for (int e = 0; e < 4; ++e) sums.of[e] += __uint_as_float(part.word[e]);
      }
      store(i, sums);
    }
  }

 private:
  using Element = typename Config::Element;
  enum : bool { kHasRow = (Config::kBias & kRowBias) != 0, kHasResidual = (Config::kBias & kResidual) != 0 };
  struct Sums {
    float of[4];  // as accumulators: the wide operand's 0 and 1, then 8 rows further
  };

  HSTU_PRIM static i32 left(i64 count) { return static_cast<i32>(max(min(count, i64{1} << 30), i64{0})); }
  // Of a unit's sum, from the first unit's first.
  HSTU_PRIM static constexpr i32 row(int i, int e) { return Config::kSwap ? 8 * i + e % 2 : 8 * (e / 2); }
  HSTU_PRIM static constexpr i32 column(int i, int e) { return Config::kSwap ? 8 * (e / 2) : 8 * i + e % 2; }
  HSTU_PRIM bool has(int i, int e) const { return row(i, e) < rows_ && column(i, e) < columns_; }

  HSTU_PRIM float fetch(int i, int e) const {
    const i64 at_row = row_ + row(i, e), at_column = column_ + column(i, e);
    float bias = 0.0f, residual = 0.0f;
    if constexpr (kHasRow)
      bias = prim::to_float(static_cast<const typename Config::Bias*>(p_.bias)[at_column * p_.bias_stride]);
    if constexpr (kHasResidual)
      residual = prim::to_float(static_cast<const Element*>(
          p_.residual)[at_row * p_.residual_row_stride + at_column * p_.residual_column_stride]);
    return kHasRow && kHasResidual ? bias + residual : kHasRow ? bias : residual;
  }

  HSTU_PRIM void store(int i, const Sums& sums) const {
    Element* out = static_cast<Element*>(p_.out) + row_ * p_.out_row_stride + column_;
    float x[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) x[e] = activate(sums.of[e] + added_[i][e], column(i, e));
#pragma unroll
    for (int e = 0; e < 4; e += Config::kSwap ? 1 : 2)
      if (has(i, e)) {
        Element* to = out + row(i, e) * p_.out_row_stride + column(i, e);
        if constexpr (Config::kSwap)
          prim::st_global2(to, prim::pack2<Element>(x[e], 0.0f));
        else
          prim::st_global4(to, prim::pack2<Element>(x[e], x[e + 1]));
      }
  }

  HSTU_PRIM float activate(float x, i32 column) const {
    if constexpr (Config::kActivation == 0) return x;
    return column < active_ ? tile::activate<Config::kActivation, Element>(x) : x;
  }

  const AddmmSplitParams& p_;
  i64 row_, column_;
  i32 rows_, columns_, active_;  // left from there
  float added_[Shape::kPerThread][4];
};

template <class Config>
HSTU_PRIM void split_consume(const AddmmSplitParams& p, const SplitPart<Config>& part, u32 smem) {
  using Shape = AddmmSplitShape<Config>;
  SplitEpilogue<Config> epilogue(p, part);
  epilogue.fetch();
  typename Shape::Accumulators acc;
  split_multiply<Config>(acc, part, smem);
  if constexpr (Config::kSplit > 1) {
    prim::cluster_wait();
    split_scatter<Config>(acc, part.rank, smem);
    epilogue.run(smem);
  } else {
    epilogue.run(acc);
  }
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    addmm_split_sm90(const __grid_constant__ AddmmSplitParams p) {
  using Shape = AddmmSplitShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage), warp = prim::warp_id();
  const SplitPart<Config> part(p);
  SplitProducer<Config> producer(p, part, smem);
  const bool produces = warp == Shape::kConsumerWarps && prim::elect_one();
  if (produces) producer.open();
  tile::wait_for_kernels_before();
  if (produces) producer.start();
  __syncthreads();
  if constexpr (Config::kSplit > 1) prim::cluster_arrive();
  if (warp < Shape::kConsumerWarps) {
    split_consume<Config>(p, part, smem);
  } else {
    if (produces) producer.finish();
    __syncwarp();
    if constexpr (Config::kSplit > 1) prim::cluster_wait();
  }
}

}  // namespace hstu
