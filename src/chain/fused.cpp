#include "chain/fused.hpp"

#include "families/family.hpp"
#include "operators/checks.hpp"
#include "operators/dense/gated_addmm.hpp"
#include "operators/dense/norm_addmm.hpp"
#include "operators/fp8/gated_fp8_gemm.hpp"
#include "support/error.hpp"

namespace hstujit::chain {
namespace {

// The products' tiles are large and take long: with less than two a multiprocessor, what some of these idle at the end
// costs more than the pass that goes.
constexpr int64_t kGatedResults = 128 * 256;  ///< of a tile of the output stage's
/// An H200, stacks of 512 columns: 9,216 rows 4 % slower, 18,432 as fast, 98,304 6 % faster.
constexpr int64_t kGatedTilesEach = 2;
constexpr int64_t kNormRows = 128;  ///< that a block of norm_addmm takes at once
/// An H200, 512 to 2048 columns: 6,144 rows 25 % slower, 12,288 7 %, 24,576 3 %, 33,792 and 98,304 8 % faster.
constexpr int64_t kNormTilesEach = 2;

bool fills(const DeviceFacts& device, const Problem& product) {
  switch (product.op) {
    case Op::norm_addmm:
      return product[norm_addmm::kM] >= kNormRows * kNormTilesEach * device.sm_count;
    case Op::gated_addmm:
      return int64_t{product[gated_addmm::kM]} * product[gated_addmm::kN] >=
             kGatedResults * kGatedTilesEach * device.sm_count;
    case Op::gated_fp8_gemm:
      return int64_t{product[gated_fp8_gemm::kM]} * product[gated_fp8_gemm::kN] >=
             kGatedResults * kGatedTilesEach * device.sm_count;
    default:
      fail(HSTU_ERROR_INTERNAL, "{} makes no stage of a layer", name_of(product.op));
  }
}

}  // namespace

bool fused_has(hstu_dtype dtype) { return is_16_bit(dtype); }

bool fused_has(const hstu_output_options& o, hstu_dtype dtype) {
  return is_16_bit(dtype) && o.concat_u == 1 && o.concat_x == 1 && o.silu_u == 0 && o.num_groups == 0 &&
         checks::code(o.norm) == HSTU_NORM_LAYER && checks::code(o.activation) == HSTU_ACTIVATION_NONE &&
         o.dropout_ratio == 0;
}

bool takes_fused(const DeviceFacts& device, const Problem& product) {
  return fills(device, product) && is_covered(product, device);
}

bool takes_fused(const DeviceFacts& device, const Problem& attention, const Problem& product) {
  return takes_fused(device, product) && is_covered(attention, device);
}

}  // namespace hstujit::chain
