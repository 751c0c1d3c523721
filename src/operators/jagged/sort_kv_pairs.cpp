// Pairs sorted by their keys: facts, checks, key, cost and reference.
#include "operators/jagged/sort_kv_pairs.hpp"

#include "operators/edge_case.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/jagged/jagged_rows.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <numeric>

namespace hstujit {
namespace {

using Args = hstu_sort_kv_pairs_args;

constexpr TensorSlot kTensors[] = {{"keys", offsetof(Args, keys), TensorRole::input, of_rank(1, kIntegers)},
                                   {"values", offsetof(Args, values), TensorRole::input, of_rank(1, kCopied)},
                                   {"out_keys", offsetof(Args, out_keys), TensorRole::output, of_rank(1, kIntegers)},
                                   {"out_values", offsetof(Args, out_values), TensorRole::output, of_rank(1, kCopied)}};
constexpr ScalarSlot kScalars[] = {{"end_bit", offsetof(Args, end_bit), ScalarSlot::Kind::i32},
                                   {"descending", offsetof(Args, descending), ScalarSlot::Kind::i32}};

}  // namespace

OperatorFacts facts_of(const Args*) { return {sort::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor keys = checks::required<1>("keys", args.keys),
                       values = checks::required<1>("values", args.values);
  const checks::Tensor out_keys = checks::required<1>("out_keys", args.out_keys);
  const checks::Tensor out_values = checks::required<1>("out_values", args.out_values);
  checks::integer(keys);
  checks::same_dtype(out_keys, keys);
  checks::same_dtype(out_values, values);
  for (const checks::Tensor* t : {&values, &out_keys, &out_values})
    checks::extent(*t, 0, args.keys.shape[0], "n = keys.shape[0]");
  checks::flag("descending", args.descending);
  const int bits = args.keys.dtype == HSTU_DTYPE_I32 ? 32 : 64;
  if (args.end_bit < 0 || args.end_bit > bits)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "end_bit = {}: it must lie in 0 to {}, the bits of a key; 0 means all",
         args.end_bit, bits);
  jagged_lengths::separate({&out_keys, &out_values}, {&keys, &values});
  Problem problem{Op::sort_kv_pairs, {}};
  problem[sort::kKeyDtype] = args.keys.dtype;
  problem[sort::kValueBytes] = static_cast<int32_t>(checks::element_bytes(args.values.dtype));
  if (args.keys.shape[0] > int64_t{1} << 30) checks::refuse_size(keys, 0);  // kernels count elements in 32 bits
  problem[sort::kCount] = bucket(args.keys.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const auto n = static_cast<double>(args.keys.shape[0]);
  return {.flops = n * n, .bytes = 2 * n * (size_of(args.keys.dtype) + size_of(args.values.dtype))};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.keys.shape[0]),
                          {&args.keys, &args.values, &args.out_keys, &args.out_values});
}

namespace reference {
namespace {

/// What is compared, as a number that grows with the order.
int64_t compared(const Args& args, int64_t i) {
  const int64_t key = integer_at(args.keys, i);
  if (args.end_bit == 0) return key;
  if (args.end_bit < 64) return static_cast<int64_t>(static_cast<uint64_t>(key) & ((uint64_t{1} << args.end_bit) - 1));
  return static_cast<int64_t>(static_cast<uint64_t>(key) ^ (uint64_t{1} << 63));  // all bits, unsigned
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const int64_t count = args.keys.shape[0];
  std::vector<int64_t> order(static_cast<size_t>(count)), keys;
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = 0; i < count; ++i) keys.push_back(compared(args, i));
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const int64_t x = keys[static_cast<size_t>(a)], y = keys[static_cast<size_t>(b)];
    return args.descending ? x > y : x < y;
  });
  const RowCopies out_keys(args.out_keys, exact), out_values(args.out_values, exact, 1);
  for (int64_t i = 0; i < count; ++i) {
    out_keys.copy(i, args.keys, order[static_cast<size_t>(i)], 1);
    out_values.copy(i, args.values, order[static_cast<size_t>(i)], 1);
  }
}

}  // namespace reference

}  // namespace hstujit
