#include "operators/operators.hpp"

namespace hstujit {
namespace {

template <class Args>
Operator entry(Op op, std::string_view name) {
  Operator entry{};
  static_cast<OperatorFacts&>(entry) = facts_of(static_cast<const Args*>(nullptr));
  entry.op = op;
  entry.name = name;
  entry.args_size = sizeof(Args);
  entry.prepare = [](void* args) { return prepare(*static_cast<Args*>(args)); };
  entry.reference = [](const void* args, double* const* exact) {
    reference::run(*static_cast<const Args*>(args), exact);
  };
  entry.cost = [](const void* args) { return cost_of(*static_cast<const Args*>(args)); };
  entry.edge_case = [](void* args, Integers& integers) { make_edge_case(*static_cast<Args*>(args), integers); };
  return entry;
}

}  // namespace

std::span<const Operator> operators() {
#define HSTUJIT_ENTRY(op, args_type, function) entry<args_type>(Op::op, #op),
  static const Operator all[kOpCount] = {HSTUJIT_OPERATOR_MAP(HSTUJIT_ENTRY)};
#undef HSTUJIT_ENTRY
  return all;
}

const Operator& operator_of(Op op) { return operators()[static_cast<size_t>(op)]; }

int64_t extent_bytes(const hstu_tensor& t) {
  int64_t last = 0;
  for (int d = 0; d < t.rank; ++d) {
    if (t.shape[d] == 0) return 0;
    last += (t.shape[d] - 1) * t.stride[d];
  }
  return present(t) ? (last + 1) * size_of(t.dtype) : 0;
}

double bytes_of_all(std::initializer_list<const hstu_tensor*> tensors) {
  double bytes = 0;
  for (const hstu_tensor* t : tensors) bytes += static_cast<double>(extent_bytes(*t));
  return bytes;
}

}  // namespace hstujit
