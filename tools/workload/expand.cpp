// Workload -> calls: which tensors an entry's operator takes, and which buffers they lie in.
#include "support/error.hpp"
#include "workload/call_builder.hpp"
#include "workload/calls.hpp"

namespace hstujit {
namespace {

int64_t rows_of(int64_t own, const Workload& workload) { return own > 0 ? own : batch_of(*workload.sequences).total; }

Call call_of(const LayerNormSpec& spec, const OperatorSpec& entry, const Workload& workload, CallBuilder& build) {
  const int64_t rows = rows_of(spec.rows, workload);
  LayerNormTensors t;
  t.x = build.input("x", entry.dtype, {rows, spec.dim});
  if (spec.weighted) {
    t.weight = build.input("weight", entry.dtype, {spec.dim}, 1, 0.1f);
    t.bias = build.input("bias", entry.dtype, {spec.dim}, 0, 0.1f);
  }
  t.out = build.output("out", entry.dtype, {rows, spec.dim});
  return layer_norm_call(t, spec.eps);
}

Call call_of(const AddmmSpec& spec, const OperatorSpec& entry, const Workload& workload, CallBuilder& build) {
  const int64_t m = rows_of(spec.m, workload);
  AddmmTensors t;
  t.x = build.input("x", entry.dtype, {m, spec.k});
  t.w = build.weight("w", entry.dtype, spec.k, spec.n, spec.weight_transposed);
  const bool both = spec.bias == AddmmSpec::Bias::both;
  if (both || spec.bias == AddmmSpec::Bias::row) t.bias = build.input("bias", entry.dtype, {spec.n}, 0, 0.1f);
  if (both || spec.bias == AddmmSpec::Bias::residual) t.residual = build.input("residual", entry.dtype, {m, spec.n});
  t.out = build.output("out", entry.dtype, {m, spec.n});
  return addmm_call(t, spec.activation, spec.activation_columns);
}

Call call_of(const AttentionSpec& spec, const OperatorSpec& entry, const Workload& workload, CallBuilder& build) {
  const Sequences& sequences = spec.sequences ? *spec.sequences : *workload.sequences;
  const Batch batch = batch_of(sequences);
  AttentionTensors t;
  t.q = build.input("q", entry.dtype, {batch.total, spec.num_heads, spec.attn_dim});
  t.k = build.input("k", entry.dtype, {batch.total, spec.num_heads, spec.attn_dim});
  t.v = build.input("v", entry.dtype, {batch.total, spec.num_heads, spec.hidden_dim});
  t.out = build.output("out", entry.dtype, {batch.total, spec.num_heads, spec.hidden_dim});
  build.integers(batch, sequences.integer_dtype, t);
  return attention_call(t, spec.options, batch);
}

Call call_of(const NormMulSpec& spec, const OperatorSpec& entry, const Workload& workload, CallBuilder& build) {
  const int64_t rows = rows_of(spec.rows, workload);
  const int64_t weights = spec.num_groups > 0 ? spec.num_groups : spec.dim;
  NormMulTensors t;
  t.attn = build.input("attn", entry.dtype, {rows, spec.dim});
  t.u = build.input("u", entry.dtype, {rows, spec.dim});
  t.weight = build.input("weight", entry.dtype, {weights}, 1, 0.1f);
  t.bias = build.input("bias", entry.dtype, {weights}, 0, 0.1f);
  t.out = build.output("out", entry.dtype, {rows, spec.dim * segments(spec)});
  return norm_mul_call(t, spec);
}

std::string shape_text(const hstu_tensor& t) {
  std::string text;
  for (int d = 0; d < t.rank; ++d) text += fmt::format("{}{}", d > 0 ? " x " : "", t.shape[d]);
  return text;
}

/// "layer_norm 65536 x 512", "attention 32 sequences, 98304 rows, 4 x 128"
std::string default_name(const Call& call) {
  const auto x = [&](const hstu_tensor& t) { return fmt::format("{} x {}", t.shape[0], t.shape[1]); };
  std::string sizes;
  if (const auto* norm = std::get_if<hstu_layer_norm_args>(&call.args)) sizes = x(norm->x);
  if (const auto* product = std::get_if<hstu_addmm_args>(&call.args))
    sizes = fmt::format("{} -> {}", x(product->x), product->out.shape[1]);
  if (const auto* attention = std::get_if<hstu_attention_args>(&call.args))
    sizes = fmt::format("{} sequences, {} rows, {} x {}", attention->seq_offsets.shape[0] - 1, attention->q.shape[0],
                        attention->q.shape[1], attention->q.shape[2]);
  if (const auto* output = std::get_if<hstu_norm_mul_args>(&call.args)) sizes = x(output->attn);
  if (sizes.empty()) sizes = shape_text(tensor_at(address(call.args), operator_of(call.op).tensors[0]));
  return fmt::format("{} {}", name_of(call.op), sizes);
}

Call call_of(const CallSpec& spec, const OperatorSpec&, const Workload&, CallBuilder& build) {
  return spelled_call(spec, build);
}

Calls expand_operator(const OperatorSpec& entry, const Workload& workload) {
  Calls calls;
  CallBuilder build(calls.buffers);
  Call call = std::visit([&](const auto& spec) { return call_of(spec, entry, workload, build); }, entry.spec);
  call.name = entry.name.empty() ? default_name(call) : entry.name;
  call.count = entry.count;
  call.figure = entry.figure;
  call.family_figures = entry.family_figures;
  const std::span<const TensorSlot> slots = operator_of(call.op).tensors;
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].role == TensorRole::output && call.places[i].buffer >= 0) calls.result = call.places[i].buffer;
  calls.name = call.name;
  calls.calls.push_back(std::move(call));
  return calls;
}

/// The workload's stack as it is made anywhere; what its steps' checks say has the entry's place in front.
Calls plain_stack(const Workload& workload) {
  try {
    return expand_stack(workload);
  } catch (const Error& error) { fail(error.status(), "/stack: {}", error.message()); }
}

/// Lets the operators' own checks speak now, with the entry's place in front.
void check(const Calls& calls, std::string_view pointer) {
  for (const Call& call : calls.calls) {
    try {
      problem_of(call, calls);
    } catch (const Error& error) { fail(error.status(), "{} ({}): {}", pointer, call.name, error.message()); }
  }
}

}  // namespace

std::vector<Calls> expand(const Workload& workload) {
  std::vector<Calls> all;
  if (workload.stack) {
    all.push_back(plain_stack(workload));
    const chain::FusedStages can = can_be_fused(workload);
    if (can.output) all.push_back(expand_stack(workload, {.output = true}));
    if (can.uvqk) all.push_back(expand_stack(workload, {.uvqk = true}));
  }
  for (size_t i = 0; i < workload.operators.size(); ++i) {
    all.push_back(expand_operator(workload.operators[i], workload));
    check(all.back(), fmt::format("/operators/{}", i));
  }
  return all;
}

}  // namespace hstujit
