// The calls of a stack of HSTU layers:
//
//   x ─ layer_norm ─ addmm, SiLU on u ─► [u | v | q | k] ─ hstu_attention ─ norm_mul ─ addmm + x ─► next layer's x
//
// The columns v, q, k stay slices of one buffer. u is one of them, too; or, where the output stage's rows are
// [u | attn | norm(attn) u], it and attn are written where these rows want them, as in chain/output_rows.hpp.
// Layers have weights of their own and share the buffers between them; a layer never writes its own input, so a run can
// be repeated. With projections in FP8 both are fp8_gemm, the steps in front of them quantise what they write, and
// weights, stored transposed, are quantised by calls to be made once.
//
// With output stages of one call attention also leaves statistics of its rows, and gated_addmm, or gated_fp8_gemm,
// takes the place of the last two; norm_addmm may take that of the first two:
//
//   x ─ norm_addmm, SiLU on u ─► [u | v | q | k] ─ hstu_attention, with moments ─ gated_addmm + x ─► next layer's x
#include "chain/one_product.hpp"
#include "chain/output_rows.hpp"
#include "families/family.hpp"
#include "workload/call_builder.hpp"
#include "workload/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hstujit {
namespace {

/// Columns [first, first + columns) of a matrix [rows, all], seen as [rows, columns] (heads 0) or [rows, heads, dim].
Placed slice(const Placed& matrix, int64_t first, int64_t heads, int64_t dim) {
  Placed part = matrix;
  const int64_t row_stride = matrix.tensor.stride[0] > 0 ? matrix.tensor.stride[0] : matrix.tensor.shape[1];
  part.place.offset += first;
  part.tensor = heads > 0 ? hstu_heads(nullptr, matrix.tensor.dtype, matrix.tensor.shape[0], heads, dim)
                          : hstu_matrix(nullptr, matrix.tensor.dtype, matrix.tensor.shape[0], dim);
  part.tensor.stride[0] = row_stride;
  return part;
}

class StackBuilder {
 public:
  StackBuilder(const Workload& workload, OneProducts which, Calls& calls)
      : spec_(*workload.stack),
        which_(which),
        dtype_(workload.dtype),
        batch_(batch_of(*workload.sequences)),
        calls_(calls),
        build_(calls.buffers) {
    const int64_t rows = batch_.total, value_columns = spec_.num_heads * spec_.hidden_dim;
    x_ = build_.input("x", dtype_, {rows, spec_.embedding_dim});
    build_.integers(batch_, workload.sequences->integer_dtype, attention_);
    output_stage_.dim = value_columns;
    output_stage_.eps = spec_.eps;
    output_stage_.concat_u = output_stage_.concat_x = spec_.concat_ux;
    if (!which.uvqk) normed_ = build_.output("normed", projected_dtype(), {rows, spec_.embedding_dim});
    gated_ = build_.output("gated", projected_dtype(), {rows, gated_columns()});
    if (quantised()) {
      normed_descale_ = build_.output("normed_descale", HSTU_DTYPE_F32, {rows});
      gated_descale_ = build_.output("gated_descale", HSTU_DTYPE_F32, {rows});
    }
    // Statistics that make sense to those who tune what reads them alone.
    if (which.output) attention_.moments = build_.input("moments", HSTU_DTYPE_F32, {rows, spec_.num_heads, 2}, 1, 0.1f);
    if (in_place()) {
      vqk_ = build_.output("vqk", dtype_, {rows, uvqk_columns() - value_columns});
      u_ = slice(gated_, 0, 0, value_columns);
      attn_ = slice(gated_, value_columns, 0, value_columns);
    } else {
      vqk_ = build_.output("uvqk", dtype_, {rows, uvqk_columns()});
      u_ = slice(vqk_, 0, 0, value_columns);
      attn_ = build_.output("attn", dtype_, {rows, value_columns});
    }
    outputs_ = {build_.output(layer_input(1), dtype_, {rows, spec_.embedding_dim}),
                spec_.layers > 1 ? build_.output(layer_input(2), dtype_, {rows, spec_.embedding_dim}) : Placed{}};
  }

  void layer(int64_t index) {
    const std::string prefix = fmt::format("layers.{}.", index);
    const Placed& out = outputs_[static_cast<size_t>(index % 2)];
    if (which_.uvqk) {
      normalise_and_project(prefix);
    } else {
      normalise(prefix);
      project(prefix);
    }
    attend();
    if (which_.output) {
      close_at_once(prefix, out);
    } else {
      gate(prefix);
      close(prefix, out);
    }
    x_ = out;
    calls_.result = out.place.buffer;
  }

 private:
  int64_t uvqk_columns() const { return 2 * spec_.num_heads * (spec_.hidden_dim + spec_.attn_dim); }
  bool quantised() const { return spec_.projections != HSTU_DTYPE_NONE; }
  hstu_dtype projected_dtype() const { return quantised() ? spec_.projections : dtype_; }
  bool in_place() const {
    return !quantised() && output_written_in_place(spec_.concat_ux, spec_.concat_ux, false, output_stage_.dim);
  }
  int64_t gated_columns() const { return output_stage_.dim * segments(output_stage_); }

  void add(Call call, const char* name) {
    call.name = name;
    calls_.calls.push_back(std::move(call));
  }
  Placed scale(const std::string& name, int64_t dim) { return build_.input(name, dtype_, {dim}, 1, 0.1f); }
  Placed shift(const std::string& name, int64_t dim) { return build_.input(name, dtype_, {dim}, 0, 0.1f); }

  void normalise(const std::string& prefix) {
    const int64_t dim = spec_.embedding_dim;
    add(layer_norm_call(
            {x_, scale(prefix + "norm_weight", dim), shift(prefix + "norm_bias", dim), normed_, normed_descale_},
            spec_.eps),
        "layer norm");
  }

  /// A weight [k, n] in FP8, as rows of k, and the scales of these rows.
  struct Quantised {
    Placed q, descale;
  };
  Quantised quantised_weight(const std::string& name, int64_t k, int64_t n) {
    Placed w = build_.weight(name, dtype_, k, n, true);
    w.tensor = hstu_matrix(nullptr, dtype_, n, k);  // as it is stored
    const Quantised to{build_.output(name + "_fp8", spec_.projections, {n, k}),
                       build_.output(name + "_descale", HSTU_DTYPE_F32, {n})};
    Call call = quantize_fp8_call(w, to.q, to.descale);
    call.name = name + " to FP8";
    calls_.setup.push_back(std::move(call));
    return to;
  }

  void project(const std::string& prefix) {
    const std::string name = prefix + "uvqk_weight";
    if (quantised()) {
      const Quantised w = quantised_weight(name, spec_.embedding_dim, uvqk_columns());
      const Placed bias = shift(prefix + "uvqk_bias", uvqk_columns());
      add(fp8_gemm_call({normed_, w.q, normed_descale_, w.descale, bias, vqk_}, HSTU_ACTIVATION_SILU, output_stage_.dim,
                        spec_.accumulation),
          "UVQK projection");
      return;
    }
    const Placed w = build_.weight(name, dtype_, spec_.embedding_dim, uvqk_columns(), spec_.weights_transposed);
    const Placed bias = shift(prefix + "uvqk_bias", uvqk_columns());
    const AddmmTensors t =
        in_place() ? AddmmTensors{normed_, w, bias, u_, vqk_} : AddmmTensors{normed_, w, bias, vqk_, {}};
    add(addmm_call(t, HSTU_ACTIVATION_SILU, output_stage_.dim), "UVQK projection");
  }

  void normalise_and_project(const std::string& prefix) {
    const int64_t dim = spec_.embedding_dim;
    NormAddmmTensors t{x_,
                       scale(prefix + "norm_weight", dim),
                       shift(prefix + "norm_bias", dim),
                       build_.weight(prefix + "uvqk_weight", dtype_, dim, uvqk_columns(), spec_.weights_transposed),
                       shift(prefix + "uvqk_bias", uvqk_columns()),
                       in_place() ? u_ : vqk_,
                       {}};
    if (in_place()) t.z1 = vqk_;
    add(norm_addmm_call(t, HSTU_ACTIVATION_SILU, output_stage_.dim, spec_.eps), "layer norm and UVQK projection");
  }

  void attend() {
    const int64_t heads = spec_.num_heads, v = in_place() ? 0 : output_stage_.dim, q = v + output_stage_.dim,
                  k = q + heads * spec_.attn_dim;
    attention_.v = slice(vqk_, v, heads, spec_.hidden_dim);
    attention_.q = slice(vqk_, q, heads, spec_.attn_dim);
    attention_.k = slice(vqk_, k, heads, spec_.attn_dim);
    attention_.out = slice(attn_, 0, heads, spec_.hidden_dim);
    add(attention_call(attention_, spec_.attention, batch_), "attention");
  }

  void gate(const std::string& prefix) {
    const int64_t dim = output_stage_.dim;
    NormMulSpec stage = output_stage_;
    if (in_place()) stage.concat_u = stage.concat_x = false;
    add(norm_mul_call({attn_, u_, scale(prefix + "output_norm_weight", dim), shift(prefix + "output_norm_bias", dim),
                       in_place() ? slice(gated_, 2 * dim, 0, dim) : gated_, gated_descale_},
                      stage),
        "norm * u");
  }

  void close(const std::string& prefix, const Placed& out) {
    const std::string name = prefix + "output_weight";
    if (quantised()) {
      const Quantised w = quantised_weight(name, gated_columns(), spec_.embedding_dim);
      add(fp8_gemm_call({gated_, w.q, gated_descale_, w.descale, x_, out}, HSTU_ACTIVATION_NONE, 0, spec_.accumulation),
          "output projection");
      return;
    }
    const Placed w = build_.weight(name, dtype_, gated_columns(), spec_.embedding_dim, spec_.weights_transposed);
    add(addmm_call({gated_, w, x_, out, {}}, HSTU_ACTIVATION_NONE, 0), "output projection");
  }

  void close_at_once(const std::string& prefix, const Placed& out) {
    const int64_t dim = output_stage_.dim;
    const Placed weight = scale(prefix + "output_norm_weight", dim), bias = shift(prefix + "output_norm_bias", dim);
    if (quantised()) {
      const Quantised w = quantised_weight(prefix + "output_weight", gated_columns(), spec_.embedding_dim);
      add(gated_fp8_gemm_call({attn_, u_, attention_.moments, weight, bias, w.q, w.descale, x_, out},
                              output_stage_.eps),
          "output stage");
      return;
    }
    const Placed w = build_.weight(prefix + "output_weight", dtype_, gated_columns(), spec_.embedding_dim);
    add(gated_addmm_call({attn_, u_, attention_.moments, weight, bias, w, x_, out}, output_stage_.eps), "output stage");
  }

  const StackSpec& spec_;
  const OneProducts which_;
  hstu_dtype dtype_;
  Batch batch_;
  Calls& calls_;
  CallBuilder build_;
  NormMulSpec output_stage_;
  AttentionTensors attention_;
  Placed x_, normed_, u_, vqk_ /* behind u, if that is not in place */, attn_, gated_;
  Placed normed_descale_, gated_descale_;  // in FP8
  std::array<Placed, 2> outputs_;
};

}  // namespace

const char* layer_input(int64_t index) { return index == 0 ? "x" : index % 2 == 1 ? "even" : "odd"; }

OneProducts has_one_products(const Workload& workload) {
  const bool quantised = workload.stack->projections != HSTU_DTYPE_NONE;
  OneProducts can;
  can.uvqk = !quantised && layer::one_product_has(workload.dtype);
  hstu_output_options options{};
  options.concat_u = options.concat_x = workload.stack->concat_ux;
  const int64_t dim = workload.stack->num_heads * workload.stack->hidden_dim;
  can.output = layer::one_product_has(options, workload.dtype) &&
               (quantised ? workload.stack->accumulation == HSTU_FP8_ACCUMULATE_FAST
                          : output_written_in_place(true, true, false, dim));
  return can;
}

Calls expand_stack(const Workload& workload, OneProducts which) {
  Calls calls;
  calls.name = fmt::format("{} stack{}{}", workload.name, which.uvqk ? ", norms and projections of one call" : "",
                           which.output ? ", output stages of one call" : "");
  calls.one_products = which;
  StackBuilder build(workload, which, calls);
  for (int64_t i = 0; i < workload.stack->layers; ++i) build.layer(i);
  return calls;
}

bool made_on(const DeviceFacts& device, const Calls& calls) {
  if (!calls.one_products.any()) return !calls.calls[0].figure || is_covered(problem_of(calls.calls[0], calls), device);
  const auto attention = std::ranges::find(calls.calls, Op::hstu_attention, &Call::op);
  const auto problem = [&](const auto& call) { return problem_of(*call, calls); };
  return (!calls.one_products.uvqk || layer::takes_one_product(device, problem(attention - 1))) &&
         (!calls.one_products.output || layer::takes_one_product(device, problem(attention), problem(attention + 1)));
}

Calls stack_on(const DeviceFacts& device, const Workload& workload) {
  OneProducts which = has_one_products(workload);
  which.uvqk = which.uvqk && made_on(device, expand_stack(workload, {.uvqk = true}));
  which.output = which.output && made_on(device, expand_stack(workload, {.output = true}));
  return expand_stack(workload, which);
}

}  // namespace hstujit
