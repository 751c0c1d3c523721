// A dense row added to all rows of its sequence.
#include "reference/jagged/added_rows.hpp"

namespace hstujit::reference {

void run(const hstu_jagged_dense_broadcast_add_args& args, double* const* exact) {
  add_rows(args.jagged, args.out, args.seq_offsets, 1,
           {{args.dense, [](const SequenceRow& at) { return at.sequence; }}}, exact);
}

}  // namespace hstujit::reference
