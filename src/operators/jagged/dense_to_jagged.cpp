// Rows of padded matrices as a jagged tensor: facts, checks, key, cost and reference.
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_rows.hpp"
#include "operators/jagged/padded.hpp"

namespace hstujit {
namespace {

using Args = hstu_dense_to_jagged_args;

constexpr TensorSlot kTensors[] = {{"dense", offsetof(Args, dense), TensorRole::input, of_rank(3, kCopied)},
                                   {"offsets", offsetof(Args, offsets), TensorRole::integer, of_rank(1, kIntegers)},
                                   {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kCopied)}};
enum : size_t { kOffsets = 1 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {padded::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor jagged = checks::required<2>("out", args.out);
  const checks::Tensor dense = checks::required<3>("dense", args.dense);
  return padded::check(Op::dense_to_jagged, jagged, dense, args.offsets, false);
}

Cost cost_of(const Args& args) { return padded::cost_of(args.out, args.dense, args.offsets, false); }

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kOffsets], no_targets);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("offsets", args.offsets, args.out.shape[0]);
  const int64_t max_len = args.dense.shape[1], dim = args.out.shape[1];
  const RowCopies out(args.out, exact);
  for (int64_t b = 0; b < args.dense.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], rows = offsets[static_cast<size_t>(b) + 1] - begin;
    for (int64_t t = 0; t < rows; ++t) {
      if (t < max_len)
        out.copy(begin + t, args.dense, b * args.dense.stride[0] + t * args.dense.stride[1], dim);
      else
        for (int64_t d = 0; d < dim; ++d) out.clear(begin + t, d);
    }
  }
}

}  // namespace reference

}  // namespace hstujit
