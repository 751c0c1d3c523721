#include "workload/call_builder.hpp"

#include "chain/output_rows.hpp"
#include "support/error.hpp"
#include "tuner/values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hstujit {
namespace {

/// places: of the operator's first tensors, in their order.
template <class Args>
Call call_with(Op op, const Args& args, std::vector<Place> places) {
  Call call;
  call.op = op;
  call.args = args;
  call.places = std::move(places);
  call.places.resize(operator_of(op).tensors.size());  // tensors that are absent
  return call;
}

}  // namespace

Batch batch_of(const Sequences& sequences) {
  Batch batch;
  batch.offsets.push_back(0);
  const std::vector<int64_t> history = draw(sequences.history, sequences.batch);
  if (sequences.targets) batch.targets = draw(*sequences.targets, sequences.batch);
  for (size_t b = 0; b < history.size(); ++b) {
    const int64_t length = history[b] + (batch.targets.empty() ? 0 : batch.targets[b]);
    batch.longest = std::max(batch.longest, length);
    batch.total += length;
    batch.offsets.push_back(batch.total);
  }
  return batch;
}

Call layer_norm_call(const LayerNormTensors& t, float eps) {
  auto args = sized<hstu_layer_norm_args>();
  args.x = t.x.tensor;
  args.weight = t.weight.tensor;
  args.bias = t.bias.tensor;
  args.out = t.out.tensor;
  args.eps = eps;
  return call_with(Op::layer_norm, args, {t.x.place, t.weight.place, t.bias.place, t.out.place});
}

Call addmm_call(const AddmmTensors& t, hstu_activation activation, int64_t activation_columns) {
  auto args = sized<hstu_addmm_args>();
  args.x = t.x.tensor;
  args.w = t.w.tensor;
  args.bias = t.bias.tensor;
  args.residual = t.residual.tensor;
  args.out = t.out.tensor;
  args.activation = activation;
  args.activation_columns = activation_columns;
  return call_with(Op::addmm, args, {t.x.place, t.w.place, t.bias.place, t.residual.place, t.out.place});
}

Call attention_call(const AttentionTensors& t, const AttentionOptions& options, const Batch& batch) {
  auto args = sized<hstu_attention_args>();
  args.q = t.q.tensor;
  args.k = t.k.tensor;
  args.v = t.v.tensor;
  args.out = t.out.tensor;
  args.seq_offsets = t.seq_offsets.tensor;
  args.mask.num_targets = t.num_targets.tensor;
  args.alpha = options.alpha;
  args.mask.kind = options.mask;
  args.max_seq_len = options.max_seq_len > 0 ? options.max_seq_len : std::max<int64_t>(batch.longest, 1);
  args.scaling_seqlen = options.scaling_seqlen;
  args.mask.contextual_seq_len = options.contextual_seq_len;
  args.mask.max_attn_len = options.max_attn_len;
  args.mask.min_full_attn_seq_len = options.min_full_attn_seq_len;
  return call_with(Op::attention, args,
                   {t.q.place, t.k.place, t.v.place, t.out.place, t.seq_offsets.place, t.num_targets.place});
}

Call norm_mul_call(const NormMulTensors& t, const NormMulSpec& spec) {
  auto args = sized<hstu_norm_mul_args>();
  args.attn = t.attn.tensor;
  args.u = t.u.tensor;
  args.weight = t.weight.tensor;
  args.bias = t.bias.tensor;
  args.out = t.out.tensor;
  args.eps = spec.eps;
  args.activation = spec.activation;
  args.concat_u = spec.concat_u;
  args.concat_x = spec.concat_x;
  args.silu_u = spec.silu_u;
  args.num_groups = static_cast<int32_t>(spec.num_groups);
  return call_with(Op::norm_mul, args, {t.attn.place, t.u.place, t.weight.place, t.bias.place, t.out.place});
}

Call quantize_fp8_call(const Placed& x, const Placed& q, const Placed& descale) {
  auto args = sized<hstu_quantize_fp8_args>();
  args.x = x.tensor;
  args.q = q.tensor;
  args.descale = descale.tensor;
  args.scaling = HSTU_FP8_ROW;
  return call_with(Op::quantize_fp8, args, {x.place, q.place, descale.place});
}

int64_t segments(const NormMulSpec& spec) { return output_segments(spec.concat_u, spec.concat_x, spec.num_groups > 0); }

int64_t elements_of(std::string_view name, std::span<const int64_t> shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 8;  // so that bytes can be counted, too
  int64_t elements = 1;
  for (const int64_t extent : shape)
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > kMost)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "\"{}\": so many elements overflow 64 bits", name);
  return elements;
}

Placed CallBuilder::add(Buffer buffer, Shape shape) {
  Placed placed;
  placed.place.buffer = static_cast<int>(buffers_.size());
  placed.tensor.dtype = buffer.dtype;
  for (const int64_t extent : shape) placed.tensor.shape[placed.tensor.rank++] = extent;
  buffer.elements = elements_of(buffer.name, shape);
  buffers_.push_back(std::move(buffer));
  return placed;
}

Placed CallBuilder::input(std::string name, hstu_dtype dtype, Shape shape, float mean, float deviation) {
  return add({std::move(name), dtype, 0, Buffer::Content::random, mean, deviation, {}}, shape);
}

Placed CallBuilder::output(std::string name, hstu_dtype dtype, Shape shape) {
  return add({std::move(name), dtype, 0, Buffer::Content::nothing, 0, 0, {}}, shape);
}

Placed CallBuilder::weight(std::string name, hstu_dtype dtype, int64_t k, int64_t n, bool transposed) {
  const float deviation = 1 / std::sqrt(static_cast<float>(k));
  Placed w = input(std::move(name), dtype, {k, n}, 0, deviation);
  if (transposed) {
    w.tensor.stride[0] = 1;
    w.tensor.stride[1] = k;
  }
  return w;
}

Placed CallBuilder::integers(std::string name, hstu_dtype dtype, std::vector<int64_t> values) {
  encode(values, dtype);  // says now, not at the first run, when they do not fit the type
  const int64_t count[] = {static_cast<int64_t>(values.size())};
  return add({std::move(name), dtype, 0, Buffer::Content::integers, 0, 0, std::move(values)}, count);
}

void CallBuilder::integers(const Batch& batch, hstu_dtype dtype, AttentionTensors& t) {
  t.seq_offsets = integers("seq_offsets", dtype, batch.offsets);
  if (!batch.targets.empty()) t.num_targets = integers("num_targets", dtype, batch.targets);
}

}  // namespace hstujit
