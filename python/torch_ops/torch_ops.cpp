// The library's operators as torch's, through LibTorch's stable ABI: one file for every torch from 2.10 on. A call
// takes no Python lock and runs no Python. Nothing of torch is linked: whoever loads this has it.
#include "call.hpp"
#include "shapes.hpp"

#include <torch/csrc/stable/library.h>

#include <limits>
#include <type_traits>

namespace hstujit_torch {
namespace {

/// An argument as the C struct has it. What does not fit is refused with its name.
template <class T, class Given>
T narrow(const Call& call, const char* name, Given value) {
  if constexpr (std::is_same_v<T, int32_t> && std::is_same_v<Given, int64_t>) {
    if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
      refuse(call.op(), HSTU_ERROR_INVALID_ARGUMENT, name, " = ", value, ": it must fit into 32 bits");
  }
  return static_cast<T>(value);
}

/// The same for a member whose type the compiler knows.
template <class Member, class Given>
void set(const Call& call, const char* name, Member& member, Given value) {
  if constexpr (std::is_enum_v<Member>)
    member = static_cast<Member>(narrow<int32_t>(call, name, value));
  else
    member = narrow<Member>(call, name, value);
}

/// Parameter sets of layers, from a list of tensors a parameter.
template <class Weights>
class LayerList {
 public:
  explicit LayerList(const Call& call) : call_(call) {}

  /// An empty list is a parameter that no layer has.
  void put(hstu_tensor Weights::*member, const std::vector<Argument>& list) {
    if (list.empty()) return;
    if (layers_.empty()) {
      layers_.resize(list.size());
      name_ = list[0].name();
    }
    if (list.size() != layers_.size())
      refuse(call_.op(), HSTU_ERROR_SHAPE_MISMATCH, list[0].name(), " has ", list.size(), " tensors, and ", name_,
             " has ", layers_.size(), ": one a layer");
    for (size_t i = 0; i < list.size(); ++i) layers_[i].*member = list[i].view;
  }
  const std::vector<Weights>& layers() const { return layers_; }

 private:
  const Call& call_;
  const char* name_ = "";
  std::vector<Weights> layers_;
};

void put_layers(hstu_stack_args& args, const LayerList<hstu_layer_weights>& layers,
                const LayerList<hstu_fp8_layer_weights>& fp8_layers) {
  args.layers = layers.layers().data();
  args.layer_size = sizeof(hstu_layer_weights);
  args.num_layers = static_cast<int64_t>(layers.layers().size());
  if (fp8_layers.layers().empty()) return;
  args.fp8_layers = fp8_layers.layers().data();
  args.fp8_layer_size = sizeof(hstu_fp8_layer_weights);
}

struct Operator {
  const char *name, *schema;
  void (*function)(StableIValue*, uint64_t, uint64_t);
};

#include "operators.inc"

}  // namespace

STABLE_TORCH_LIBRARY(hstujit, m) {
  for (const Operator& op : kOperators) m.def(op.schema);
}
STABLE_TORCH_LIBRARY_IMPL(hstujit, CPU, m) {
  for (const Operator& op : kOperators) m.impl(op.name, op.function);
}
STABLE_TORCH_LIBRARY_IMPL(hstujit, CUDA, m) {
  for (const Operator& op : kOperators) m.impl(op.name, op.function);
}

}  // namespace hstujit_torch
