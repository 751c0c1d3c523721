// What the families of kernels/tile/tma_product.cuh share: knobs, their rules, shared memory, grid, and the tensor maps
// of operands and results.
#pragma once

#include "cuda/tensor_map.hpp"
#include "families/family.hpp"

namespace hstujit::tma_product {

/// The first knobs of such a family, in this order.
enum : int { kBlockM, kBlockN, kPingPong, kResident, kCluster, kGroup, kBoxes, kSharedKnobs };

/// What shapes code in a product, m x k by k x n. Of several results, n is that of one.
struct Facts {
  int64_t m = 0, n = 0, k = 0;
  int element_bytes = 2;
  bool w_along_k = false;
  int results = 1;         ///< of which a tile has kBlockN columns together
  bool residual = false;   ///< as large as the result, fetched ahead of a tile
  int epilogue_bytes = 0;  ///< of shared memory, besides boxes
};

extern const Knob kKnobs[kSharedKnobs];

int rows(const Config&);          ///< of a warpgroup's part of a tile
int accumulators(const Config&);  ///< a thread
int slices(const Facts&);         ///< of 128 bytes along k
int boxes(const Facts&, const Config&);
int stages(const Facts&, const Config&);  ///< as many as fit
int smem_bytes(const Facts&, const Config&);
uint32_t grid(const Facts&, const Config&, const DeviceFacts&);  ///< for the facts of a call, not of a bucket
constexpr int kThreads = 384;

/// Legality, one function a reason; see kRules of the families.
bool warpgroups_have_whole_parts(const Config&);
bool tile_is_used(const Facts&, const Config&);
bool residency_pays(const Facts&, const Config&, const DeviceFacts&);
bool cluster_pays(const Facts&, const Config&, const DeviceFacts&);
bool boxes_differ(const Facts&, const Config&);
bool ring_is_deep(const Facts&, const Config&);
bool large_products_take_large_tiles(const Facts&, const Config&, const DeviceFacts&);

/// The best of a few measured configurations, among those that are legal.
Config default_config(const Family&, const Problem&, const Facts&, const DeviceFacts&);

/// Members of the kernel's Config that follow from the knobs.
void write_knobs(ConfigText&, const Facts&, const Config&);

/// The map of an operand whose dimension `k` is the one summed over, of which a tile has `tile` lines along the other;
/// `shares` blocks fetch it.
void encode_operand(const hstu_tensor&, int k, bool along_k, int tile, int shares, hstu::TensorMap&);
/// The map of a matrix of rows, in boxes of 128 bytes x 16 rows.
void encode_rows(const hstu_tensor&, hstu::TensorMap&);

}  // namespace hstujit::tma_product
