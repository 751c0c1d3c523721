// A jagged tensor as padded matrices: facts, checks, key, cost and reference.
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_rows.hpp"
#include "operators/jagged/padded.hpp"

namespace hstujit {
namespace {

using Args = hstu_jagged_to_padded_dense_args;

constexpr TensorSlot kTensors[] = {{"values", offsetof(Args, values), TensorRole::input, of_rank(2, kCopied)},
                                   {"offsets", offsetof(Args, offsets), TensorRole::integer, of_rank(1, kIntegers)},
                                   {"out", offsetof(Args, out), TensorRole::output, of_rank(3, kCopied)}};
constexpr ScalarSlot kScalars[] = {{"padding", offsetof(Args, padding), ScalarSlot::Kind::f64}};
enum : size_t { kOffsets = 1 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {padded::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor jagged = checks::required<2>("values", args.values);
  const checks::Tensor dense = checks::required<3>("out", args.out);
  return padded::check(Op::jagged_to_padded_dense, jagged, dense, args.offsets, true);
}

Cost cost_of(const Args& args) { return padded::cost_of(args.values, args.out, args.offsets, true); }

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kOffsets], no_targets);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("offsets", args.offsets, args.values.shape[0]);
  const int64_t max_len = args.out.shape[1], dim = args.values.shape[1];
  int64_t bits = 0;  // the padding as an element
  const hstu_tensor padding = hstu_vector(&bits, args.values.dtype, 1);
  store(padding, 0, 1, &args.padding);
  const RowCopies out(args.out, exact);
  for (int64_t b = 0; b < args.out.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], rows = offsets[static_cast<size_t>(b) + 1] - begin;
    for (int64_t t = 0; t < max_len; ++t) {
      const int64_t row = b * max_len + t;
      if (t < rows)
        out.copy(row, args.values, (begin + t) * args.values.stride[0], dim);
      else
        for (int64_t d = 0; d < dim; ++d) out.copy_at(row, d, padding, 0, 1);
    }
  }
}

}  // namespace reference

}  // namespace hstujit
