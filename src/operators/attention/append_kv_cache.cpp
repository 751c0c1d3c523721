// Copying new keys and values into a cache: facts, checks, key, cost and reference.
#include "operators/attention/append_kv_cache.hpp"

#include "operators/attention/attention_checks.hpp"
#include "operators/attention/cache_pages.hpp"
#include "operators/attention/new_rows.hpp"
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/operators.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cstring>

namespace hstujit {
namespace {

using Args = hstu_append_kv_cache_args;

constexpr TensorSlot kTensors[] = {
    {"k", offsetof(Args, k), TensorRole::input, of_rank(3, kFloating | kFp8 | kBits)},
    {"v", offsetof(Args, v), TensorRole::input, of_rank(3, kFloating | kFp8 | kBits)},
    {"k_cache", offsetof(Args, k_cache), TensorRole::output, of_rank(4, kFloating | kFp8 | kBits)},
    {"v_cache", offsetof(Args, v_cache), TensorRole::output, of_rank(4, kFloating | kFp8 | kBits)},
    {"page_offsets", offsetof(Args, page_offsets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"page_ids", offsetof(Args, page_ids), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"last_page_lens", offsetof(Args, last_page_lens), TensorRole::integer, of_rank(1, kIntegers)},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"num_targets", offsetof(Args, num_targets), TensorRole::integer, of_rank(1, kIntegers).or_absent()}};

enum : size_t { kPageOffsets = 4, kLastPageLens = 6, kSeqOffsets = 7, kNumTargets = 8 };  // slots of kTensors

void check_rows(const checks::Tensor& k, const checks::Tensor& v, const cache_pages::Checked& cache) {
  if (k.t.dtype == HSTU_DTYPE_I32 || k.t.dtype == HSTU_DTYPE_I64)
    checks::refuse_dtype(k, "use a floating-point type, u8 or i16");
  for (const checks::Tensor* other : {&v, &cache.k, &cache.v}) checks::same_dtype(*other, k);
  checks::extent(v, 0, k.t.shape[0], "total = k.shape[0]");
  checks::extent(v, 1, k.t.shape[1], "num_kv_heads = k.shape[1]");
  checks::extent(cache.k, 2, k.t.shape[1], "num_kv_heads = k.shape[1]");
  checks::extent(cache.k, 3, k.t.shape[2], "head_dim_qk = k.shape[2]");
  checks::extent(cache.v, 3, v.t.shape[2], "head_dim_v = v.shape[2]");
  for (const checks::Tensor* out : {&cache.k, &cache.v}) {
    checks::no_self_overlap(*out);
    checks::disjoint(*out, k);
    checks::disjoint(*out, v);
  }
  checks::disjoint(cache.k, cache.v);
}

int64_t check_offsets(Args& args, const cache_pages::Checked& cache, const checks::Tensor& k) {
  if (checks::given("seq_offsets", args.seq_offsets)) {
    const checks::Tensor offsets = attention_checks::offsets("seq_offsets", args.seq_offsets, cache.k);
    checks::disjoint(cache.v, offsets);
    checks::extent(offsets, 0, cache.batch + 1, "batch + 1, batch = last_page_lens.shape[0]");
  } else if (cache.batch == 0 ? k.t.shape[0] != 0 : k.t.shape[0] % cache.batch != 0) {
    fail(HSTU_ERROR_SHAPE_MISMATCH,
         "k.shape[0] = {}: without seq_offsets it must be a multiple of batch = {}; give seq_offsets for unequal "
         "lengths",
         k.t.shape[0], cache.batch);
  }
  attention_checks::targets(args.num_targets, cache.batch, cache.k);
  if (present(args.num_targets))
    checks::disjoint(cache.v, {"num_targets", args.num_targets, extent_bytes(args.num_targets)});
  return cache.batch;
}

/// Bytes that one access moves in every tensor: 16, 8, 4, 2 or 1.
int32_t access_bytes(std::initializer_list<const hstu_tensor*> tensors) {
  uint64_t bits = 16;
  for (const hstu_tensor* t : tensors) {
    const auto size = static_cast<uint64_t>(size_of(t->dtype));
    bits |= reinterpret_cast<uintptr_t>(t->data);
    for (int d = 0; d + 1 < t->rank; ++d) bits |= static_cast<uint64_t>(t->stride[d]) * size;
    bits |= static_cast<uint64_t>(t->shape[t->rank - 1]) * size;
  }
  return static_cast<int32_t>(bits & (~bits + 1));
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {append_kv_cache::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor k = checks::required<3>("k", args.k), v = checks::required<3>("v", args.v);
  const cache_pages::Checked cache = cache_pages::check(cache_pages::tensors(args));
  check_rows(k, v, cache);
  for (const checks::Tensor* out : {&cache.k, &cache.v}) cache_pages::check_apart(cache_pages::tensors(args), *out);
  const int64_t batch = check_offsets(args, cache, k);

  Problem problem{Op::append_kv_cache, {}};
  problem[append_kv_cache::kElementBytes] = size_of(k.t.dtype);
  problem[append_kv_cache::kHeadDimQk] = checks::field(k, 2);
  problem[append_kv_cache::kHeadDimV] = checks::field(v, 2);
  problem[append_kv_cache::kNumHeads] = checks::field(k, 1);
  problem[append_kv_cache::kOffsetDtype] = args.seq_offsets.dtype;
  problem[append_kv_cache::kTargetDtype] = args.num_targets.dtype;
  problem[append_kv_cache::kPageDtype] = args.last_page_lens.dtype;
  problem[append_kv_cache::kPageSize] = static_cast<int32_t>(cache.page_size);
  problem[append_kv_cache::kVector] = access_bytes({&k.t, &v.t, &cache.k.t, &cache.v.t});
  problem[append_kv_cache::kBatch] = bucket(batch);
  problem[append_kv_cache::kTotal] = bucket(k.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const int64_t batch = args.last_page_lens.shape[0];
  double rows = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const auto own = delta_attention::query_rows(args.seq_offsets, args.k.shape[0], batch, b);
    const int64_t given = own.last - own.first, fresh = given - targets_of(args.num_targets, b, given);
    const int64_t history = cache_pages::history(args.k_cache, args.page_offsets, args.last_page_lens, b);
    rows += static_cast<double>(std::min(fresh, history));
  }
  const double row_bytes =
      static_cast<double>(args.k.shape[1] * (args.k.shape[2] + args.v.shape[2]) * size_of(args.k.dtype));
  const double integers =
      bytes_of_all({&args.page_offsets, &args.page_ids, &args.last_page_lens, &args.seq_offsets, &args.num_targets});
  return {.flops = 0, .bytes = 2 * rows * row_bytes + integers};
}

void make_edge_case(Args&, Integers& integers) {
  cache_pages::make_ragged(integers[kPageOffsets], integers[kLastPageLens]);
  edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]);
}

namespace reference {
namespace {

/// One head's row to its place: in the cache bit by bit, or as doubles where unrounded results go.
void copy_row(const hstu_tensor& from, int64_t from_offset, const hstu_tensor& cache, const cache_pages::Slot& at,
              int64_t head, double* const* exact, int output) {
  const int64_t dim = from.shape[2];
  if (exact) {
    if (!exact[output]) return;
    double* to = exact[output] + ((at.page * cache.shape[1] + at.slot) * cache.shape[2] + head) * dim;
    load(from, from_offset, dim, to);
    return;
  }
  const int64_t offset = at.page * cache.stride[0] + at.slot * cache.stride[1] + head * cache.stride[2];
  const auto size = static_cast<int64_t>(size_of(from.dtype));
  std::memcpy(static_cast<std::byte*>(cache.data) + offset * size,
              static_cast<const std::byte*>(from.data) + from_offset * size, static_cast<size_t>(dim * size));
}

}  // namespace

void run(const Args& args, double* const* exact) {
  cache_pages::check_contents(args.k_cache, args.page_offsets, args.page_ids, args.last_page_lens);
  if (present(args.seq_offsets)) check_offsets("seq_offsets", args.seq_offsets, args.k.shape[0], "k.shape[0]");
  check_counts("num_targets", args.num_targets);
  const int64_t batch = args.last_page_lens.shape[0];
  for (int64_t b = 0; b < batch; ++b) {
    const auto rows = delta_attention::query_rows(args.seq_offsets, args.k.shape[0], batch, b);
    const int64_t history = cache_pages::history(args.k_cache, args.page_offsets, args.last_page_lens, b);
    const int64_t given = rows.last - rows.first, fresh = given - targets_of(args.num_targets, b, given);
    for (int64_t r = std::max<int64_t>(fresh - history, 0); r < fresh; ++r) {
      const auto at = cache_pages::slot(args.k_cache, args.page_offsets, args.page_ids, b, history - fresh + r);
      for (int64_t head = 0; head < args.k.shape[1]; ++head) {
        const int64_t row = rows.first + r;
        copy_row(args.k, row * args.k.stride[0] + head * args.k.stride[1], args.k_cache, at, head, exact, 0);
        copy_row(args.v, row * args.v.stride[0] + head * args.v.stride[1], args.v_cache, at, head, exact, 1);
      }
    }
  }
}

}  // namespace reference

}  // namespace hstujit
