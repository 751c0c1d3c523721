#include "layer/one_product.hpp"

#include "families/family.hpp"
#include "problem/checks.hpp"
#include "problem/dense_fields.hpp"
#include "problem/fp8_fields.hpp"

namespace hstujit::layer {
namespace {

int64_t results_of(const Problem& product) {
  const bool fp8 = product.op == Op::gated_fp8_gemm;
  return int64_t{product[fp8 ? int{gated_fp8_gemm::kM} : int{gated_addmm::kM}]} *
         product[fp8 ? int{gated_fp8_gemm::kN} : int{gated_addmm::kN}];
}

}  // namespace

bool one_product_has(const hstu_output_options& o, hstu_dtype dtype) {
  return (dtype == HSTU_DTYPE_BF16 || dtype == HSTU_DTYPE_F16) && o.concat_u == 1 && o.concat_x == 1 && o.silu_u == 0 &&
         o.num_groups == 0 && checks::code(o.norm) == HSTU_NORM_LAYER &&
         checks::code(o.activation) == HSTU_ACTIVATION_NONE && o.dropout_ratio == 0;
}

bool takes_one_product(const DeviceFacts& device, const Problem& attention, const Problem& product) {
  // Its tiles are large and take long: with less than two a multiprocessor, what some of these idle at the end costs
  // more than the pass that goes (an H200, stacks of 512 columns: 9,216 rows 4 % slower, 18,432 as fast, 98,304 6 %
  // faster).
  constexpr int64_t kTileResults = 128 * 256, kTilesEach = 2;
  return results_of(product) >= kTileResults * kTilesEach * device.sm_count && is_covered(product, device) &&
         is_covered(attention, device);
}

}  // namespace hstujit::layer
