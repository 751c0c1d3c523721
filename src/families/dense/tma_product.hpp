// What the families of kernels/tile/tma_product.cuh share: knobs, their rules, shared memory, grid, and the tensor maps
// of operands and results.
#pragma once

#include "cuda/tensor_map.hpp"
#include "families/family.hpp"

#include <algorithm>
#include <array>

namespace hstujit::tma_product {

/// The first knobs of such a family, in this order.
enum : int { kBlockM, kBlockN, kPingPong, kResident, kCluster, kGroup, kBoxes, kSharedKnobs };

/// What shapes code in a product, m x k by k x n. Of several results, n is that of one.
struct Facts {
  int64_t m = 0, n = 0, k = 0;
  int element_bytes = 2;
  bool w_along_k = false;
  int results = 1;         ///< of which a tile has kBlockN columns together
  int passes = 1;          ///< of a warpgroup over a tile, for as many of its columns each
  bool residual = false;   ///< as large as the result, fetched ahead of a tile
  int epilogue_bytes = 0;  ///< of shared memory, besides boxes
  int most_stages = 8;     ///< of the ring
};

extern const Knob kKnobs[kSharedKnobs];

int rows(const Config&);          ///< of a warpgroup's part of a tile
int accumulators(const Config&);  ///< a thread
int slices(const Facts&);         ///< of 128 bytes along k
int boxes(const Facts&, const Config&);
int stages(const Facts&, const Config&);  ///< as many as fit
int smem_bytes(const Facts&, const Config&);
constexpr int kThreads = 384, kHolders = 256;  // the warpgroup that fetches gives its registers to the other two
constexpr int kMostRows = 1 << 30;             ///< coordinates have 32 bits

/// held_registers: accumulators, and what else a thread of the two holds all the time.
Resources resources(const Facts&, const Config&, int held_registers);

/// Whether an activation of the first `active` of n columns ends within a tile: code for that is left out if not.
bool activates_part(int64_t active, int64_t n, int tile_columns);

/// Legality, one function a reason: see rules().
bool parts_are_whole(const Config&);
bool tile_is_used(const Facts&, const Config&);
bool residency_pays(const Facts&, const Config&, const DeviceFacts&);
bool cluster_pays(const Facts&, const Config&, const DeviceFacts&);
bool boxes_differ(const Facts&, const Config&);
bool ring_is_deep(const Facts&, const Config&);
bool large_products_take_large_tiles(const Facts&, const Config&, const DeviceFacts&);

/// The rules of every such family, for one whose facts are `facts_of(problem, config)`, and then its own.
template <Facts (*facts_of)(const Problem&, const Config&), size_t kOwn = 0>
constexpr std::array<Rule, 7 + kOwn> rules(const std::array<Rule, kOwn>& own = {}) {
  using P = const Problem&;
  using C = const Config&;
  using D = const DeviceFacts&;
  std::array<Rule, 7 + kOwn> all = {{
      {"a warpgroup takes 64 or 128 rows, and at most 192 accumulators a thread",
       [](P, C c, D) { return parts_are_whole(c); }},
      {"the tile must not be larger than the matrix", [](P p, C c, D) { return tile_is_used(facts_of(p, c), c); }},
      {"w stays in shared memory for ping-pong only, if k is short and every SM has a tile of the same columns",
       [](P p, C c, D device) { return residency_pays(facts_of(p, c), c, device); }},
      {"pairs share slices of w of 256 lines along k only: multicast of smaller boxes is slower than fetching twice",
       [](P p, C c, D device) { return cluster_pays(facts_of(p, c), c, device); }},
      {"4 boxes a warp where its part of a tile has more than 2; a residual takes all",
       [](P p, C c, D) { return boxes_differ(facts_of(p, c), c); }},
      {"the ring must have 3 stages in the shared memory that is left",
       [](P p, C c, D) { return ring_is_deep(facts_of(p, c), c); }},
      {"where large tiles fill the device, small ones only cost",
       [](P p, C c, D device) { return large_products_take_large_tiles(facts_of(p, c), c, device); }, true},
  }};
  std::copy(own.begin(), own.end(), all.begin() + 7);
  return all;
}

/// The best of a few measured configurations, among those that are legal.
Config default_config(const Family&, const Problem&, const Facts&, const DeviceFacts&);

/// Members of the kernel's Config that follow from the knobs.
void write_knobs(ConfigText&, const Facts&, const Config&);

/// Grid, block, shared memory and cluster of a call with these facts.
void shape_launch(const Facts&, const Config&, const DeviceFacts&, Launch&);

/// The map of an operand whose dimension `k` is the one summed over, of which a tile has `tile` lines along the other;
/// `shares` blocks fetch it.
void encode_operand(const hstu_tensor&, int k, bool along_k, int tile, int shares, hstu::TensorMap&);
/// The map of a matrix of rows, in boxes of 128 bytes x 16 rows; of FP8 64 bytes, under that swizzle.
void encode_rows(const hstu_tensor&, hstu::TensorMap&);

/// The maps of a result: of all of it; or of its parts, of which all but the first may be absent, and the column where
/// each begins.
using Parts = const hstu_tensor* const (&)[4];
void encode_result(Parts, hstu::TensorMap (&z)[1], int (&z_first)[4]);
void encode_result(Parts, hstu::TensorMap (&z)[4], int (&z_first)[4]);

}  // namespace hstujit::tma_product
