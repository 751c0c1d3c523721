// Position embeddings: history counts forwards, targets share the number behind it.
#include "reference/jagged/added_rows.hpp"

#include <algorithm>

namespace hstujit::reference {

void run(const hstu_add_positional_embeddings_args& args, double* const* exact) {
  const auto position = [&](const SequenceRow& at) {
    const int64_t targets = target_rows(args.num_targets, args.interleave_targets, at.sequence);
    return std::min(at.local(), limited(at.length() - targets, args.position_embeddings));
  };
  add_rows(args.x, args.out, args.seq_offsets, args.alpha, {{args.position_embeddings, position}}, exact);
}

}  // namespace hstujit::reference
