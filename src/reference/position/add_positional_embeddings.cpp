// Position embeddings: history counts forwards, targets share the number behind it.
#include "reference/integers.hpp"
#include "reference/jagged/added_rows.hpp"

#include <algorithm>

namespace hstujit::reference {

void run(const hstu_add_positional_embeddings_args& args, double* const* exact) {
  check_counts("num_targets", args.num_targets);
  const auto position = [&](const SequenceRow& at) {
    const int64_t history = history_of(at, args.num_targets, args.interleave_targets);
    return std::min(at.local(), limited(history, args.position_embeddings));
  };
  add_rows(args.x, args.out, args.seq_offsets, args.alpha, {{args.position_embeddings, position}}, exact);
}

}  // namespace hstujit::reference
