// Pairs sorted by their keys.
#include "reference/jagged/jagged_rows.hpp"

#include <algorithm>
#include <numeric>

namespace hstujit::reference {
namespace {

/// What is compared, as a number that grows with the order.
int64_t compared(const hstu_sort_kv_pairs_args& args, int64_t i) {
  const int64_t key = integer_at(args.keys, i);
  if (args.end_bit == 0) return key;
  if (args.end_bit < 64) return static_cast<int64_t>(static_cast<uint64_t>(key) & ((uint64_t{1} << args.end_bit) - 1));
  return static_cast<int64_t>(static_cast<uint64_t>(key) ^ (uint64_t{1} << 63));  // all bits, unsigned
}

}  // namespace

void run(const hstu_sort_kv_pairs_args& args, double* const* exact) {
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

}  // namespace hstujit::reference
