// What the families of kernels/attn90 share: their first knobs, what a configuration takes of an SM, rules over it, and
// what follows from it for a launch. The sums are those of kernels/attention/sm90/shape.cuh.
#pragma once

#include "families/family.hpp"
#include "families/jagged/jagged_map.hpp"

#include <span>

namespace hstujit::attn90 {

/// The first knobs of such a family, in this order.
enum : int { kConsumers, kBlockN, kStages, kQSteps, kSharedKnobs };

/// What decides about tiles beside those knobs, of a problem and a configuration.
struct Shape {
  int32_t head_dim_qk, head_dim_v;
  int32_t blocks = 1;           ///< of threads an SM
  int element_bytes = 2;        ///< of q, k and v; of one byte, V lies in shared memory transposed as well
  bool promotes = false;        ///< sums of FP8 are added up in shared memory
  int producer_registers = 40;  ///< a thread, beside one or two consumers; beside three, or one alone on an SM, 56
  bool bias = false;            ///< a relative bias comes with the keys
  int32_t intervals = 0;        ///< a row, of a mask given as data
};

constexpr int kWarpRows = 16;  ///< of O that a warp stores at once

inline int threads(const Config& c) { return (c[kConsumers] + 1) * 128; }
inline int block_m(const Config& c) { return 64 * c[kConsumers]; }
int cols_v(const Shape& s);   ///< of O, whole fragments
int q_steps(const Shape& s);  ///< k steps of all of Q
/// The largest of these values of q_steps that is no more than `most` and all of Q.
int32_t q_steps_up_to(int32_t most, std::span<const int32_t> values, const Shape& s);

int ring_bytes(const Shape& s, const Config& c);  ///< of K and V, and the bias
int smem_bytes(const Shape& s, const Config& c);
/// Accumulators of O and S, P and the resident part of Q, per consumer thread; and what such a thread has.
int held_registers(const Shape& s, const Config& c);
int consumer_registers(const Shape& s, const Config& c);
Resources resources(const Shape& s, const Config& c);
void write_knobs(ConfigText& text, const Shape& s, const Config& c);

/// Rules for a family whose shapes are shape_of(problem, config).
using ShapeOf = Shape (*)(const Problem&, const Config&);
template <ShapeOf shape_of>
inline constexpr Rule kTilesFit = {"the tiles must fit the shared memory of a block",
                                   [](const Problem& p, const Config& c, const DeviceFacts& device) {
                                     const Shape s = shape_of(p, c);
                                     return smem_holds(device, s.blocks, smem_bytes(s, c));
                                   }};
/// other_registers(problem, config): what consumers need beside held_registers().
template <ShapeOf shape_of, int (*other_registers)(const Problem&, const Config&)>
inline constexpr Rule kRegistersSuffice = {"accumulators, P and resident Q would not fit the registers",
                                           [](const Problem& p, const Config& c, const DeviceFacts&) {
                                             const Shape s = shape_of(p, c);
                                             return held_registers(s, c) + other_registers(p, c) <=
                                                    consumer_registers(s, c);
                                           }};
template <ShapeOf shape_of>
inline constexpr Rule kQFitsItsSteps = {
    "q_steps must not exceed the k16 steps of head_dim_qk",
    [](const Problem& p, const Config& c, const DeviceFacts&) { return c[kQSteps] <= q_steps(shape_of(p, c)); }};

/// Sections of (sequence, head) pairs with at most `keys` keys each, in the order in which tiles are taken. Blocks of
/// threads walk through the keys side by side: they share what is larger than the cache, and when many ask for the keys
/// of few pairs they are slowed down. So no fewer than 16 pairs, if these are no more than two caches full. SiLU, 4
/// heads x 128: (4, 16384) with 2, 8, 16 pairs 696, 782, 781 TFLOP/s; (8, 8192) with 4, 16, 32 707, 757, 737; (32,
/// 4096) with 8, 32, 128 706, 710, 538. percent: of the cache that K and V may take instead, if not 0.
int section_pairs(const Shape& s, int64_t pairs, int64_t keys, const DeviceFacts& device, int percent = 0);

/// Grid and block for `pairs` pairs of at most `rows` query rows, whose row blocks the blocks of threads take in turn;
/// returns the row blocks of a pair, 0 when nothing is to be done.
int set_grid(Launch& launch, const Shape& s, const Config& c, int64_t pairs, int64_t rows, const DeviceFacts& device);

/// The maps of query rows and of keys in a kernel's parameters; map_of: jagged_map, or its like.
template <class Params>
void encode_rows(const hstu_tensor& q, const hstu_tensor& out, const Config& c, Params& params,
                 TensorMapSpec (*map_of)(const hstu_tensor&, int rows) = jagged_map) {
  encode_tensor_map(map_of(q, block_m(c)), params.q);
  encode_tensor_map(map_of(out, kWarpRows), params.out);
}
template <class Params>
void encode_keys(const hstu_tensor& k, const hstu_tensor& v, const Config& c, Params& params,
                 TensorMapSpec (*map_of)(const hstu_tensor&, int rows) = jagged_map) {
  encode_tensor_map(map_of(k, c[kBlockN]), params.k);
  encode_tensor_map(map_of(v, c[kBlockN]), params.v);
}

/// That of a relative bias, which the problem calls one in whole chunks.
template <class Params>
void encode_bias(const hstu_tensor& rab, const Config& c, Params& params) {
  encode_tensor_map(bias_map(rab, block_m(c)), params.rab);
}

}  // namespace hstujit::attn90
