#include "support/attention_gradients.hpp"

#include "operators/attention/attention_backward.hpp"
#include "operators/operators.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

using Args = hstu_attention_backward_args;

void place_gradients(HostMemory& memory, const AttentionGradientCase& c, Args& args) {
  const hstu_attention_args& f = args.forward;
  const auto like = [&](const hstu_tensor& t) {
    return memory.poison(c.forward.dtype, {t.shape[0], t.shape[1], t.shape[2]}, c.forward.layout);
  };
  if (!c.in_one_buffer) {
    if (c.dq) args.dq = like(f.q);
    if (c.dk) args.dk = like(f.k);
    if (c.dv) args.dv = like(f.v);
    return;
  }
  const int64_t of_q = f.q.shape[1] * f.q.shape[2], of_k = f.k.shape[1] * f.k.shape[2],
                of_v = f.v.shape[1] * f.v.shape[2];
  const hstu_tensor buffer = memory.poison(c.forward.dtype, {f.q.shape[0], of_v + of_q + of_k});
  if (c.dv) args.dv = as_heads(columns_of(buffer, 0, of_v), f.v.shape[1]);
  if (c.dq) args.dq = as_heads(columns_of(buffer, of_v, of_q), f.q.shape[1]);
  if (c.dk) args.dk = as_heads(columns_of(buffer, of_v + of_q, of_k), f.k.shape[1]);
}

/// Like a table of biases or the scales of `rows` rows: with numbers to add to, or without.
hstu_tensor place_table(HostMemory& memory, const hstu_tensor& rab, bool accumulate) {
  const hstu_tensor t = memory.poison(rab.dtype, {rab.shape[0], rab.shape[1], rab.shape[2], rab.shape[3]});
  if (accumulate) randomise(t, memory.random_numbers());
  return t;
}
hstu_tensor place_scales(HostMemory& memory, const hstu_tensor& scale, int64_t rows, bool accumulate) {
  const hstu_tensor t = memory.poison(HSTU_DTYPE_F32, {scale.shape[0]});
  if (accumulate) randomise(scale.shape[0] == 1 ? t : rows_of(t, 0, rows), memory.random_numbers());
  return t;
}

/// Of a gradient's elements: what they may be wrong by, of what their terms are.
Exact allowance_of(const Args& args, const std::vector<double>& sizes) {
  const auto dtype = static_cast<hstu_dtype>(args.forward.q.dtype);
  const double dims = std::sqrt(static_cast<double>(std::max(args.forward.q.shape[2], args.forward.v.shape[2])));
  const double of_sums = 4 * 0x1p-24 * std::sqrt(static_cast<double>(args.forward.q.shape[0]));
  // Terms are rounded to 16 bits, and come of a tanh that is wrong by 2^-11: the slope, of what it is made of, by twice
  // that.
  const double of_terms = dtype == HSTU_DTYPE_F32 ? 0 : 2 * (ulp(dtype) / 2 + 2 * 0x1p-11);
  Exact allowance;
  for (const double size : sizes) allowance.push_back((of_sums + of_terms + 8 * 0x1p-24 * dims) * size + 1e-30);
  return allowance;
}

}  // namespace

std::string name_of_case(const AttentionGradientCase& c) {
  return name_of_case(c.forward) + fmt::format("_d{}{}{}{}{}_a{}{}", int{c.dq}, int{c.dk}, int{c.dv}, int{c.drab},
                                               int{c.d_attn_scale}, int{c.accumulate}, c.in_one_buffer ? "_one" : "");
}
void PrintTo(const AttentionGradientCase& c, std::ostream* out) { *out << name_of_case(c); }

Args attention_gradient_args(HostMemory& memory, const AttentionGradientCase& c) {
  auto args = sized<Args>();
  AttentionCase forward = c.forward;
  forward.lse = forward.softmax_heads > 0;
  args.forward = attention_args(memory, forward);
  if (forward.softmax_heads > 0) {
    hstu_attention_args saving = args.forward;
    prepare(saving);
    reference::run(saving);
  }
  const hstu_tensor& out = args.forward.out;
  args.dout = memory.poison(forward.dtype, {out.shape[0], out.shape[1], out.shape[2]}, forward.layout);
  const int64_t rows = out.shape[0] - forward.spare_rows;
  randomise(rows_of(args.dout, 0, rows), memory.random_numbers());
  place_gradients(memory, c, args);
  args.accumulate = c.accumulate;
  if (c.drab && present(args.forward.rab)) args.drab = place_table(memory, args.forward.rab, c.accumulate);
  if (c.d_attn_scale && present(args.forward.attn_scale)) {
    args.d_attn_scale = place_scales(memory, args.forward.attn_scale, rows, c.accumulate);
    args.workspace_size = operator_of(Op::attention_backward).workspace->bytes(&args);
    if (args.workspace_size > 0) args.workspace = memory.slab(static_cast<int64_t>(args.workspace_size)).base();
  }
  return args;
}

std::vector<Expected<Args>> expected_gradients(const Args& given) {
  Args args = given;
  prepare(args);
  const reference::SizesOfAttentionTerms sizes = reference::sizes_of_terms(args);
  // Spec 0.5 allows a gradient twice a forward's error of all elements, which f32 alone needs.
  const auto dtype_in = static_cast<hstu_dtype>(args.forward.q.dtype);
  const double of_all = dtype_in == HSTU_DTYPE_F32 ? 4e-6 : attention_tolerance(dtype_in).frobenius;
  std::vector<Expected<Args>> outputs;
  const auto add = [&](hstu_tensor Args::*gradient, const std::vector<double>& of) {
    const hstu_dtype dtype = (args.*gradient).dtype;
    // Sums in f32 of terms that are not rounded to 16 bits, but come of products of such.
    const double frobenius = dtype == HSTU_DTYPE_F32 && args.forward.q.dtype != HSTU_DTYPE_F32 ? 2e-3 : of_all;
    if (present(args.*gradient)) outputs.push_back({gradient, {frobenius, 0, 0.51}, allowance_of(args, of)});
  };
  add(&Args::dq, sizes.dq);
  add(&Args::dk, sizes.dk);
  add(&Args::dv, sizes.dv);
  add(&Args::drab, sizes.drab);
  add(&Args::d_attn_scale, sizes.d_attn_scale);
  return outputs;
}

}  // namespace hstujit::test
