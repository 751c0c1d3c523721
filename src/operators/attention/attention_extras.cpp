#include "operators/attention/attention_extras.hpp"

#include "operators/attention/attention_fields.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

namespace hstujit::attention_extras {
namespace {

void check_lse(hstu_attention_args& args, const checks::Tensor& out) {
  const checks::Tensor lse = checks::required<2>("lse", args.lse);
  checks::is_f32(lse);
  checks::extent(lse, 0, args.num_softmax_heads, "num_softmax_heads");
  checks::extent(lse, 1, out.t.shape[0], "total = q.shape[0]");
  checks::no_self_overlap(lse);
  checks::disjoint(lse, out);
  for (const auto& [name, in] : {std::pair{"q", &args.q}, {"k", &args.k}, {"v", &args.v}})
    checks::disjoint(lse, checks::required<3>(name, *in));
}

void check_moments(hstu_attention_args& args, const checks::Tensor& out) {
  const checks::Tensor moments = checks::part_moments(args.moments, out.t.shape[0], "total = q.shape[0]");
  checks::extent(moments, 1, out.t.shape[1], "num_heads = q.shape[1]");
  checks::disjoint(moments, out);
  for (const auto& [name, in] : {std::pair{"q", &args.q}, {"k", &args.k}, {"v", &args.v}})
    checks::disjoint(moments, checks::required<3>(name, *in));
  if (present(args.lse)) checks::disjoint(moments, checks::required<2>("lse", args.lse));
}

}  // namespace

int32_t bias(hstu_tensor& t, int64_t batch, const checks::Tensor& q, const checks::Tensor& out) {
  if (!checks::given("rab", t)) return kNoBias;
  const checks::Tensor rab = checks::required<4>("rab", t);
  checks::same_dtype(rab, q);
  checks::extent(rab, 0, batch, "batch, the number of sequences");
  if (rab.t.shape[1] != 1) checks::extent(rab, 1, q.t.shape[1], "1 or num_heads = q.shape[1]");
  checks::extent(rab, 3, rab.t.shape[2], "the positions rab.shape[2]");
  checks::field(rab, 2);  // kernels count positions in 32 bits
  checks::disjoint(out, rab);
  checks::Vector vector(rab.t.dtype);
  vector.tensor(rab.t);
  for (int d = 0; d < 3; ++d) vector.lines(rab.t.shape[d], rab.t.stride[d], rab.t.shape[3]);
  const bool chunks = rab.t.shape[3] > 0 && vector.elements() * checks::element_bytes(rab.t.dtype) == 16;
  return chunks ? kBiasInChunks : kBias;
}

void check(hstu_attention_args& args, const checks::Tensor& q, const checks::Tensor& out, Problem& problem) {
  const int64_t heads = q.t.shape[1], softmax = args.num_softmax_heads;
  if (softmax < 0 || softmax > heads)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "num_softmax_heads = {}: it must lie in 0 to num_heads = {}", softmax, heads);
  checks::flag("sort_by_length", args.sort_by_length);
  if (checks::given("lse", args.lse)) {
    if (softmax == 0)
      fail(HSTU_ERROR_INVALID_ARGUMENT,
           "lse is there: without softmax heads there is none; leave it out or set "
           "num_softmax_heads");
    check_lse(args, out);
  }
  const int32_t biased = bias(args.rab, args.seq_offsets.shape[0] - 1, q, out);
  if (biased != kNoBias && present(args.lse))
    checks::disjoint(checks::required<2>("lse", args.lse), checks::required<4>("rab", args.rab));
  if (checks::given("moments", args.moments)) check_moments(args, out);
  problem[attention::kSoftmaxHeads] = softmax == 0 ? kNoSoftmax : softmax == heads ? kAllSoftmax : kSomeSoftmax;
  problem[attention::kLse] = present(args.lse);
  problem[attention::kRab] = biased;
  problem[attention::kMoments] = present(args.moments);
}

}  // namespace hstujit::attention_extras
