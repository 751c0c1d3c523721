// Attention of new rows against keys and values in pages: facts, checks, key, cost and reference.
#include "operators/attention/cache_pages.hpp"
#include "operators/attention/mask.hpp"
#include "operators/attention/new_rows.hpp"
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_paged_attention_args;
using namespace delta_attention;

constexpr TensorSlot kTensors[] = {
    {"q", offsetof(Args, q), TensorRole::input, of_rank(3, kFloating)},
    {"k", offsetof(Args, k), TensorRole::input, of_rank(3, kFloating).or_absent()},
    {"v", offsetof(Args, v), TensorRole::input, of_rank(3, kFloating).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(3, kFloating)},
    {"k_cache", offsetof(Args, k_cache), TensorRole::input, of_rank(4, kFloating)},
    {"v_cache", offsetof(Args, v_cache), TensorRole::input, of_rank(4, kFloating)},
    {"page_offsets", offsetof(Args, page_offsets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"page_ids", offsetof(Args, page_ids), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"last_page_lens", offsetof(Args, last_page_lens), TensorRole::integer, of_rank(1, kIntegers)},
    {"q_offsets", offsetof(Args, q_offsets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"num_targets", offsetof(Args, mask.num_targets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"attn_scale", offsetof(Args, attn_scale), TensorRole::input, of_rank(1, kF32).or_absent()},
    {"intervals", offsetof(Args, mask.intervals), TensorRole::integer, of_rank(3, kI32).or_absent()},
    {"num_contexts", offsetof(Args, mask.num_contexts), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"rab", offsetof(Args, rab), TensorRole::input, of_rank(4, kFloating).or_absent()}};

enum : size_t { kPageOffsets = 6, kLastPageLens = 8, kQOffsets = 9, kNumTargets = 10 };  // slots of kTensors

/// The rows that are not in the cache: k and v are there when there are targets. Returns what they add to the vector
/// facts.
void check_new_rows(Args& args, const cache_pages::Checked& cache, const checks::Tensor& q, const checks::Tensor& out,
                    checks::Vector& vector) {
  const bool k_given = checks::given("k", args.k), v_given = checks::given("v", args.v);
  const bool wanted = present(args.mask.num_targets);
  for (const auto& [name, given] : {std::pair{"k", k_given}, {"v", v_given}}) {
    if (given && !wanted)
      fail(HSTU_ERROR_INVALID_ARGUMENT,
           "{} is there, but num_targets is absent: only targets are read from it; leave it out", name);
    if (!given && wanted)
      fail(HSTU_ERROR_INVALID_ARGUMENT,
           "{} is absent, but num_targets is there: targets are read from it; give {} or leave num_targets out", name,
           name);
  }
  if (!wanted) return;
  const checks::Tensor k = checks::required<3>("k", args.k), v = checks::required<3>("v", args.v);
  check_keys(k, v, q, out);
  checks::extent(k, 0, q.t.shape[0], "total_q = q.shape[0]");
  checks::extent(k, 1, cache.k.t.shape[2], "num_kv_heads = k_cache.shape[2]");
  vector.tensor(k.t).tensor(v.t);
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {kFields, kTensors, kScalars<Args>}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor q = checks::required<3>("q", args.q), out = checks::required<3>("out", args.out);
  const cache_pages::Checked cache = cache_pages::check(cache_pages::tensors(args));
  check_queries(q, out, cache.v);
  check_keys(cache.k, cache.v, q, out);
  cache_pages::check_apart(cache_pages::tensors(args), out);
  check_q_offsets(args.q_offsets, args.max_q_len, cache.batch, q, out);
  attention_checks::targets(args.mask.num_targets, cache.batch, out);
  const int32_t contextual =
      attention_checks::contexts(args.mask.num_contexts, args.mask.contextual_seq_len, cache.batch, out);
  checks::Vector vector(q.t.dtype);
  vector.tensor(q.t).tensor(out.t).tensor(cache.k.t).tensor(cache.v.t);
  check_new_rows(args, cache, q, out, vector);
  attention_checks::no_softmax_heads(args.num_softmax_heads);
  const int32_t scale = attention_checks::scale(args.attn_scale, out);
  attention_checks::lengths(args.max_seq_len, args.scaling_seqlen);
  const int32_t intervals = attention_checks::mask(args.mask, q, out);
  args.alpha = attention_checks::alpha(args.alpha, q.t.shape[2]);

  Problem problem = key_of(Op::paged_attention, args, cache.k.t, scale, intervals, contextual, cache.batch);
  problem[kPageDtype] = args.last_page_lens.dtype;
  problem[kPageSize] = static_cast<int32_t>(cache.page_size);
  problem[kRab] = attention_checks::bias(args.rab, cache.batch, q, out);
  problem[kVector] = vector.elements();
  problem[kPageGaps] = cache_pages::page_rows(args.k_cache, args.v_cache) == 0;
  return problem;
}

Cost cost_of(const Args& args) {
  const int64_t batch = args.last_page_lens.shape[0], total_q = args.q.shape[0];
  double pairs = 0, keys = 0, biases = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const QueryRows rows = query_rows(args.q_offsets, total_q, batch, b);
    const int64_t queries = rows.last - rows.first;
    const int64_t n = cache_pages::history(args.k_cache, args.page_offsets, args.last_page_lens, b) +
                      targets_of(args.mask.num_targets, b, queries);
    pairs += reference::pair_count_of_heads(args.mask, args.q.shape[1], b, rows.last - n, n - queries, n);
    keys += static_cast<double>(n * args.k_cache.shape[2]);
    biases += bias_count(args.rab, n, queries);
  }
  return cost_of_heads(args.q, args.out, pairs, keys, biases,
                       {&args.page_offsets, &args.page_ids, &args.last_page_lens, &args.q_offsets,
                        &args.mask.num_targets, &args.attn_scale, &args.mask.intervals, &args.mask.num_contexts});
}

void make_edge_case(Args&, Integers& integers) {
  cache_pages::make_ragged(integers[kPageOffsets], integers[kLastPageLens]);
  edge_case::make_ragged(integers[kQOffsets], integers[kNumTargets]);
}

namespace reference {
namespace {

void check_contents(const Args& args) {
  cache_pages::check_contents(args.k_cache, args.page_offsets, args.page_ids, args.last_page_lens);
  if (present(args.q_offsets)) check_offsets("q_offsets", args.q_offsets, args.q.shape[0], "q.shape[0]");
  check_counts("num_targets", args.mask.num_targets);
  check_counts("num_contexts", args.mask.num_contexts);
  const int64_t batch = args.last_page_lens.shape[0];
  for (int64_t b = 0; present(args.mask.num_targets) && b < batch; ++b) {
    const auto rows = query_rows(args.q_offsets, args.q.shape[0], batch, b);
    if (const int64_t targets = integer_at(args.mask.num_targets, b); targets > rows.last - rows.first)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "num_targets[{}] = {}: it must be at most {}, the new rows of the sequence", b,
           targets, rows.last - rows.first);
  }
}

/// Reads from the cache, and behind it from the new rows.
std::function<void(int64_t, double*)> reader(const Args& args, const hstu_tensor& cache, const hstu_tensor& rows,
                                             int64_t b, int64_t kv_head, int64_t cached, int64_t row_of_zero) {
  return [=, &args, &cache, &rows](int64_t position, double* out) {
    if (position >= cached)
      return load(rows, (row_of_zero + position) * rows.stride[0] + kv_head * rows.stride[1], rows.shape[2], out);
    const auto at = cache_pages::slot(args.k_cache, args.page_offsets, args.page_ids, b, position);
    load(cache, at.page * cache.stride[0] + at.slot * cache.stride[1] + kv_head * cache.stride[2], cache.shape[3], out);
  };
}

CachedHead head_of(const Args& args, int64_t b, int64_t head) {
  const auto rows = query_rows(args.q_offsets, args.q.shape[0], args.last_page_lens.shape[0], b);
  const int64_t cached = cache_pages::history(args.k_cache, args.page_offsets, args.last_page_lens, b);
  const int64_t keys = cached + (present(args.mask.num_targets) ? integer_at(args.mask.num_targets, b) : 0);
  const int64_t kv_head = head / (args.q.shape[1] / args.k_cache.shape[2]), row_of_zero = rows.last - keys;
  return {.mask = sequence_mask(args.mask, b, row_of_zero, head),
          .sequence = b,
          .head = head,
          .keys = keys,
          .queries = rows.last - rows.first,
          .first_q = rows.first,
          .key = reader(args, args.k_cache, args.k, b, kv_head, cached, row_of_zero),
          .value = reader(args, args.v_cache, args.v, b, kv_head, cached, row_of_zero)};
}

}  // namespace

void run(const Args& args, double* const* exact) {
  check_contents(args);
  attend_all(args, args.last_page_lens.shape[0], head_of, exact);
}

}  // namespace reference

}  // namespace hstujit
