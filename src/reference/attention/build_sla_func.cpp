// The intervals of semi-local attention.
#include "problem/targets.hpp"
#include "reference/integers.hpp"
#include "reference/rows.hpp"

#include <algorithm>

namespace hstujit::reference {

void run(const hstu_build_sla_func_args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("seq_offsets", args.seq_offsets, args.intervals.shape[2]);
  check_counts("num_targets", args.num_targets);
  const int64_t first_keys = std::max(args.first_keys, args.contextual_seq_len);
  const Output out(args.intervals, exact);
  for (int64_t b = 0; b + 1 < args.seq_offsets.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], rows = offsets[static_cast<size_t>(b) + 1] - begin;
    const int64_t history = rows - targets_of(args.num_targets, b, rows);
    for (int64_t p = 0; p < rows; ++p) {
      const bool target = p >= history;
      const int64_t bounds[] = {target ? history : std::min(p + 1, first_keys),
                                target ? history : std::max(p - args.last_keys + 1, first_keys),
                                target ? history : p + 1};
      for (int64_t head = 0; head < args.intervals.shape[0]; ++head)
        for (int64_t m = 0; m < 3; ++m) {
          const auto bound = static_cast<double>(bounds[m]);
          out.write(head, begin + p, 1, &bound, m);
        }
    }
  }
}

}  // namespace hstujit::reference
