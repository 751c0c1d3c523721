#include "support/dense_gradients.hpp"

#include "dense/addmm_wgrad.h"
#include "operators/dense/addmm_wgrad.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

using Args = hstu_addmm_wgrad_args;

Tolerance own_rounding(const hstu_tensor& t, bool tf32) {
  const auto dtype = static_cast<hstu_dtype>(t.dtype);
  return {2 * rounded_once(dtype).frobenius + (tf32 ? 2e-3 : 2e-5), 0, 0.51};
}

/// Of a product over the root of the squares of a sum's terms.
double error_of_products(const Args& args) {
  const double rows = static_cast<double>(args.x.shape[0]);
  const double of_sums = 4 * 0x1p-24 * std::sqrt(rows);
  if (args.x.dtype == HSTU_DTYPE_F32) return of_sums + (args.allow_tf32 ? 5 * 0x1p-11 : 5 * 0x1p-22);
  // A sum grows evenly to four times that root at most; each cut is half of its last bit, 2^-24 of it.
  return of_sums + 2 * 0x1p-24 * std::min(rows, double{hstu::kRowsInTensorCores}) / 16;
}

Exact times(double factor, Exact sizes) {
  for (double& size : sizes) size *= factor;
  return sizes;
}

}  // namespace

void give_workspace(HostMemory& memory, Args& args) {
  args.workspace_size = operator_of(Op::addmm_wgrad).workspace->bytes(&args);
  args.workspace = args.workspace_size > 0 ? memory.slab(static_cast<int64_t>(args.workspace_size)).base() : nullptr;
}

std::vector<Expected<Args>> expected_gradients(const Args& given) {
  Args args = given;
  prepare(args);
  const reference::WgradSizes sizes = reference::sizes_of_terms(args);
  std::vector<Expected<Args>> outputs;
  if (present(args.dw))
    outputs.push_back(
        {&Args::dw, own_rounding(args.dw, args.allow_tf32 != 0), times(error_of_products(args), sizes.dw)});
  if (present(args.dbias)) {
    const double of_sums = 4 * 0x1p-24 * std::sqrt(static_cast<double>(args.x.shape[0]));
    outputs.push_back({&Args::dbias, own_rounding(args.dbias, false), times(of_sums, sizes.dbias)});
  }
  return outputs;
}

}  // namespace hstujit::test
